import ArgumentParser
import LinuxHAL
import LocationWire

/// `torpor flush`.
struct FlushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Deliver all undelivered fixes now; for administrators.",
    discussion: """
      The service reads the receiver's buffer and delivers to each client the fixes that were \
      deferred for it. Deferrals do not end: they continue with the next fix. Fixes stay stored for \
      a client that is suspended, is not connected or has not called Watch. Standard error lists up \
      to 8 clients that may have stored fixes; the service's log lists the clients that have \
      stored fixes, and how many.
      """)

  /// Largest number of clients listed, as in the service's log.
  static let listedLimit = 8

  @OptionGroup var socket: SocketOption

  @Flag(help: "Print an empty JSON object when done.")
  var json = false

  func run() throws {
    let (uses, clients) = try socket.request { connection in
      try connection.call(.flush)
      return (try connection.getStatus().uses, try connection.listClients())
    }
    for line in FlushCommand.remarks(clients, uses) { POSIX.printError("torpor: \(line)") }
    if json { try Output.print("{}\n") }
  }

  /// One line for each client that may have undelivered fixes or events and to which a flush cannot deliver; above
  /// ``listedLimit``, a last line with the number of further clients.
  ///
  /// The service does not report what is undelivered for a client. Updates end with the client's process, so a client
  /// that is not connected is listed only if it has a service that outlives the process.
  ///
  /// - Parameters:
  ///   - clients: All clients known to the service.
  ///   - uses: Active services of each client.
  static func remarks(_ clients: [WireClient], _ uses: [WireUse]) -> [String] {
    let lines = clients.compactMap { client in
      uses.first { $0.name == client.name }.flatMap { remark(client, $0) }
    }
    guard lines.count > listedLimit else { return lines }
    return lines.prefix(listedLimit) + ["and \(lines.count - listedLimit) more"]
  }

  /// The line of a client; nil if nothing can be undelivered.
  private static func remark(_ client: WireClient, _ use: WireUse) -> String? {
    guard client.authorization.isGranted, !use.services.isEmpty else { return nil }
    let name = LogText.cleaned("\(ClientName.user(client.name.user))/\(client.name.name)")
    guard client.execution != nil else {
      return "\(name) is not connected: its fixes and events stay stored until it connects"
    }
    // The service treats a client that has not called Watch as suspended, whatever state the program reports.
    guard use.execution == .suspended, use.services.contains(.updates) else { return nil }
    let reason = client.execution == .suspended ? "is suspended" : "has not called Watch"
    return "\(name) \(reason): its fixes stay stored until it "
      + (client.execution == .suspended ? "runs again" : "calls Watch")
  }
}
