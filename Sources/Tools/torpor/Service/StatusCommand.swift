import ArgumentParser
import LocationWire

/// `torpor status`.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of receiver and board, the reason, and the next change.",
    discussion: """
      An administrator sees all clients that keep receiver or board awake; other users see their own \
      programs. A user without permission to use location sees neither the plan nor the time of the \
      newest fix.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "Print one JSON object, the reply of the socket's GetStatus.")
  var json = false

  func run() throws {
    let status = try socket.request { try $0.getStatus() }
    if json { return try Output.print(reply: .status(status)) }
    let lines = StatusText(status, style: .ofStandardOutput).lines
    try Output.print(lines.joined(separator: "\n") + "\n")
  }
}
