import Glibc

/// Tells on a terminal how far a long piece of work is; says nothing when it takes under a second.
struct Progress {
  private let isShown: Bool
  private let started: Double
  private var next: Double
  private var wasShown = false

  /// Starts the clock.
  init(quiet: Bool = false) {
    // On the same terminal the records would be torn to pieces by it.
    isShown =
      !quiet && System.isTerminal(STDERR_FILENO) && !System.isTerminal(STDOUT_FILENO)
    started = System.uptime
    next = started + 1
  }

  /// Whether it is time to call ``show(_:)``.
  var isDue: Bool { isShown && System.uptime >= next }

  /// Replaces the line by `text`.
  mutating func show(_ text: String) {
    next = System.uptime + 0.2
    wasShown = true
    _ = System.write(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
  }

  /// Clears the line.
  mutating func clear() {
    guard wasShown else { return }
    wasShown = false
    _ = System.write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }

  /// How far `done` of `total` is, in words.
  static func share(_ done: Int, of total: Int?) -> String {
    guard let total, total > 0 else { return "\(done / 1_000) kB read" }
    return "\(min(done * 100 / total, 100)) % of \(total / 1_000) kB"
  }
}
