/// What becomes of the frames and sentences that a ``StreamDecoder`` finds.
///
/// A product is written where it is wanted, and left alone where none is made: handed on as a value it
/// would be moved from place to place, and for each sentence of which nothing comes too.
protocol FrameReader {
  /// What it makes of them.
  associatedtype Product
  /// Reads a UBX payload of at most 4,096 bytes whose checksum was right; false where it makes nothing.
  mutating func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into product: inout Product
  ) -> Bool
  /// Reads a sentence whose checksum was right or need not be there; false where it makes nothing.
  mutating func sentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into product: inout Product
  ) -> Bool
}

/// Takes what sentences say, each as what it is.
///
/// A function for each kind that comes often: put into one value of many kinds they would all be brought
/// into the same shape and taken apart again. Each says whether it has made something.
protocol SentenceTaker {
  /// What it makes of them.
  associatedtype Product
  mutating func take(_ m: RMC, into product: inout Product) -> Bool
  mutating func take(_ m: GGA, into product: inout Product) -> Bool
  mutating func take(_ m: GSA, into product: inout Product) -> Bool
  mutating func take(_ m: GSV, into product: inout Product) -> Bool
  mutating func take(_ m: GST, into product: inout Product) -> Bool
  mutating func take(_ m: VTG, into product: inout Product) -> Bool
  mutating func take(_ m: GLL, into product: inout Product) -> Bool
  /// Takes what few receivers send, or once an epoch, and what cannot be read.
  mutating func take(_ other: GNSSMessage, into product: inout Product) -> Bool
}
