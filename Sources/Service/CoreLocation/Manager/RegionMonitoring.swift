import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

// Regions of the location managers, which share them (REG-1).

extension WireRegion {
  /// Converts a circle; nil if its identifier or centre is not valid.
  init?(_ region: CLCircularRegion) {
    guard NameValidation.isValidRegion(region.identifier), let center = Coordinate(region.center)
    else { return nil }
    self.init(.region, name: region.identifier, center: center, radius: region.radius)
    notifyOnEntry = region.notifyOnEntry
    notifyOnExit = region.notifyOnExit
  }
}

extension CLCircularRegion {
  /// Converts from the socket's value.
  convenience init(_ region: WireRegion) {
    self.init(
      center: CLLocationCoordinate2D(region.center), radius: region.radius, identifier: region.name)
    notifyOnEntry = region.notifyOnEntry
    notifyOnExit = region.notifyOnExit
  }
}

extension LocationSession {
  /// The authorization of the process; not determined while there is no service.
  var authorizationStatus: CLAuthorizationStatus {
    CLAuthorizationStatus(read { $0.demand.authorization })
  }

  /// Monitors a region; the manager's delegate receives that monitoring started, or why not.
  func startMonitoring(_ region: WireRegion, for manager: MergedDemand.ManagerID) {
    guard change({ $0.beginMonitoring(region, for: manager) }) else { return }
    send(.addRegion(region)) { [weak self] result in
      self?.change { $0.finishStart(of: region, result, for: manager) }
    }
  }

  /// Ends the monitoring of a region.
  func stopMonitoring(_ name: String) {
    guard NameValidation.isValidRegion(name) else { return }
    change { $0.regions[name] = nil }
    send(.removeRegion(.region, name: name))
  }

  /// Requests the state of a region, which the delegate gets exactly once (REG-7).
  func requestState(_ name: String, for manager: MergedDemand.ManagerID) {
    let request = StateRequest(name: name, manager: manager)
    guard NameValidation.isValidRegion(name) else { return change { $0.answerUnknown(request) } }
    change { $0.outbox.append(self.stateCall(request)) }
  }

  /// The call of a request. It is made again if the connection is lost before the answer.
  func stateCall(_ request: StateRequest) -> OutgoingCall {
    OutgoingCall(call: .requestRegionState(.region, name: request.name), isKept: true) {
      [weak self] result in
      self?.change { state in
        switch result {
        case .success: state.stateRequests.append(request)
        case .failure: state.answerUnknown(request)
        }
      }
    }
  }
}

/// A request of a region's state (REG-7).
struct StateRequest: Sendable, Equatable {
  let name: String
  let manager: MergedDemand.ManagerID
}

extension SessionState {
  /// Notes a region that is to be monitored; false if it is refused, which the manager's delegate receives.
  ///
  /// The service refuses the same regions, but only after its reply, so that the delegate would get `didStart` first.
  mutating func beginMonitoring(
    _ region: WireRegion, for manager: MergedDemand.ManagerID
  ) -> Bool {
    let isBelowLimit =
      regions[region.name] != nil || regions.count + conditions.count < RegionMonitor.capacity
    let isValid = region.radius > 0 && region.radius <= RegionLimits.standard.maximumRadius
    guard isBelowLimit && isValid else {
      reportFailure(of: region, to: manager)
      return false
    }
    regions[region.name] = region
    return true
  }

  /// Takes the service's reply to the start of a region.
  mutating func finishStart(
    of region: WireRegion, _ result: Result<WireReply, ClientError>,
    for manager: MergedDemand.ManagerID
  ) {
    switch result {
    // `notAvailable`: monitored until the service ends, because its disk has failed (REG-14).
    case .success, .failure(.refused(.notAvailable)):
      // The service reports the failure itself.
      guard !demand.authorization.isRefused else { return }
      if regions[region.name] == nil, !removes(region) { regions[region.name] = region }
      mailboxes[manager]?.post(
        .action { manager in
          manager.delegate?.locationManager(
            manager, didStartMonitoringFor: CLCircularRegion(region))
        })
    case .failure:
      regions[region.name] = nil
      reportFailure(of: region, to: manager)
    }
  }

  private func reportFailure(of region: WireRegion, to manager: MergedDemand.ManagerID) {
    let event = WireRegionEvent(.region, name: region.name, .failed(.regionMonitoringFailure))
    mailboxes[manager]?.post(.region(event, region, number: 0))
  }

  /// Answers a request that the service does not answer.
  func answerUnknown(_ request: StateRequest) {
    let event = WireRegionEvent(.region, name: request.name, .determined(.unknown))
    mailboxes[request.manager]?.post(.region(event, regions[request.name], number: 0))
  }
}
