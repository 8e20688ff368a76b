import GNSSProtocols
import LocationTypes

/// Output of satellites in view: whether the engine uses it, and whether the receiver sends it, as far as known.
///
/// Problem. Satellites in view are several hundred bytes for each report, so the driver switches them on only while they
/// are watched and the receiver tracks, and off again. This must delay neither a fix nor a goal, and a receiver without
/// such output must not be asked for it again and again.
///
/// ```
///            command written           acknowledged
///   off, on ─────────────────▶ unknown ────────────▶ on or off
///
///   any ── standby or power-off, rejected ──▶ off
///   on ─── receiver lost, or without our configuration ──▶ unknown
///   off ── satellites in view arrive although they are switched off ──▶ unknown
/// ```
///
/// Invariants. At most ``maximumFailures`` attempts fail until the engine requests it again or the receiver is put to
/// sleep. Ownership. Part of ``ReceiverLink``; only the methods write the properties.
struct SatelliteWatch: Sendable {
  /// Whether the receiver sends satellites in view.
  enum Output: Sendable {
    case off, unknown, on
  }

  /// Number of failed attempts after which the driver no longer tries.
  static let maximumFailures: UInt8 = 3
  /// Maximum number of transmissions in one attempt.
  static let maximumSends: UInt8 = 2

  /// Whether the engine uses satellites in view.
  private(set) var isWatched = false
  private(set) var output = Output.off
  private var failures: UInt8 = 0
  /// Time of the last acknowledgement, or of the last request.
  private var changedAt = Instant.boot

  /// Sets whether the engine uses satellites in view. `isRequested`: they are requested one by one.
  mutating func setWatched(_ isWatched: Bool, isRequested: Bool, at now: Instant) {
    self.isWatched = isWatched
    failures = 0
    guard isRequested, !isWatched, output == .on else { return }
    output = .off
    changedAt = now
  }

  /// Whether the receiver's output differs from what is requested of a receiver that tracks, or does not.
  func needsSwitch(isTracking: Bool) -> Bool {
    guard failures < SatelliteWatch.maximumFailures else { return false }
    switch output {
    case .off: return isWatched && isTracking
    case .unknown: return true
    case .on: return !(isWatched && isTracking)
    }
  }

  /// Whether satellites in view may arrive: they are on, or were until less than `span` ago.
  func mayArrive(at now: Instant, within span: Interval) -> Bool {
    output != .off || now - changedAt <= span
  }

  /// Whether they should be requested: they are watched, and the last request is older than `span`. Records the request.
  mutating func beginRequest(at now: Instant, after span: Interval) -> Bool {
    guard isWatched, output != .on || now - changedAt >= span else { return false }
    output = .on
    changedAt = now
    return true
  }

  /// Records that a command was written whose result is not known yet.
  mutating func beginSwitch() { output = .unknown }

  /// Records the acknowledgement of a command, or of a configuration that switches them off.
  mutating func finishSwitch(isOn: Bool, at now: Instant) {
    output = isOn ? .on : .off
    changedAt = now
    failures = 0
  }

  /// Records a command without an answer.
  mutating func fail() { failures += 1 }

  /// Records a rejection: the receiver does not have this output.
  mutating func reject() {
    output = .off
    failures = SatelliteWatch.maximumFailures
  }

  /// Records satellites in view. Returns true if they must be switched off.
  mutating func noteArrival(at now: Instant, within span: Interval) -> Bool {
    guard !isWatched, !mayArrive(at: now, within: span), failures < SatelliteWatch.maximumFailures
    else { return false }
    output = .unknown
    failures += 1
    return true
  }

  /// Records that the receiver may have lost its settings.
  mutating func invalidate() { if output == .on { output = .unknown } }

  /// Records that the receiver has lost its settings.
  mutating func reset() {
    output = .off
    failures = 0
  }
}

extension ReceiverSetup {
  /// How satellites in view are obtained. A u-blox receiver with sentences sends GSV in any case.
  var satelliteOutput: SatelliteOutput {
    family.isUBlox && output == .nmea ? .fixed : family.descriptor.satelliteOutput
  }

  /// Whether a command switches their output on and off.
  var switchesSatellites: Bool {
    switch satelliteOutput {
    case .switched: true
    case .fixed, .requested: false
    }
  }

  /// Number of fixes from one report of the satellites in view to the next: at least a second, and long enough that the
  /// reports use at most half of the line.
  public var satelliteRate: UInt8 {
    let interval = Interval.milliseconds(Int64(interval_ms))
    let span = max(
      .seconds(1), DriverTimeouts.transmissionTime(DriverTimeouts.satelliteBytes, at: lineSpeed) * 2
    )
    let rate = (span.microseconds + interval.microseconds - 1) / interval.microseconds
    let longest: UInt8 =
      switch satelliteOutput {
      case .switched(let longest): longest
      case .fixed, .requested: .max
      }
    return UInt8(min(max(rate, 1), Int64(longest)))
  }

  /// Time from one report to the next.
  public var satelliteInterval: Interval {
    .milliseconds(Int64(interval_ms) * Int64(satelliteRate))
  }
}
