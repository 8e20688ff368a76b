import Glibc

// A run that traps cannot report: a handler names the seeds that were running.

/// The seed of each lane.
private nonisolated(unsafe) var running: (UInt64, UInt64) = (0, 0)

extension TorporSoak {
  /// Notes what a lane runs.
  static func note(_ seed: UInt64, lane: Int) {
    unsafe lane == 0 ? (running.0 = seed) : (running.1 = seed)
  }

  /// Ends the program.
  static func stop(_ code: Int32) { exit(code) }

  /// Says on a trap which seeds were running; one of the two shows it again.
  static func watchForTraps() {
    for signal in [SIGILL, SIGTRAP, SIGSEGV] {
      _ = Glibc.signal(signal) { _ in
        // Printing is not safe in a handler, but the program is lost anyway.
        let text = unsafe "TorporSoak trapped; seeds: \(running.0) \(running.1)\n"
        _ = unsafe text.withCString { unsafe write(2, $0, strlen($0)) }
        _exit(1)
      }
    }
  }
}
