/// Whether a client's process is attached, its execution state, and the use of location that follows from its sessions.
/// A part of ``Client``.
///
/// # States
///
///                  connect                          setState
///     detached ─────────────→ attached, foreground ──────────→ attached, background or suspended
///        ↑                         │                                  │
///        └────── disconnect ───────┴──────────────────────────────────┘
///
/// A detached client keeps ``state``: while its last process was suspended, no missing location is reported to it
/// (BKG-2). The use is set with or without a process, because authorization and sessions outlive it (BKG-9).
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
@usableFromInline struct ClientExecution: Sendable {
  /// Whether a process is attached.
  @usableFromInline private(set) var isConnected = false
  /// Execution state of the process, or of the last one.
  @usableFromInline private(set) var state = ExecutionState.foreground
  /// Use of location that follows from the sessions.
  private(set) var use = ClientUse()

  /// Whether the process, or the last one, is suspended.
  var isSuspended: Bool { state == .suspended }

  /// Whether a process is attached and runs or has an active background session.
  var isRunning: Bool { isConnected && (!isSuspended || use.keepsRunning) }

  /// A process attaches.
  mutating func connect() {
    isConnected = true
    state = .foreground
  }

  /// The process detaches.
  mutating func disconnect() { isConnected = false }

  /// The attached process changed its execution state; returns whether it is no longer suspended.
  mutating func setState(_ new: ExecutionState) -> Bool {
    let wasSuspended = isSuspended
    state = new
    return wasSuspended && !isSuspended
  }

  /// The sessions changed.
  mutating func setUse(_ new: ClientUse) { use = new }
}
