import Foundation
import LocationClient
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
    change { $0.regions[region.name] = region }
    send(.addRegion(region)) { [weak self] result in
      self?.change { state in
        switch result {
        case .success:
          state.mailboxes[manager]?.post(
            .action { manager in
              manager.delegate?.locationManager(
                manager, didStartMonitoringFor: CLCircularRegion(region))
            })
        case .failure(.refused(.notAvailable)):
          // Monitored until the service ends, because its disk has failed (REG-14).
          break
        case .failure:
          state.regions[region.name] = nil
          state.mailboxes[manager]?.post(
            .region(
              WireRegionEvent(.region, name: region.name, .failed(.regionMonitoringFailure)),
              region,
              number: 0))
        }
      }
    }
  }

  /// Ends the monitoring of a region.
  func stopMonitoring(_ name: String) {
    guard NameValidation.isValidRegion(name) else { return }
    change { $0.regions[name] = nil }
    send(.removeRegion(.region, name: name))
  }
}
