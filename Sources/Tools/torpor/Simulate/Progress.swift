import Glibc
import TextFormats

/// Progress line on the terminal's standard error for work that takes more than a second.
struct Progress {
  /// Whether progress is shown at all.
  let isShown: Bool
  private let started: Double
  private var next: Double
  private var wasShown = false

  /// Starts the clock.
  ///
  /// - Parameters:
  ///   - recordsOnTerminal: Whether records are printed to the terminal, where the progress line would interrupt them.
  ///   - errorsOnTerminal: Whether standard error is a terminal.
  init(
    recordsOnTerminal: Bool, errorsOnTerminal: Bool = POSIX.isTerminal(STDERR_FILENO)
  ) {
    isShown = errorsOnTerminal && !recordsOnTerminal
    started = POSIX.uptime
    next = started + 1
  }

  /// Whether it is time to call ``show(_:)``.
  var isDue: Bool { isShown && POSIX.uptime >= next }

  /// Replaces the line by `text`.
  mutating func show(_ text: String) {
    next = POSIX.uptime + 0.2
    wasShown = true
    _ = TextFile.write(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
  }

  /// Clears the line.
  mutating func clear() {
    guard wasShown else { return }
    wasShown = false
    _ = TextFile.write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }

  /// Text for `done` of `total` bytes.
  static func text(_ done: Int, of total: Int?) -> String {
    guard let total, total > 0 else { return "\(done / 1_000) kB read" }
    return "\(min(done * 100 / total, 100)) % of \(total / 1_000) kB"
  }
}
