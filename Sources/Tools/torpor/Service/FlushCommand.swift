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
      is suspended, not connected or does not listen stay stored: standard error names it.
      """)

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

  /// One line for each client that a flush delivers nothing to.
  ///
  /// - Parameters:
  ///   - clients: All clients that the service knows.
  ///   - uses: What the service does for them.
  static func remarks(_ clients: [WireClient], _ uses: [WireUse]) -> [String] {
    clients.compactMap { client in
      guard client.authorization.isGranted else { return nil }
      let name = LogText.cleaned("\(ClientName.user(client.name.user))/\(client.name.name)")
      guard client.execution != nil else {
        return "\(name) is not connected: fixes that wait for it stay stored until it connects"
      }
      // The service suspends a client that does not listen, whatever its program says.
      guard let use = uses.first(where: { $0.name == client.name }), use.execution == .suspended,
        use.services.contains(.updates)
      else { return nil }
      let reason = client.execution == .suspended ? "is suspended" : "does not listen (Watch)"
      return "\(name) \(reason): its fixes stay stored until it "
        + (client.execution == .suspended ? "runs again" : "listens")
    }
  }
}
