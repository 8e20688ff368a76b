/// Reason why ``FixRing`` did not open a storage image. The image is unchanged.
public enum RingError: Error, Equatable, Sendable {
  /// The requested capacity is outside ``FixRing/capacityRange``.
  case capacityOutOfRange(Int)
  /// The storage is smaller than ``FixRing/storageSize(capacity:)``.
  case storageTooSmall(required: Int, actual: Int)
  /// The storage address is not a multiple of 8.
  case storageMisaligned
  /// The image was created with another capacity. Open it with that capacity, or erase it.
  case capacityMismatch(found: Int, requested: Int)
  /// This version does not support the image format. Migrate with the version that wrote it, or erase it.
  case unsupportedFormat(found: UInt32, known: UInt32)
  /// The image is not blank, and neither header copy nor any slot is readable: it is not a ring, or it is
  /// damaged beyond recovery. Erase it to start with an empty ring.
  case notARing
  /// The generation, sequence number or revision has reached its limit, which is possible only in a
  /// corrupted or forged image. Erase it.
  case exhausted
}
