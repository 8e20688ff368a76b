/// The suspend modes that the kernel offers on this board.
struct SleepStates: Equatable {
  /// Word that is written to `/sys/power/state`.
  enum Word: String {
    /// Suspends as deeply as `/sys/power/mem_sleep` says: to RAM or to idle.
    case mem
    /// Suspend-to-idle: processes are frozen, and the processor idles.
    case freeze
  }

  static let state = "/sys/power/state"
  static let depth = "/sys/power/mem_sleep"
  static let count = "/sys/power/wakeup_count"

  /// Mode to use; nil if the kernel cannot suspend.
  var word: Word?
  /// Current meaning of `mem`, `deep` or `s2idle`; nil if the kernel does not report it.
  var depth: String?
  /// Whether the kernel has a wakeup count; without it a suspend would have a race (PWR-9).
  var countsWakeups: Bool

  /// Reads the modes from the kernel.
  init(_ files: KernelFiles) {
    let words = (files.read(SleepStates.state) ?? "").split(separator: " ")
    word = [Word.mem, .freeze].first { words.contains($0.rawValue[...]) }
    // "s2idle [deep]": brackets mark the selected one.
    let chosen = (files.read(SleepStates.depth) ?? "").split(separator: " ").first {
      $0.hasPrefix("[") && $0.hasSuffix("]")
    }
    depth = chosen.map { String($0.dropFirst().dropLast()) }
    countsWakeups = files.exists(SleepStates.count)
  }

  /// Text of the mode, as `mem (deep)`.
  var description: String {
    guard let word else { return "none" }
    guard word == .mem, let depth else { return word.rawValue }
    return "\(word.rawValue) (\(depth))"
  }
}
