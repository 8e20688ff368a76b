import Glibc

// A run that traps cannot report: a handler names the seed that was running on that thread.

/// What a lane runs, and on which thread.
private struct Running {
  var thread = pthread_t()
  var seed: UInt64 = 0
}

private nonisolated(unsafe) var running: (Running, Running) = (Running(), Running())

extension TorporSoak {
  /// Notes what a lane runs on this thread.
  static func note(_ seed: UInt64, lane: Int) {
    let now = Running(thread: pthread_self(), seed: seed)
    unsafe lane == 0 ? (running.0 = now) : (running.1 = now)
  }

  /// Ends the program.
  static func stop(_ code: Int32) { exit(code) }

  /// Says on a trap which seed was running: one that traps does it on its own thread.
  static func watchForTraps() {
    for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS] {
      _ = Glibc.signal(signal) { _ in
        // Printing is not safe in a handler, but the program is lost anyway.
        let isFirst = unsafe pthread_equal(running.0.thread, pthread_self()) != 0
        let seed = unsafe isFirst ? running.0.seed : running.1.seed
        let text = "FAILED: a trap, above.\nAgain with: TorporSoak --seed \(seed)\n"
        _ = unsafe text.withCString { unsafe write(2, $0, strlen($0)) }
        _exit(1)
      }
    }
  }
}
