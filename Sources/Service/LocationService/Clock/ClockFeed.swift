import LinuxHAL
import LocationEngine
import LocationTypes
import LocationWire

/// The feed of the system clock: sends chronyd a sample for each fix that is one, and records what was sent.
///
/// # Problem
///
/// chronyd disciplines the clock and needs the receiver's time for that. The service must spend no energy on it: it
/// sends in the turn that has handled the epoch, has no timer and waits for no descriptor. Whether the feed works must
/// be visible, because a clock that is years off is found out late: the log has its beginning, and each change of the
/// reason why it fails; the status has the last sample.
///
/// # States
///
///     IDLE ──sample sent: logged──▶ FEEDING ──sample refused: logged──▶ FAILING ──sample sent: logged──▶ FEEDING
///     IDLE ──sample refused: logged──▶ FAILING ──another reason: logged──▶ FAILING
///
/// Owner: ``LocationServer``. Bounded: one socket; at most one line of the log for each change of state.
struct ClockFeed {
  /// What was last logged.
  private enum State: Equatable {
    case idle
    case feeding
    case failing(RefclockSocket.Failure)
  }

  /// The last sample that was sent.
  struct Last: Equatable {
    let sent: Instant
    /// UTC minus wall clock before chronyd has corrected it, ns.
    let offset_ns: Int64
    let isPulse: Bool
  }

  /// Number of samples that were sent; stops at the largest value.
  private(set) var samples: UInt32 = 0
  /// The last one; nil before the first.
  private(set) var last: Last?
  private var state = State.idle
  private let socket: RefclockSocket
  private var discipline = ClockDiscipline()
  /// Number of the last fix that was handled.
  private var handled: UInt64 = 0
  /// What the last fix was; nil before the first.
  private var outcome: ClockDiscipline.Outcome?
  private let wallTimeAtBoot_ns: @Sendable () -> Int64

  /// - Parameters:
  ///   - path: chronyd's socket.
  ///   - wallTimeAtBoot_ns: Reads the wall clock at zero of the boot clock.
  init(path: String, wallTimeAtBoot_ns: @escaping @Sendable () -> Int64) {
    socket = RefclockSocket(path: path)
    self.wallTimeAtBoot_ns = wallTimeAtBoot_ns
  }

  /// Path of chronyd's socket.
  var path: String { socket.path }

  /// Whether the last sample was sent.
  var isFeeding: Bool { state == .feeding }

  /// Handles the newest fix of the engine, once. Returns the line to log after a change; nil without one.
  mutating func handle(
    _ epoch: EpochTime?, at now: Instant
  ) -> (priority: SystemLog.Priority, text: String)? {
    guard let epoch, epoch.number != handled else { return nil }
    handled = epoch.number
    let outcome = discipline.handle(epoch, wallTimeAtBoot_ns: wallTimeAtBoot_ns())
    self.outcome = outcome
    guard case .sample(let measurement) = outcome else { return nil }
    do throws(RefclockSocket.Failure) {
      try socket.send(measurement.sample, at: now)
    } catch {
      let isNew = state != .failing(error)
      state = .failing(error)
      // Most boards have no chronyd.
      let priority = error == .missing ? SystemLog.Priority.notice : .warning
      return isNew ? (priority, "the system clock is not fed through '\(path)': \(error)") : nil
    }
    samples = samples == .max ? .max : samples + 1
    last = Last(
      sent: now, offset_ns: measurement.sample.offset_ns, isPulse: measurement.isPulse)
    defer { state = .feeding }
    guard state != .feeding else { return nil }
    return (
      .notice,
      "the system clock is fed through '\(path)', with \(measurement.isPulse ? "pulses" : "arrival times"); "
        + "UTC minus system clock: \(ClockFeed.text(offset_ns: measurement.sample.offset_ns))"
    )
  }

  /// Why no sample was sent for the newest fix, and what to do, in one line; nil if one was sent.
  var problem: String? {
    if case .failing(let failure) = state { return failure.description }
    return switch outcome {
    case nil: "no fix yet"
    case .uncertainDate: "the receiver's date is uncertain"
    case .tooFewFixes: "the time needs more fixes that agree"
    case .unknownArrival: last == nil ? "the arrival time of the fixes is unknown" : nil
    case .withoutPulse: "fixes arrive without a pulse per second: check the profile's pulse_line"
    case .sample, .tooSoon: nil
    }
  }

  /// Description for clients.
  ///
  /// - Parameter offset: Gives the UTC of the last sample, if known.
  func description(_ offset: UTCOffset) -> WireClock {
    var clock = WireClock(socket: path, isFeeding: isFeeding, samples: samples)
    clock.last = last.map { FixTime(acquired: $0.sent, utc: offset.utc($0.sent)) }
    clock.offset_us = last.map { $0.offset_ns / 1_000 }
    clock.isPulse = last?.isPulse
    clock.suggestion = problem
    return clock
  }

  /// An offset with its unit: seconds from 1 s on, else milliseconds.
  static func text(offset_ns: Int64) -> String {
    let sign = offset_ns < 0 ? "-" : "+"
    let magnitude = offset_ns.magnitude
    guard magnitude < 1_000_000_000 else {
      return "\(sign)\(magnitude / 1_000_000_000) s"
    }
    let thousandths = (magnitude / 1_000 % 1_000)
    let padding = String(repeating: "0", count: 3 - "\(thousandths)".utf8.count)
    return "\(sign)\(magnitude / 1_000_000).\(padding)\(thousandths) ms"
  }
}
