import ArgumentParser
import LocationWire

/// `torpor status`.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Tell what receiver and board do, why, and until when.",
    discussion: """
      Who holds them awake is told of all clients to an administrator, and to others of their own \
      programs. Who may not use location is told neither the plan nor when the newest fix was made.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "One JSON object, as GetStatus of the socket has it.")
  var json = false

  func run() throws {
    let status = try socket.status()
    var output = Output()
    if json {
      try output.write(ReplyEncoder.object(of: .status(status)) + [UInt8(ascii: "\n")])
    } else {
      let lines = StatusText(status, style: .ofStandardOutput).lines
      try output.write(Array((lines.joined(separator: "\n") + "\n").utf8))
    }
    try output.finish()
  }
}
