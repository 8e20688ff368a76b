import BoardHardware
import LocationPolicy
import LocationTypes
import SimulatedHAL

/// One event of a run, as in the trace (Docs/Reference/trace.md).
///
/// Made by ``SimulationRun``, formatted by `torpor`. Records are in ascending order of time.
public struct TraceRecord: Equatable, Sendable {
  /// Time since the start of the run.
  ///
  /// For ``Kind/fix(_:)`` it is the fix time. A fix from the receiver's batch buffer is stored in the ring later than
  /// that.
  public var at: Instant
  /// The event.
  public var kind: Kind

  /// Creates a record.
  public init(at: Instant, _ kind: Kind) {
    self.at = at
    self.kind = kind
  }

  /// The kinds of events.
  public enum Kind: Equatable, Sendable {
    /// The receiver entered `state`, in which it draws `power_mw` milliwatts.
    case receiver(state: TraceReceiverState, power_mw: Double)
    /// The board entered `state`, in which it draws `power_mw` milliwatts.
    case board(state: BoardState, power_mw: Double)
    /// A fix was stored in the ring.
    case fix(TraceFix)
    /// The board woke.
    case wake(WakeReason)
    /// The battery gauge reported a new charge, percent.
    case battery(UInt8)
    /// The battery became empty; the run ends.
    case batteryEmpty
    /// `count` fixes were delivered to a client, with sequence numbers `first` to `last`.
    case batch(client: Int, first: UInt64, last: UInt64, count: Int)
    /// A client acknowledged all fixes up to `sequence`.
    case ack(client: Int, sequence: UInt64)
    /// A client's deferral ended; `code` is nil if a criterion was met (DEF-9).
    case finish(client: Int, code: LocationErrorCode?)
    /// A client lost `count` fixes with fix times between `from` and `to` (RNG-4).
    case gap(client: Int, count: UInt64, from: UTCTime?, to: UTCTime?)
    /// A service sent a notice to a client.
    case notice(client: Int, TraceNotice)
  }
}

/// Notice that a service sent to a client.
public enum TraceNotice: Equatable, Sendable {
  /// A single fix, by its sequence number: from significant change, live updates or a single request.
  case report(sequence: UInt64)
  /// A visit started at `place`; `at` is its start, nil if unknown.
  case arrived(coordinate: Coordinate, at: Instant?)
  /// The visit ended.
  case departed(coordinate: Coordinate, at: Instant?)
  /// Updates were paused automatically.
  case paused
  /// Updates resumed.
  case resumed
  /// The client's device entered a region.
  case entered(region: UInt32)
  /// The client's device left a region.
  case exited(region: UInt32)
  /// Live updates: whether the device is stationary.
  case stationary(Bool)
  /// Live updates: the present flags (LIV-7).
  case flags(LiveFlags)
  /// Service levels used by the client that are shed because of a low battery, and the charge in percent; the empty
  /// set if all are granted again (PWR-10).
  case degraded(ServiceLevelSet, charge: UInt8)
  /// An error.
  case failed(LocationErrorCode)

  /// The kinds of notices, with their names in a trace.
  public enum Kind: String, CaseIterable, Sendable {
    case report, arrived, departed, paused, resumed, entered, exited, stationary, flags, degraded
    case restored, failed
  }

  /// Kind of this notice.
  public var kind: Kind {
    switch self {
    case .report: .report
    case .arrived: .arrived
    case .departed: .departed
    case .paused: .paused
    case .resumed: .resumed
    case .entered: .entered
    case .exited: .exited
    case .stationary: .stationary
    case .flags: .flags
    case .degraded(let shed, _): shed.isEmpty ? .restored : .degraded
    case .failed: .failed
    }
  }

  /// Name of the kind in a trace.
  public var name: String { kind.rawValue }
}

/// A fix in the trace.
public struct TraceFix: Equatable, Sendable {
  /// Generation and sequence number (RNG-2).
  public var name: FixName
  /// Fix time in UTC; nil if unknown.
  public var utc: UTCTime?
  /// Position.
  public var coordinate: Coordinate
  /// Horizontal accuracy in millimetres (LOC-4); nil if unknown.
  public var horizontalAccuracy_mm: Int32?

  /// Creates the trace entry of `fix`, stored as `name`.
  public init(name: FixName, fix: Fix) {
    self.name = name
    utc = fix.utc
    coordinate = fix.coordinate
    horizontalAccuracy_mm = fix.horizontalAccuracy_mm
  }
}

/// Receiver state in a trace.
public typealias TraceReceiverState = ReceiverPowerState
