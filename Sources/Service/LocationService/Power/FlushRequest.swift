/// An administrator's request to deliver all deferred fixes now (`Flush`), from the call to the line about the clients
/// that receive nothing.
///
///     IDLE ──call──▶ REQUESTED ──the loop starts it──▶ STARTED ──end of the turn: line logged──▶ IDLE
///                        ▲                                │
///                        └────────── another call ────────┘
///
/// Owner: ``ServicePower``. The loop ends a turn only when no request is pending, so the line follows every flush.
enum FlushRequest: Equatable {
  /// No flush is requested.
  case idle
  /// Requested, and not passed to the engine yet.
  case requested
  /// Passed to the engine; the clients that receive nothing are not logged yet.
  case started
}
