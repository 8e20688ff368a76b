/// Why an image was not opened. Nothing was written to it.
public enum RingError: Error, Equatable, Sendable {
  /// The capacity asked for lies outside ``FixRing/capacityRange``.
  case capacityOutOfRange(Int)
  /// The storage is smaller than ``FixRing/storageSize(capacity:)``.
  case storageTooSmall(needed: Int, given: Int)
  /// The storage does not begin at a multiple of eight bytes.
  case storageMisaligned
  /// The image was made for another capacity: open it with that one, or erase it.
  case otherCapacity(found: Int, wanted: Int)
  /// The image has a format this version does not know: migrate with the version that wrote it, or
  /// erase it.
  case otherFormat(found: UInt32, known: UInt32)
  /// Neither header copy nor any slot can be read, and the image is not blank: it is no ring, or
  /// damaged beyond use. Erase it to start anew.
  case notARing
  /// No generation, sequence number or revision is left, which no honest image reaches. Erase it.
  case exhausted
}
