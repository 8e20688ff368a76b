import Glibc

// A run that traps cannot report a failure: a signal handler prints the seed that was running on that thread.

/// The thread of a lane and its current seed.
private struct LaneState {
  var thread = pthread_t()
  var seed: UInt64 = 0
}

private nonisolated(unsafe) var laneStates: (LaneState, LaneState) = (LaneState(), LaneState())

extension TorporSoak {
  /// Records the seed that a lane runs on this thread.
  static func recordSeed(_ seed: UInt64, lane: Int) {
    let now = LaneState(thread: pthread_self(), seed: seed)
    unsafe lane == 0 ? (laneStates.0 = now) : (laneStates.1 = now)
  }

  /// Installs handlers that print the running seed on a trap; a trap signal is handled on the thread that caused it.
  static func installTrapHandlers() {
    for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS] {
      _ = Glibc.signal(signal) { _ in
        // Formatting a string is not async-signal-safe, but the program ends anyway.
        let isFirst = unsafe pthread_equal(laneStates.0.thread, pthread_self()) != 0
        let seed = unsafe isFirst ? laneStates.0.seed : laneStates.1.seed
        let text = "FAILED: trapped, see above.\nRepeat with: TorporSoak --seed \(seed)\n"
        _ = unsafe text.withCString { unsafe write(2, $0, strlen($0)) }
        _exit(1)
      }
    }
  }
}
