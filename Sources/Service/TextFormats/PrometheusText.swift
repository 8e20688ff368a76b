import LocationTypes

/// Writes the text format 0.0.4 of Prometheus, as node_exporter's textfile collector reads it: without timestamps.
///
/// ```
/// # HELP torpor_wakes_total Wakes of the service.
/// # TYPE torpor_wakes_total counter
/// torpor_wakes_total{reason="alarm"} 12
/// ```
///
/// Values are scaled integers, so that no conversion changes a digit.
public struct PrometheusText: ~Copyable {
  /// Type of a metric.
  public enum Kind: String, Sendable {
    /// A sum that only grows, and begins at zero again after a restart.
    case counter
    /// A value that grows and falls.
    case gauge
  }

  private var text = TextBuffer()
  private var name: StaticString = ""

  /// Creates an empty text.
  public init() {}

  /// The text, UTF-8.
  public var string: String { text.string }

  /// Begins a metric; its samples follow.
  ///
  /// - Parameters:
  ///   - name: Name of all samples: `torpor_`, what is counted, its base unit, and `_total` for a counter.
  ///   - help: One sentence without backslashes and line breaks.
  public mutating func begin(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
    self.name = name
    text.add("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
  }

  /// Appends a sample of the metric that was begun last: `value` / 10^`scale`.
  public mutating func sample(
    _ value: Int64, scale: Int = 0, _ labels: [(name: StaticString, value: String)] = []
  ) {
    text.add(word: name)
    for (index, label) in labels.enumerated() {
      text.add(word: index == 0 ? "{" : ",")
      text.add(word: label.name)
      text.add(word: "=\"")
      addEscaped(label.value)
      text.add(word: "\"")
    }
    text.add(word: labels.isEmpty ? " " : "} ")
    text.add(trimmed: value, scale: scale)
    text.add(word: "\n")
  }

  private mutating func addEscaped(_ value: String) {
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): text.add(word: "\\\\")
      case UInt8(ascii: "\""): text.add(word: "\\\"")
      case UInt8(ascii: "\n"): text.add(word: "\\n")
      default: text.add(byte: byte)
      }
    }
  }
}
