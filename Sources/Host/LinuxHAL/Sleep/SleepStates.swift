/// How the kernel can suspend this board: read from it, and never told by the board's name.
struct SleepStates: Equatable {
  /// Which word suspends.
  enum Word: String {
    /// Suspends as deeply as `/sys/power/mem_sleep` has it: to memory, or to idle.
    case mem
    /// Suspends to idle: everything is frozen, and the processor idles.
    case freeze
  }

  static let state = "/sys/power/state"
  static let depth = "/sys/power/mem_sleep"
  static let count = "/sys/power/wakeup_count"

  /// What is written to suspend; nil where the kernel cannot.
  var word: Word?
  /// What `mem` means now, `deep` or `s2idle`; nil where that is not told.
  var depth: String?
  /// The kernel tells of what came meanwhile; without that no suspend is free of races (PWR-9).
  var countsWakeups: Bool

  /// Asks the kernel.
  init(_ files: KernelFiles) {
    let words = (files.read(SleepStates.state) ?? "").split(separator: " ")
    word = [Word.mem, .freeze].first { words.contains($0.rawValue[...]) }
    // "s2idle [deep]": the one in brackets is chosen.
    let chosen = (files.read(SleepStates.depth) ?? "").split(separator: " ").first {
      $0.hasPrefix("[") && $0.hasSuffix("]")
    }
    depth = chosen.map { String($0.dropFirst().dropLast()) }
    countsWakeups = files.exists(SleepStates.count)
  }

  /// In words: `mem (deep)`.
  var description: String {
    guard let word else { return "none" }
    guard word == .mem, let depth else { return word.rawValue }
    return "\(word.rawValue) (\(depth))"
  }
}
