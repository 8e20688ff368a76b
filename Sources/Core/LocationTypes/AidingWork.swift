/// What is to be done with the memory of a receiver's navigation database, which belongs to whoever owns
/// engine or driver (PWR-8).
///
/// Entries are numbered from zero; each is a frame of at most 172 bytes that means something to the
/// receiver alone.
@frozen public enum AidingWork: Equatable, Sendable {
  /// Nothing.
  case none
  /// The frame that came last is kept in this place; the first one takes the place of all that were kept.
  case keep(UInt8)
  /// What is kept in this place is written to the receiver.
  case give(UInt8)
}
