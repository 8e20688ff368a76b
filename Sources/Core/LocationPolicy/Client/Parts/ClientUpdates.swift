import DeferralCache
import LocationTypes

/// Standard updates of a client: whether they run, with which settings, and the distance filter's origin. A part of
/// ``Client``.
///
/// # Problem
///
/// A receiver that batches delivers fixes long after they were acquired. Fixes acquired before a stop are still for the
/// client, and fixes acquired for others before its start are not, although all of them come out of one buffer.
///
/// # States
///
///               start                 stop or disconnect, receiver buffer empty
///     stopped ────────→ running ──────────────────────────────────────────────→ stopped
///                       ↑    │
///                 start │    │ stop or disconnect, receiver may hold fixes
///                       │    ↓
///                      stopping ── drain finished, receiver lost, or right to fixes changed ──→ stopped
///
/// A stopping client still gets the fixes acquired until `at`; they go to the process that stopped (`delivers`) or stay
/// in the ring for the next one. A restart of the service can restore a client as stopping.
///
/// # Invariants
///
/// - The first fix after a start passes the distance filter.
/// - Settings belong to the process: a new one has the defaults.
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
struct ClientUpdates: Sendable {
  /// Whether updates run.
  enum State: Equatable, Sendable {
    /// Updates are stopped.
    case stopped
    /// Updates run: `startUpdatingLocation` without `stopUpdatingLocation`.
    case running
    /// Updates stopped while the receiver held fixes; those acquired until `at` are for the client.
    ///
    /// - Parameter delivers: Whether they go to the process that stopped updates and is still attached.
    case stopping(at: Instant, delivers: Bool)
  }

  /// Position and accuracy of the last delivered fix, for the distance filter.
  private struct FilterOrigin: Sendable {
    var coordinate: Coordinate
    var accuracy_mm: Int32?
  }

  /// Whether updates run.
  private(set) var state = State.stopped
  /// Desired accuracy and distance filter.
  private(set) var settings = ClientSettings()
  /// Nil if no fix was delivered since updates started.
  private var filterOrigin: FilterOrigin?
  /// Sequence number of a fix that is delivered regardless of the distance filter (PAU-10).
  private var unfilteredSequence: UInt64?
  /// Time of a start of updates while the receiver held fixes for other clients: fixes acquired until then are not for
  /// this client.
  private var hiddenUntil: Instant?

  /// Whether updates are started.
  var isRunning: Bool { state == .running }

  /// Whether the receiver may hold fixes from before the stop.
  var isStopping: Bool {
    switch state {
    case .stopped, .running: false
    case .stopping: true
    }
  }

  /// Whether no fix was delivered since updates started.
  var awaitsFirstFix: Bool { isRunning && filterOrigin.isNil }

  /// Whether a fix is for the updates: it was not acquired before they started, and they run or stopped after it was
  /// acquired.
  func isFor(_ fix: Fix) -> Bool {
    switch state {
    case .stopped: false
    case .running: !isHidden(fix)
    case .stopping(let at, _): fix.acquired <= at && !isHidden(fix)
    }
  }

  /// Whether the fix was acquired for other clients before updates started.
  func isHidden(_ fix: Fix) -> Bool {
    guard let hiddenUntil else { return false }
    return fix.acquired <= hiddenUntil
  }

  /// Starts updates that do not run.
  ///
  /// Fixes that the receiver still holds from before a recent stop are delivered as well, together with those acquired
  /// between the stop and this start. Otherwise the receiver's fixes were acquired for other clients.
  mutating func start(receiverBuffers: Bool, at now: Instant) {
    if receiverBuffers, !isStopping { hiddenUntil = now }
    state = .running
    filterOrigin = nil
  }

  /// Ends updates.
  mutating func stop() { state = .stopped }

  /// Ends updates, except for fixes that the receiver holds from before `end`.
  mutating func stop(drainingUntil end: Instant, delivers: Bool) {
    state = .stopping(at: end, delivers: delivers)
  }

  /// The process detaches: fixes of the drain stay in the ring.
  mutating func detach() {
    if case .stopping(let at, _) = state { state = .stopping(at: at, delivers: false) }
  }

  /// Ends draining after a stop, if it is in progress.
  mutating func endStopping() { if isStopping { state = .stopped } }

  /// A process attaches, with default settings.
  mutating func resetSettings() { settings = ClientSettings() }

  /// Sets the desired accuracy, metres.
  mutating func setDesiredAccuracy(_ metres: Double) { settings.desiredAccuracy = metres }

  /// Sets the distance filter, metres.
  mutating func setDistanceFilter(_ metres: Double) { settings.distanceFilter = metres }

  /// The fix with this number is delivered regardless of the distance filter.
  mutating func exemptFromFilter(_ sequence: UInt64) { unfilteredSequence = sequence }

  /// Whether a fix is far enough from the last delivered one (STD-4), more accurate (STD-5), or exempt.
  func passesFilter(_ fix: Fix, _ sequence: UInt64) -> Bool {
    if sequence == unfilteredSequence { return true }
    guard let origin = filterOrigin else { return true }
    if origin.coordinate.localDistance(to: fix.coordinate) >= settings.distanceFilter {
      return true
    }
    guard let accuracy = fix.horizontalAccuracy_mm, let before = origin.accuracy_mm else {
      return false
    }
    return accuracy < before
  }

  /// Records the last delivered fix.
  mutating func setFilterOrigin(from fix: Fix) {
    filterOrigin = FilterOrigin(coordinate: fix.coordinate, accuracy_mm: fix.horizontalAccuracy_mm)
  }
}
