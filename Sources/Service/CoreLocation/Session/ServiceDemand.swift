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

/// The connection of ``MergedDemand``.
struct ServiceLink: Sendable {
  /// What it was asked for; nil without a connection.
  var demand: ServiceDemand?
  /// Whether the last attempt to connect failed.
  var isAbsent = false
  /// Whether no further attempt will be made (AUT-2).
  var isClosed = false
  /// Whether updates can be deferred (DEF-7).
  var isDeferralAvailable = false
  /// Whether the service started this process, which is in the background from then on (BKG-19).
  var isLaunched = false
  /// Whether the service refused updates in the background (BKG-18).
  var isBackgroundRefused = false
}

/// The newest fixes of a process.
struct LatestFixes: Sendable {
  /// Name of the newest fix of the stream, for duplicates after a reconnection (RNG-3).
  var name: FixName?
  /// The newest fix of the stream; nil after a loss of rights.
  var fix: StoredFix?
  /// The newest fix of significant change, while a manager monitors it.
  var report: StoredFix?
}
