/// The suspend modes that the kernel offers on this board.
struct SleepStates: Equatable {
  /// Word that is written to `/sys/power/state`.
  enum Mode: String {
    /// Suspends as deeply as `/sys/power/mem_sleep` specifies: to RAM or to idle.
    case mem
    /// Suspend-to-idle: processes are frozen, and the processor idles.
    case freeze
  }

  static let statePath = "/sys/power/state"
  static let depthPath = "/sys/power/mem_sleep"
  static let wakeupCountPath = "/sys/power/wakeup_count"

  /// Mode to use; nil if the kernel cannot suspend.
  var mode: Mode?
  /// Current meaning of `mem`, `deep` or `s2idle`; nil if the kernel does not report it.
  var depth: String?
  /// Whether the kernel has a wakeup count; without it a suspend would have a race (PWR-9).
  var hasWakeupCount: Bool

  /// Reads the modes from the kernel.
  init(_ files: KernelFiles) {
    let words = (files.read(SleepStates.statePath) ?? "").split(separator: " ")
    mode = [Mode.mem, .freeze].first { words.contains($0.rawValue[...]) }
    // "s2idle [deep]": brackets mark the selected one.
    let chosen = (files.read(SleepStates.depthPath) ?? "").split(separator: " ").first {
      $0.hasPrefix("[") && $0.hasSuffix("]")
    }
    depth = chosen.map { String($0.dropFirst().dropLast()) }
    hasWakeupCount = files.exists(SleepStates.wakeupCountPath)
  }

  /// Text of the mode, as `mem (deep)`.
  var description: String {
    guard let mode else { return "none" }
    guard mode == .mem, let depth else { return mode.rawValue }
    return "\(mode.rawValue) (\(depth))"
  }
}
