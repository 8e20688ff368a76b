/// Whether the durable rows of one client are up to date.
///
///     CLEAN ──request, event, new rights──▶ DIRTY ──end of the turn: rows updated──▶ CLEAN
///
/// Acknowledgements come with every fix. They make a client dirty only if the turn flushes anyway; otherwise the next
/// sync of the ring saves them.
///
/// Owner: ``ServedClient``.
struct ClientRowState {
  /// Dirty flag: whether the rows may be out of date.
  private(set) var isDirty = false
  /// Whether acknowledgements are not in the row of the ring position yet.
  private(set) var hasUnsavedAcknowledgement = false
  /// Whether updates have ended, but the receiver may still hold undelivered fixes: the ring position then changes
  /// without a request.
  private(set) var awaitsReceiverDrain = false

  /// Whether the rows must be updated at the end of a turn.
  func needsUpdate(isFlushing: Bool) -> Bool {
    isDirty || awaitsReceiverDrain || (isFlushing && hasUnsavedAcknowledgement)
  }

  /// Records that the rows may be out of date.
  mutating func markDirty() { isDirty = true }

  /// Records that the client has acknowledged fixes.
  mutating func noteAcknowledgement() { hasUnsavedAcknowledgement = true }

  /// Resets the dirty flag of a vacant slot, which has no rows.
  mutating func discard() { isDirty = false }

  /// Records that the rows are being updated.
  mutating func didUpdate(awaitsReceiverDrain: Bool) {
    isDirty = false
    hasUnsavedAcknowledgement = false
    self.awaitsReceiverDrain = awaitsReceiverDrain
  }
}
