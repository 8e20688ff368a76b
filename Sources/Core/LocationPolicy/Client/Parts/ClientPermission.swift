import LocationTypes

/// Whether a client may use location, with which accuracy, and which fixes it may never receive. A part of ``Client``.
///
/// # Problem
///
/// A change applies to the fixes *acquired* after it, but a receiver's buffer may deliver a fix long after it was
/// acquired. The present authorization therefore does not decide whether a fix may be delivered: the time of the last
/// change is stored and compared with the fix's time of acquisition (RNG-6).
///
/// # States
///
/// Two independent values, each changed by its own request:
///
///     notDetermined, restricted, denied  ←── setAuthorization ──→  always, whenInUse
///     full accuracy                      ←── setReduced ─────────→  reduced accuracy
///
///     authorization   accuracy   fixes that the client may receive
///     granted         full       those acquired after ``deniedUntil``
///     granted         reduced    none of the ring: coarse ones instead (AUT-6)
///     not granted     either     none
///
/// # Invariants
///
/// - ``deniedUntil`` is the time of the last change between granted and not granted, or of the last return to full
///   accuracy, whichever was later.
/// - A change is reported at most once, and only to the process that was attached when it occurred.
///
/// # Who changes what
///
/// Only the functions of this file write the properties; ``Client`` calls them and applies the consequences to the
/// other parts. All are O(1).
@usableFromInline struct ClientPermission: Sendable {
  /// Authorization of the client.
  @usableFromInline private(set) var authorization = Authorization.always
  /// Whether its accuracy is reduced (AUT-5).
  @usableFromInline private(set) var isReduced = false
  /// Whether a change is unreported.
  private(set) var hasUnreportedChange = false
  /// Fixes acquired until then are never delivered; nil if no fix is denied.
  @usableFromInline private(set) var deniedUntil: Instant?

  /// Whether the client may use location.
  @inlinable var isAuthorized: Bool { authorization.isGranted }

  /// Whether fixes with full accuracy may be delivered at all.
  @inlinable var allowsFixes: Bool { isAuthorized && !isReduced }

  /// Whether the fix was acquired up to ``deniedUntil``.
  @inlinable func isDenied(_ fix: Fix) -> Bool {
    guard let deniedUntil else { return false }
    return fix.acquired <= deniedUntil
  }

  /// Sets the authorization.
  ///
  /// - Parameter isConnected: Whether a process is attached, which receives a report of the change.
  mutating func setAuthorization(_ new: Authorization, isConnected: Bool, at now: Instant) {
    guard new != authorization else { return }
    if new.isGranted != isAuthorized { deniedUntil = now }
    authorization = new
    hasUnreportedChange = isConnected
  }

  /// Sets whether accuracy is reduced.
  ///
  /// - Parameter isConnected: Whether a process is attached, which receives a report of the change.
  mutating func setReduced(_ isReduced: Bool, isConnected: Bool, at now: Instant) {
    guard isReduced != self.isReduced else { return }
    if !isReduced { deniedUntil = now }
    self.isReduced = isReduced
    hasUnreportedChange = isConnected
  }

  /// Returns the notice of an unreported change; nil if none exists.
  mutating func nextNotice() -> Notice? {
    guard hasUnreportedChange else { return nil }
    hasUnreportedChange = false
    return .authorization(authorization, isReduced: isReduced)
  }

  /// The process detaches: an unreported change is dropped.
  mutating func detach() { hasUnreportedChange = false }
}
