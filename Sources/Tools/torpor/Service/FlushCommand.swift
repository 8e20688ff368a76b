import ArgumentParser
import LinuxHAL
import LocationWire

/// `torpor flush`.
struct FlushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Have all that waits told now; for administrators.",
    discussion: """
      The receiver's own buffer is emptied, and every client is told the fixes that were deferred \
      for it. Deferrals do not end by it: they go on with the next fix. The fixes of a client that \
      is suspended, not connected or does not listen stay stored. Standard error names those for \
      which something can wait as far as the service tells, up to 8; the service's log has \
      those for which fixes wait, and how many.
      """)

  /// Clients that are named at the most, as in the service's log.
  static let namedLimit = 8

  @OptionGroup var socket: SocketOption

  @Flag(help: "One JSON object without members when it is done.")
  var json = false

  func run() throws {
    _ = try socket.ask(.flush)
    let uses = try socket.status().uses
    guard case .clients(let clients) = try socket.ask(.listClients) else {
      throw SocketOption.strange
    }
    for line in FlushCommand.remarks(clients, uses) { POSIX.tell("torpor: \(line)") }
    var output = Output()
    if json { try output.write(Array("{}\n".utf8)) }
    try output.finish()
  }

  /// One line for each client that a flush delivers nothing to and for which something can wait; above ``namedLimit``
  /// a last one with how many more there are.
  ///
  /// The service does not tell what waits for a client. Its updates end with its process; for one that is not
  /// connected, and has nothing that outlives a process, nobody is to be warned.
  ///
  /// - Parameters:
  ///   - clients: All clients that the service knows.
  ///   - uses: What the service does for them.
  static func remarks(_ clients: [WireClient], _ uses: [WireUse]) -> [String] {
    let lines = clients.compactMap { client in
      uses.first { $0.name == client.name }.flatMap { remark(client, $0) }
    }
    guard lines.count > namedLimit else { return lines }
    return lines.prefix(namedLimit) + ["and \(lines.count - namedLimit) more"]
  }

  /// The line of a client; nil where nothing can wait for it.
  private static func remark(_ client: WireClient, _ use: WireUse) -> String? {
    guard client.authorization.isGranted, !use.services.isEmpty else { return nil }
    let name = LogText.cleaned("\(ClientName.user(client.name.user))/\(client.name.name)")
    guard client.execution != nil else {
      return "\(name) is not connected: what waits for it stays stored until it connects"
    }
    // The service suspends a client that does not listen, whatever its program says.
    guard use.execution == .suspended, use.services.contains(.updates) else { return nil }
    let reason = client.execution == .suspended ? "is suspended" : "does not listen (Watch)"
    return "\(name) \(reason): its fixes stay stored until it "
      + (client.execution == .suspended ? "runs again" : "listens")
  }
}
