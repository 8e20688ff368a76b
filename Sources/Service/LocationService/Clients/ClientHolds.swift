import LocationTypes
import LocationWire

/// The times for which a client keeps the board from sleeping (PWR-13).
///
/// # Problem
///
/// A program that does its own work after a delivery, such as sending the fixes, needs the processor for some seconds,
/// while the service would suspend the board. A hold keeps the board awake without a change of any deferral. A program
/// that forgets to end its hold, or begins one after the other, must not empty the battery.
///
/// # States
///
///     NONE ──begin──▶ ACTIVE ──end, or the time is over, or the connection ends──▶ NONE
///
/// # Invariants
///
/// - A hold takes its duration out of the budget when it begins, and returns the rest when it ends early. The budget
///   is restored evenly within ``period``, so all holds of any hour have at most twice the ``budget``.
/// - Owner: ``ServedClient``. The budget outlives the process, so that a program cannot restore it by connecting again.
///
/// Bounded: ``capacity`` holds.
struct ClientHolds {
  /// Largest number of active holds.
  static let capacity = 4
  /// Total duration that a client can use at once.
  static let budget = Interval.seconds(150)
  /// Time in which an empty budget is restored.
  static let period = Interval.seconds(3_600)

  /// An active hold.
  struct Hold: Equatable {
    /// Number, unique among the holds of the client.
    let id: Int64
    /// The client's reason, for the status.
    let reason: String
    /// Time of its end, if the client does not end it before.
    let end: Instant
  }

  /// Active holds, the oldest first.
  private(set) var all: [Hold] = []
  private var lastID: Int64 = 0
  private var available = ClientHolds.budget
  private var updated = Instant.boot

  /// Earliest end of a hold; `.distantFuture` without one.
  var deadline: Instant { all.map(\.end).min() ?? .distantFuture }

  /// Begins a hold. Returns its number; nil if all are active or the budget does not suffice.
  mutating func begin(_ duration: Interval, _ reason: String, at now: Instant) -> Int64? {
    restoreBudget(at: now)
    guard all.count < ClientHolds.capacity, duration <= available else { return nil }
    available = available - duration
    lastID += 1
    all.append(Hold(id: lastID, reason: reason, end: now + duration))
    return lastID
  }

  /// Ends a hold, if it is active.
  mutating func end(_ id: Int64, at now: Instant) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return }
    restoreBudget(at: now)
    let rest = max(.zero, all[index].end - now)
    available = min(ClientHolds.budget, available + rest)
    all.remove(at: index)
  }

  /// Ends all holds.
  mutating func endAll(at now: Instant) { for hold in all { end(hold.id, at: now) } }

  /// Removes the holds whose time is over.
  mutating func expire(at now: Instant) { all.removeAll { $0.end <= now } }

  private mutating func restoreBudget(at now: Instant) {
    let elapsed = min(now - updated, ClientHolds.period)
    let restored = elapsed * ClientHolds.budget.microseconds / ClientHolds.period.microseconds
    available = min(ClientHolds.budget, available + restored)
    updated = now
  }
}
