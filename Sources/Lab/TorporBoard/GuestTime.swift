import LinuxHAL

/// The time that an emulated machine had to run in: the host's time, less what a busy host withheld.
///
/// The clock of a machine in QEMU follows the host's. On a busy host it therefore passes without the
/// machine's programs running, and a limit in the host's time, or in the machine's own `CLOCK_BOOTTIME`,
/// measures the load and not the machine. This clock stands still while a thread of the given processes is
/// ready to run and waits for a processor, which the kernel counts for each thread
/// (`/proc/PID/task/TID/schedstat`, second field, nanoseconds; Linux, Documentation/scheduler/sched-stats.rst).
/// A machine that sleeps or waits for an event has nothing withheld, so a hang still reaches its limit.
///
/// Delays of several threads are added, because they mostly follow one another: a byte passes through
/// QEMU's main loop, its processor's thread and the harness. Where they overlap the clock runs too slowly,
/// never too fast. On a kernel without these counts it is the host's time.
public struct GuestTime {
  private struct Thread: Hashable {
    var process: Int32
    var thread: String
  }

  /// A delay is counted when it ends, so the part that is longer than the time since the last reading is
  /// taken from the readings after it; at most so many seconds of it, lest the clock stand still after the load.
  public static let longestDelay = 2.0

  /// The processes that run the machine.
  public private(set) var processes: [Int32]
  private let folder: String
  private var delays: [Thread: UInt64] = [:]
  private var read: Double
  private var elapsed = 0.0
  private var carried = 0.0

  /// Begins at zero.
  ///
  /// - Parameters:
  ///   - processes: Those whose delays count. Delays before this do not.
  ///   - host: The host's time in seconds, as given to ``now(at:)``.
  ///   - folder: Where the kernel tells of processes.
  public init(of processes: [Int32], at host: Double, folder: String = "/proc") {
    self.processes = processes
    self.folder = folder
    read = host
    _ = takeDelay()
  }

  /// Follows other processes from now on; their delays before this do not count.
  public mutating func follow(_ processes: [Int32], at host: Double) {
    _ = now(at: host)
    self.processes = processes
    _ = takeDelay()
  }

  /// Seconds since the beginning that were not withheld; never goes back.
  public mutating func now(at host: Double) -> Double {
    let passed = max(host - read, 0)
    read = max(host, read)
    carried += takeDelay()
    elapsed += max(passed - carried, 0)
    carried = min(max(carried - passed, 0), GuestTime.longestDelay)
    return elapsed
  }

  /// Seconds of delay that the threads had since the last call. A thread that is new brings all of its
  /// own; one that has ended, none.
  private mutating func takeDelay() -> Double {
    var current: [Thread: UInt64] = [:]
    var new: UInt64 = 0
    for process in processes {
      for name in SystemFiles.names(in: "\(folder)/\(process)/task") {
        let path = "\(folder)/\(process)/task/\(name)/schedstat"
        guard let delay = GuestTime.delay(path) else { continue }
        let thread = Thread(process: process, thread: name)
        let before = delays[thread] ?? 0
        new += delay >= before ? delay - before : delay
        current[thread] = delay
      }
    }
    delays = current
    return Double(new) / 1e9
  }

  private static func delay(_ path: String) -> UInt64? {
    let fields = SystemFiles.text(of: path)?.split(separator: " ") ?? []
    return fields.count > 1 ? UInt64(fields[1]) : nil
  }
}
