import LocationPolicy
import LocationTypes

/// A notice to a client: the policy's ``Notice`` with its fixes included and its regions by name.
public enum WireNotice: Equatable, Sendable {
  /// `didUpdateLocations`, oldest first. A batch may be split into several consecutive notices.
  case fixes([StoredFix])
  /// `didUpdateLocations` with one fix that does not belong to the running updates.
  case report(StoredFix)
  /// `didFinishDeferredUpdatesWithError`; nil if a criterion was met.
  case finished(LocationErrorCode?)
  /// Fixes were lost to this client.
  case gap(Gap)
  /// `didVisit`, with the number for ``WireCall/acknowledgeEvents(_:)``; 0 if it needs no acknowledgement.
  case visit(Visit, number: UInt32 = 0)
  /// An event of a region or a monitor's condition; `number` as for a visit.
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
  /// Services in use that are shed because the battery is low; empty if all are restored.
  case degraded(ServiceLevelSet)
  /// Why the service session with this number does not grant its requirements (BKG-17).
  case session(Int, SessionDiagnostics)
  /// Another connection took over this client (AUT-2); always the last notice.
  case takenOver
}

/// An event of one region or condition.
public struct WireRegionEvent: Equatable, Sendable {
  /// Type of the event.
  @frozen public enum Change: Equatable, Sendable {
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

  /// Whether it is a region or a condition.
  public var kind: RegionKind
  /// The client's name for the region or condition.
  public var name: String
  /// Type and data of the event.
  public var change: Change

  /// Creates an event.
  public init(_ kind: RegionKind, name: String, _ change: Change) {
    self.kind = kind
    self.name = name
    self.change = change
  }

  /// Converts an event of the policy.
  ///
  /// - Parameters:
  ///   - name: The client's name for the region or condition.
  ///   - utc: Converts the boot clock to UTC; returns nil while UTC is unknown.
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
  /// Identifier of the region or condition.
  public var identifier: RegionIdentifier {
    switch self {
    case .entered(let id, _), .exited(let id, _), .determined(let id, _),
      .crossedSilently(let id, _), .failure(let id, _):
      id
    case .monitor(let id, _, _, _): id
    }
  }
}
