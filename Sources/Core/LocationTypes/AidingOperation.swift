/// Operation on the stored copy of a receiver's navigation database (assistance data, PWR-8).
///
/// Requested by a driver in `DriverEffects` and passed on by `Engine` in `Effects`; the caller of `Engine` owns the
/// storage (`AidingStore`) and executes the operation. The storage has numbered slots from 0; each slot stores one
/// frame of at most 172 bytes in a format that only the receiver interprets.
@frozen public enum AidingOperation: Equatable, Sendable {
  /// No operation.
  case none
  /// Store the last received frame in this slot. Storing to slot 0 first discards all stored frames.
  case store(UInt8)
  /// Write the frame in this slot to the receiver.
  case send(UInt8)
}
