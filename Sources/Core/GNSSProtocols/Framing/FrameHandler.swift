/// Receives the frames and sentences that a ``StreamDecoder`` finds.
///
/// Conformers: `MessageReader` (messages), ``EpochAssembler`` (epochs), `CommandReader` (commands to a
/// receiver). A product is written into the caller's variable, which stays unchanged if there is none:
/// returning the product as a value would move it several times for every sentence.
protocol FrameHandler {
  /// Result of decoding.
  associatedtype Product
  /// Handles a UBX payload of at most 4,096 bytes with a valid checksum; returns whether it wrote a
  /// product.
  mutating func handleFrame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into product: inout Product
  ) -> Bool
  /// Handles a sentence whose checksum was valid or not required; returns whether it wrote a product.
  mutating func handleSentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into product: inout Product
  ) -> Bool
}

/// Receives decoded sentences, each in its own type, from ``NMEADecoding``.
///
/// One method for each frequent kind: a common enum would be packed and unpacked for every sentence.
/// Each method returns whether it wrote a product.
protocol SentenceHandler {
  /// Result of decoding.
  associatedtype Product
  mutating func handle(_ m: RMC, into product: inout Product) -> Bool
  mutating func handle(_ m: GGA, into product: inout Product) -> Bool
  mutating func handle(_ m: GSA, into product: inout Product) -> Bool
  mutating func handle(_ m: GSV, into product: inout Product) -> Bool
  mutating func handle(_ m: GST, into product: inout Product) -> Bool
  mutating func handle(_ m: VTG, into product: inout Product) -> Bool
  mutating func handle(_ m: GLL, into product: inout Product) -> Bool
  /// Handles sentences that few receivers send or that come once per epoch, and malformed ones.
  mutating func handle(_ other: GNSSMessage, into product: inout Product) -> Bool
}
