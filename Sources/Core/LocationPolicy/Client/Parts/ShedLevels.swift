import LocationTypes

/// The service levels that a client does not get: because of the battery's charge (PWR-10), or because the client is
/// not in use (BKG-13). A part of ``ClientServices``.
///
/// # Problem
///
/// Requests remain while a level is shed: the client gets the service again without another request. Only levels that
/// the battery sheds are reported, and only those that the client uses. Fixes acquired while updates are shed are not
/// for the client, however late the receiver delivers them.
///
/// # States of one level
///
///     granted, not reported ──→ shed, not reported ──→ shed, reported
///          ↑  ↑                      │                     │
///          │  └── restored ──────────┘                     │ restored
///          │                                               ↓
///          └───── reported, or not in use ──────── granted, reported as shed
///
/// "Shed" means by the battery: a level that is granted here may be withheld because the client is not in use. Not drawn:
/// `detach` makes every level not reported.
///
/// # Invariants
///
/// - ``current`` contains ``battery``.
/// - At most one period without updates is stored, the latest.
///
/// Only the functions of this file write the properties. All are O(1).
struct ShedLevels: Sendable {
  /// Levels that are shed now.
  private(set) var current = ServiceLevelSet.none
  /// Levels that the battery's charge sheds, as last applied.
  private(set) var battery = ServiceLevelSet.none
  /// Shed levels that were last reported to the client.
  private(set) var reported = ServiceLevelSet.none
  /// When updates were last shed: fixes acquired then are not for the client.
  private var updatesPeriod = (from: Instant.boot, through: Instant.boot)

  /// Whether a level is not shed.
  @inline(__always) func isGranted(_ level: ServiceLevel) -> Bool { !current.contains(level) }

  /// Whether the fix was acquired while updates were shed.
  func isFromPeriodWithoutUpdates(_ fix: Fix) -> Bool {
    fix.acquired > updatesPeriod.from && fix.acquired <= updatesPeriod.through
  }

  /// Sets the shed levels.
  ///
  /// - Parameters:
  ///   - battery: Levels that the battery's charge sheds.
  ///   - withheld: Levels that the client does not get because it is not in use.
  mutating func set(battery: ServiceLevelSet, withheld: ServiceLevelSet, at now: Instant) {
    let hadUpdates = isGranted(.updates)
    self.battery = battery
    current = battery.union(withheld)
    if hadUpdates && !isGranted(.updates) {
      updatesPeriod = (from: now, through: .distantFuture)
    } else if !hadUpdates && isGranted(.updates) {
      updatesPeriod.through = now
    }
  }

  /// Keeps reported levels only if they are shed or used: a level that was restored while the client did not use it is
  /// reported when it is shed again.
  mutating func dropReported(notUsedIn used: ServiceLevelSet) {
    reported = reported.intersection(current.union(used))
  }

  /// Whether a level that the client uses was shed or restored and that is unreported.
  func hasUnreported(of used: ServiceLevelSet) -> Bool {
    battery.intersection(used) != reported.intersection(used)
  }

  /// Reports the shed levels that the client uses; returns them.
  mutating func report(_ used: ServiceLevelSet) -> ServiceLevelSet {
    reported = battery.intersection(used)
    return reported
  }

  /// The process detaches: nothing was reported to the next one.
  mutating func detach() { reported = .none }
}
