/// From sentences to messages.
enum NMEADecoding {
  static func message(_ s: Span<UInt8>, _ counters: inout DecoderCounters) -> GNSSMessage {
    counters.unknown.count()
    return .other
  }
}
