import LocationPolicy
import LocationTypes

/// What a client is told: the policy's ``Notice`` with its fixes in it and names for its regions.
public enum WireNotice: Equatable, Sendable {
  /// `didUpdateLocations`, oldest first. A batch may come in several of these, one after the other.
  case fixes([StoredFix])
  /// `didUpdateLocations` with one fix that is no part of the running updates.
  case report(StoredFix)
  /// `didFinishDeferredUpdatesWithError`; nil when a criterion was met.
  case finished(LocationErrorCode?)
  /// Fixes were lost to this client.
  case gap(Gap)
  /// `didVisit`; what ``WireCall/acknowledgeEvents(_:)`` names, 0 where nothing is to be acknowledged.
  case visit(Visit, number: UInt32 = 0)
  /// Of a region or a monitor's condition; `number` as with a visit.
  case region(WireRegionEvent, number: UInt32 = 0)
  /// An element of the live updates.
  case live(LiveElement)
  /// `didChangeAuthorization`.
  case authorization(Authorization, isReduced: Bool)
  /// `didPauseLocationUpdates`.
  case paused
  /// `didResumeLocationUpdates`.
  case resumed
  /// `didFailWithError`.
  case failure(LocationErrorCode)
  /// All that the client uses and does not get, for the battery is low; nothing when all is as it was.
  case degraded(PromiseSet)
  /// Why the service session of that number does not give what it asks for (BKG-17).
  case session(Int, SessionDiagnostics)
  /// Another connection speaks for this client now (AUT-2); the last that is told.
  case takenOver
}

/// What a client is told of one region or condition.
public struct WireRegionEvent: Equatable, Sendable {
  /// What is told.
  @frozen public enum What: Equatable, Sendable {
    /// `didEnterRegion`.
    case entered(at: FixTime)
    /// `didExitRegion`.
    case exited(at: FixTime)
    /// `didDetermineState`.
    case determined(RegionState)
    /// An event of a `CLMonitor`.
    case monitor(MonitorState, MonitorProblem?, at: FixTime)
    /// `monitoringDidFailFor`.
    case failed(LocationErrorCode)
  }

  /// Region or condition.
  public var kind: RegionKind
  /// The client's name for it.
  public var name: String
  /// What is told.
  public var what: What

  /// Creates an event.
  public init(_ kind: RegionKind, name: String, _ what: What) {
    self.kind = kind
    self.name = name
    self.what = what
  }

  /// The policy's event, under its client's name.
  ///
  /// - Parameter utc: the service's relation of boot clock and UTC, if it has one.
  public init(_ event: RegionEvent, name: String, utc: (Instant) -> UTCTime?) {
    func time(_ at: Instant) -> FixTime { FixTime(acquired: at, utc: utc(at)) }
    switch event {
    case .entered(let id, let at): self.init(id.kind, name: name, .entered(at: time(at)))
    case .exited(let id, let at): self.init(id.kind, name: name, .exited(at: time(at)))
    case .determined(let id, let state), .crossedSilently(let id, let state):
      self.init(id.kind, name: name, .determined(state))
    case .monitor(let id, let state, let problem, let at):
      self.init(id.kind, name: name, .monitor(state, problem, at: time(at)))
    case .failure(let id, let code): self.init(id.kind, name: name, .failed(code))
    }
  }
}

extension RegionEvent {
  /// Which region or condition it is about.
  public var identifier: RegionIdentifier {
    switch self {
    case .entered(let id, _), .exited(let id, _), .determined(let id, _),
      .crossedSilently(let id, _), .failure(let id, _):
      id
    case .monitor(let id, _, _, _): id
    }
  }
}
