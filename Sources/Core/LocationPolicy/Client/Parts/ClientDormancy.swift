import LocationTypes

/// Until when a client is dormant, and which fixes it may skip meanwhile. A part of ``Client``.
///
/// # Problem
///
/// Most clients wait for an event that is far away in time or distance. Steps skip them: two comparisons per client and
/// fix decide that nothing can happen.
///
/// # States
///
///                                 begin
///     active (until = boot) ────────────────→ dormant, handles the next fix (wakeDistance = −∞)
///        ↑      ↑                                │
///        │      └──────────── end ───────────────┤
///        │                                       │ skip or skipAll
///        │                                       ↓
///        └────────────── end ───────────────── dormant, fixes skipped until wakeDistance or wakeTime
///
/// A dormant client handles its first fix in any case. The outcome depends on ``interest``: without services it skips
/// all later fixes; with regions only it skips fixes until the distance or time at which a region may change; else the
/// fix ends dormancy.
///
/// # Invariants
///
/// - ``until`` is ``Instant/boot`` exactly while the client is active, so that "must be updated at this time" is one
///   comparison. An enum would need a second one, for each client at each fix.
/// - ``wakeDistance``, ``wakeTime`` and ``interest`` are used only while dormant.
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
@usableFromInline struct ClientDormancy: Sendable {
  /// Which fixes matter to a dormant client.
  enum Interest: UInt8, Sendable {
    /// None: it uses no service.
    case nothing = 0
    /// Those that may change a region.
    case regions = 1
    /// All: a fix ends dormancy.
    case everything = 2
  }

  /// Time until which the client is dormant; ``Instant/boot`` while it is active.
  @usableFromInline private(set) var until = Instant.boot
  /// Value of ``Odometer/length``, metres, from which a fix may matter; before it and before ``wakeTime`` none does. −∞
  /// until skipping begins.
  @usableFromInline private(set) var wakeDistance = -Double.infinity
  /// Acquisition time from which a fix may matter; see ``wakeDistance``.
  @usableFromInline private(set) var wakeTime = Instant.boot
  /// Which fixes matter.
  private(set) var interest = Interest.everything
  /// Sequence number of the newest fix handled during dormancy.
  private var newestHandled: UInt64 = 0

  /// Whether the client is not dormant.
  @inlinable var isActive: Bool { until == .boot }

  /// Whether fixes may have been skipped: the client is dormant, and a fix began the skipping.
  @inlinable var skipsFixes: Bool { until > .boot && wakeDistance > -.infinity }

  /// Whether the client must handle a fix acquired at `time`, with the ``Odometer`` at `travelled` metres.
  @inlinable func needsFix(at time: Instant, _ travelled: Double) -> Bool {
    isActive || wakeDistance <= travelled || wakeTime <= time
  }

  /// Whether the fix with this number was skipped.
  func hasSkipped(_ sequence: UInt64) -> Bool { skipsFixes && newestHandled != sequence }

  /// The client becomes dormant.
  mutating func begin(until time: Instant, _ interest: Interest) {
    assert(time > .boot, "a time of boot means active")
    until = time
    self.interest = interest
    wakeDistance = -.infinity
    wakeTime = .boot
  }

  /// The client becomes active.
  mutating func end() { until = .boot }

  /// A dormant client handles the fix with this number.
  mutating func noteFix(_ sequence: UInt64) { newestHandled = sequence }

  /// No later fix matters.
  mutating func skipAll() { skip(to: .infinity, until: .distantFuture) }

  /// No fix matters before a length of the ``Odometer``, metres, and a time.
  mutating func skip(to distance: Double, until time: Instant) {
    wakeDistance = distance
    wakeTime = time
  }
}
