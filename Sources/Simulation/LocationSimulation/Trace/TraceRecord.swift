import BoardHardware
import LocationPolicy
import LocationTypes
import SimulatedHAL

/// One thing that happened in a run, as the trace tells it (Docs/Reference/trace.md).
///
/// A pure value: how it is printed is the business of whoever prints it. Records come in the order in
/// which things happened.
public struct TraceRecord: Equatable, Sendable {
  /// When, since the start of the run.
  ///
  /// Of a ``Kind/fix(_:)`` it is when the position was true, which for a fix out of the receiver's
  /// own buffer lies before the records around it.
  public var at: Instant
  /// What happened.
  public var kind: Kind

  /// Creates a record.
  public init(at: Instant, _ kind: Kind) {
    self.at = at
    self.kind = kind
  }

  /// What can happen.
  public enum Kind: Equatable, Sendable {
    /// The receiver went into `state`, in which it takes `power_mw` milliwatts, until the next.
    case receiver(state: TraceReceiverState, power_mw: Double)
    /// The board went into `state`, in which it takes `power_mw` milliwatts, until the next.
    case board(state: BoardState, power_mw: Double)
    /// A fix went into the ring.
    case fix(TraceFix)
    /// The board woke.
    case wake(WakeReason)
    /// The battery's gauge said something new, percent.
    case battery(UInt8)
    /// The battery had nothing left: the run ends.
    case batteryEmpty
    /// A client was given `count` fixes, sequence `first` to `last`.
    case batch(client: Int, first: UInt64, last: UInt64, count: Int)
    /// A client acknowledged everything up to sequence `sequence`.
    case ack(client: Int, sequence: UInt64)
    /// A client's deferral ended; nil when a criterion was met (DEF-9).
    case finish(client: Int, code: LocationErrorCode?)
    /// A client lost `count` fixes that were true between `from` and `to` (RNG-4).
    case gap(client: Int, count: UInt64, from: UTCTime?, to: UTCTime?)
    /// A client was told something by a service.
    case told(client: Int, TraceNotice)
  }
}

/// What a service told a client.
public enum TraceNotice: Equatable, Sendable {
  /// A single fix, by its sequence: of significant change, live updates or a single request.
  case report(sequence: UInt64)
  /// A visit began at `place`; the moment, where it is known.
  case arrived(place: Coordinate, at: Instant?)
  /// That visit ended.
  case departed(place: Coordinate, at: Instant?)
  /// Updates paused by themselves.
  case paused
  /// And went on.
  case resumed
  /// A region was entered.
  case entered(region: UInt32)
  /// A region was left.
  case exited(region: UInt32)
  /// Live updates: whether the wearer stands.
  case stationary(Bool)
  /// Live updates: which flags hold now (LIV-7).
  case flags(LiveFlags)
  /// What the battery is too low for, of what the client uses, and its charge, percent; nothing when
  /// the client gets all again (PWR-10).
  case degraded(PromiseSet, charge: UInt8)
  /// An error.
  case failed(LocationErrorCode)

  /// What can be told, by the words that stand in a trace.
  public enum Kind: String, CaseIterable, Sendable {
    case report, arrived, departed, paused, resumed, entered, exited, stationary, flags, degraded
    case restored, failed
  }

  /// Which of them this is.
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
    case .degraded(let givenUp, _): givenUp.isEmpty ? .restored : .degraded
    case .failed: .failed
    }
  }

  /// The word that stands in a trace.
  public var word: String { kind.rawValue }
}

/// A fix as the trace tells it.
public struct TraceFix: Equatable, Sendable {
  /// Generation and sequence (RNG-2).
  public var name: FixName
  /// When the position was true, where that is known.
  public var utc: UTCTime?
  /// Where.
  public var coordinate: Coordinate
  /// Horizontal accuracy in millimetres (LOC-4), where it is known.
  public var horizontalAccuracy_mm: Int32?

  /// Creates the trace's view of `fix`, stored as `name`.
  public init(name: FixName, fix: Fix) {
    self.name = name
    utc = fix.utc
    coordinate = fix.coordinate
    horizontalAccuracy_mm = fix.horizontalAccuracy_mm
  }
}

/// What the receiver does, in the words of the trace.
public typealias TraceReceiverState = ReceiverPowerState
