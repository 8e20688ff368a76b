/// What becomes of the frames that a ``StreamDecoder`` finds.
protocol FrameReader {
  /// What it makes of them.
  associatedtype Message
  /// Reads a UBX payload of at most 4,096 bytes whose checksum was right; nil to pass over it.
  static func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> Message?
  /// Reads the sentence that begins at `start`, behind the `$`, or leaves nil to pass over it; its
  /// checksum was right or need not be there.
  ///
  /// `places` are those of ``SentenceScan/fieldPlaces``. It is written where it is wanted: there are
  /// many kinds, and handed on as values they would all be brought into the same registers.
  static func sentence(
    _ s: Span<UInt8>, _ start: Int, _ places: Span<UInt16>, _ counters: inout DecoderCounters,
    into message: inout Message?)
}
