import ArgumentParser

/// `torpor flush`.
struct FlushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush",
    abstract: "Have all that waits told now; for administrators.",
    discussion: """
      The receiver's own buffer is emptied, and every client is told the fixes that were deferred \
      for it. Deferrals do not end by it: they go on with the next fix.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "One JSON object without members when it is done.")
  var json = false

  func run() throws {
    _ = try socket.ask(.flush)
    var output = Output()
    if json { try output.write(Array("{}\n".utf8)) }
    try output.finish()
  }
}
