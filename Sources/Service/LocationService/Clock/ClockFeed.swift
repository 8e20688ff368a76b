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
/// While chronyd starts, its socket exists before its group is set. A sample that is refused then is no failure, so
/// ``RefclockSocket/Failure/forbidden`` counts from the third refusal on.
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
  private var discipline: ClockDiscipline
  /// The last fix that was handled: its number, when, and what it was for the clock; nil before the first.
  private var newest: (number: UInt64, time: Instant, outcome: ClockDiscipline.Outcome)?
  /// Number of samples in a row that were refused for lack of permission; stops at ``toleratedRefusals``.
  private var refusals = 0
  private let wallTimeAtBoot_ns: @Sendable () -> Int64

  /// Time after a sample in which the clock counts as fed, and after a fix in which fixes count as arriving.
  static let validity = Interval.seconds(120)
  /// Number of refusals that a normal start of chronyd can cause.
  static let toleratedRefusals = 2

  /// - Parameters:
  ///   - path: chronyd's socket.
  ///   - usesPulse: Whether the profile has a line for the receiver's pulse per second.
  ///   - wallTimeAtBoot_ns: Reads the wall clock at zero of the boot clock.
  init(path: String, usesPulse: Bool, wallTimeAtBoot_ns: @escaping @Sendable () -> Int64) {
    socket = RefclockSocket(path: path)
    discipline = ClockDiscipline(usesPulse: usesPulse)
    self.wallTimeAtBoot_ns = wallTimeAtBoot_ns
  }

  /// Path of chronyd's socket.
  var path: String { socket.path }

  /// Whether the last sample was sent within ``validity``, and the date has not become uncertain since.
  private func isFeeding(at now: Instant) -> Bool {
    guard state == .feeding, let last else { return false }
    return now - last.sent <= ClockFeed.validity && newest?.outcome != .uncertainDate
  }

  /// Whether chronyd's socket exists but refuses samples.
  private var isRefused: Bool {
    switch state {
    case .idle, .feeding, .failing(.missing), .failing(.abandoned): false
    case .failing(.forbidden), .failing(.full), .failing(.invalidPath), .failing(.other): true
    }
  }

  /// Handles the newest fix of the engine, once. Returns the line to log after a change; nil without one.
  mutating func handle(
    _ epoch: EpochTime?, at now: Instant
  ) -> (priority: SystemLog.Priority, text: String)? {
    guard let epoch, epoch.number != newest?.number else { return nil }
    let outcome = discipline.handle(epoch, wallTimeAtBoot_ns: wallTimeAtBoot_ns())
    newest = (epoch.number, now, outcome)
    guard case .sample(let measurement) = outcome else { return nil }
    do throws(RefclockSocket.Failure) {
      try socket.send(measurement.sample, at: now)
    } catch {
      return recordFailure(error)
    }
    refusals = 0
    samples = samples == .max ? .max : samples + 1
    last = Last(
      sent: now, offset_ns: measurement.sample.offset_ns, isPulse: measurement.isPulse)
    defer { state = .feeding }
    guard state != .feeding else { return nil }
    return (
      .notice,
      "the system clock is fed through '\(path)', with \(measurement.isPulse ? "pulses" : "arrival times"); "
        + "UTC minus system clock: \(WireClock.text(offset_us: measurement.sample.offset_ns / 1_000))"
    )
  }

  /// Records that a sample could not be sent. Returns the line to log after a change; nil without one.
  mutating func recordFailure(
    _ failure: RefclockSocket.Failure
  ) -> (priority: SystemLog.Priority, text: String)? {
    if failure == .forbidden && refusals < ClockFeed.toleratedRefusals {
      refusals += 1
      return nil
    }
    let isNew = state != .failing(failure)
    state = .failing(failure)
    // Most boards have no chronyd.
    let priority = failure == .missing ? SystemLog.Priority.notice : .warning
    return isNew ? (priority, "the system clock is not fed through '\(path)': \(failure)") : nil
  }

  /// Why the clock is not fed, and what to do, in one line; nil if it is fed.
  private func problem(at now: Instant) -> String? {
    if isFeeding(at: now) { return nil }
    if case .failing(let failure) = state { return failure.description }
    guard let newest else { return "no fix yet: no client needs one, or the receiver has none" }
    guard now - newest.time <= ClockFeed.validity else {
      return "no fixes arrive: no client needs them, or the receiver has none"
    }
    return switch newest.outcome {
    case .uncertainDate: "the receiver's date is uncertain"
    case .unknownArrival: "the arrival time of the fixes is unknown"
    case .withoutPulse: "fixes arrive without a pulse per second: check the profile's pulse_line"
    case .sample, .tooFewFixes, .tooSoon, .leapSecond: "the time needs more fixes that agree"
    }
  }

  /// Description for clients.
  ///
  /// - Parameter offset: Gives the UTC of the last sample, if known.
  func description(at now: Instant, _ offset: UTCOffset) -> WireClock {
    var clock = WireClock(socket: path, isFeeding: isFeeding(at: now), samples: samples)
    clock.isRefused = isRefused
    clock.last = last.map { FixTime(acquired: $0.sent, utc: offset.utc($0.sent)) }
    clock.offset_us = last.map { $0.offset_ns / 1_000 }
    clock.isPulse = last?.isPulse
    clock.suggestion = problem(at: now)
    return clock
  }
}
