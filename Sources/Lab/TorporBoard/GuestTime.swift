import LinuxHAL

/// A clock for an emulated machine: the host's time without the time that a busy host withheld.
///
/// The clocks of a machine in QEMU follow the host's. On a busy host they advance while the machine's programs do
/// not run, so a limit in host time, or in the machine's own `CLOCK_BOOTTIME`, measures the host's load instead
/// of the machine. This clock stops while a thread of the given processes is
/// ready to run and waits for a processor, which the kernel counts for each thread
/// (`/proc/PID/task/TID/schedstat`, second field, nanoseconds; Linux, Documentation/scheduler/sched-stats.rst).
/// A machine that sleeps or waits for an event is not delayed, so a hang still reaches its limit.
///
/// Delays of several threads are added, because they usually occur in sequence: a byte passes through
/// QEMU's main loop, its processor's thread and this program. Where they overlap, the clock runs too slowly,
/// never too fast. On a kernel without these counts it equals the host's time.
public struct GuestTime {
  private struct Thread: Hashable {
    var process: Int32
    var thread: String
  }

  /// Maximum delay in seconds that is carried over. The kernel counts a delay when it ends, so the part that exceeds
  /// the time since the last reading is subtracted from the next readings; the limit keeps the clock from stopping
  /// after the load has ended.
  public static let maximumCarry = 2.0

  /// The processes that run the machine.
  public private(set) var processes: [Int32]
  private let folder: String
  private var delays: [Thread: UInt64] = [:]
  private var lastReading: Double
  private var elapsed = 0.0
  private var carried = 0.0

  /// Creates a clock at zero.
  ///
  /// - Parameters:
  ///   - processes: Processes whose delays count from now on.
  ///   - host: The host's time in seconds, as passed to ``now(at:)``.
  ///   - folder: The mount point of procfs.
  public init(of processes: [Int32], at host: Double, folder: String = "/proc") {
    self.processes = processes
    self.folder = folder
    lastReading = host
    _ = newDelay()
  }

  /// Replaces the processes; their earlier delays do not count.
  public mutating func replaceProcesses(_ processes: [Int32], at host: Double) {
    _ = now(at: host)
    self.processes = processes
    _ = newDelay()
  }

  /// Seconds since the start without withheld time; never decreases.
  public mutating func now(at host: Double) -> Double {
    let passed = max(host - lastReading, 0)
    lastReading = max(host, lastReading)
    carried += newDelay()
    elapsed += max(passed - carried, 0)
    carried = min(max(carried - passed, 0), GuestTime.maximumCarry)
    return elapsed
  }

  /// Seconds of delay of the threads since the last call. A new thread counts with its whole delay,
  /// an ended thread with none.
  private mutating func newDelay() -> Double {
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
