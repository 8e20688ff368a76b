import LocationPolicy
import LocationTypes
import LocationWire

/// The settings and services that a connection has been asked for.
struct ServiceDemand: Equatable, Sendable {
  var isUpdating = false
  var settings = ClientSettings()
  var activity = ActivityType.other
  var pausesAutomatically = true
  var allowsBackground = false
  var execution = ExecutionState.foreground

  /// The settings that differ from `earlier`, without `allowsBackground`; nil if there are none.
  func changedSettings(from earlier: ServiceDemand) -> WireSettings? {
    var changed = WireSettings()
    if settings.desiredAccuracy != earlier.settings.desiredAccuracy {
      changed.desiredAccuracy = settings.desiredAccuracy
    }
    if settings.distanceFilter != earlier.settings.distanceFilter {
      changed.distanceFilter = settings.distanceFilter
    }
    if activity != earlier.activity { changed.activity = activity }
    if pausesAutomatically != earlier.pausesAutomatically {
      changed.pausesAutomatically = pausesAutomatically
    }
    return changed == WireSettings() ? nil : changed
  }

  /// Takes the strictest settings of `managers`; keeps the present ones if there are none.
  mutating func merge<Managers: Collection<ManagerDemand>>(_ managers: Managers) {
    guard let first = managers.first else { return }
    settings.desiredAccuracy = managers.map(\.settings.desiredAccuracy).min() ?? 0
    let filters = managers.map(\.settings.distanceFilter)
    settings.distanceFilter =
      managers.contains { !$0.settings.hasDistanceFilter }
      ? LocationLimits.distanceFilterNone : filters.min() ?? LocationLimits.distanceFilterNone
    activity = managers.allSatisfy { $0.activity == first.activity } ? first.activity : .other
    pausesAutomatically = managers.allSatisfy(\.pausesAutomatically)
    allowsBackground = managers.contains { $0.allowsBackground }
  }
}

/// The newest fixes of a process.
struct LatestFixes: Sendable {
  /// Name of the newest fix of the stream, for duplicates after a reconnection (RNG-3).
  var name: FixName?
  /// The newest fix of the stream; nil after a loss of rights.
  var fix: StoredFix?
}
