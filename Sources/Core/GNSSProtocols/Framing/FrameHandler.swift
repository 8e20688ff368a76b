/// Receives the frames and sentences that a ``StreamDecoder`` finds.
///
/// Conformers: `MessageReader` (messages of a receiver) and `CommandReader` (commands to one). A product is written into the caller's variable, which stays unchanged if there is none:
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
