import ArgumentParser
import LocationClient

/// `torpor metrics`.
struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics",
    abstract: "Print energy, wakes, fixes and gaps in the text format of Prometheus.",
    discussion: """
      The same text that torpord --metrics writes to a file for node_exporter's textfile collector. \
      It has no positions.
      """)

  @OptionGroup var socket: SocketOption

  func run() throws { try Output.print(socket.request { try $0.getMetrics() }) }
}
