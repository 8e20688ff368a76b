import LocationTypes
import Testing

@testable import LocationEngine

private func chunk(_ bytes: [UInt8]) -> ByteChunk { ByteChunk(bytes.span) }

private func bytes(_ chunk: ByteChunk) -> [UInt8] {
  (0..<chunk.span.count).map { chunk.span[$0] }
}

@Suite("Store of a receiver's assistance data") struct AidingStoreTests {
  /// The operations on a store of two entries, and two that it ignores.
  private enum Step: CaseIterable { case first, second, third, long }

  @Test("PWR-8: after any operations, the store has exactly the stored entries, in order")
  func everySequence() {
    // All sequences of five steps on a store of two entries, compared with an array.
    let steps = Step.allCases
    var count = 1
    for _ in 0..<5 { count *= steps.count }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: AidingStore.byteCount(capacity: 2) + 5, alignment: 1)
    defer { unsafe memory.deallocate() }
    for number in 0..<count {
      for i in memory.indices { unsafe memory[i] = 0xAA }
      var store = unsafe AidingStore(memory)
      var model: [[UInt8]] = []
      var remaining = number
      for turn in 0..<5 {
        let step = steps[remaining % steps.count]
        remaining /= steps.count
        let entry = [UInt8](repeating: UInt8(turn), count: turn * 42 + 2)
        switch step {
        case .first:
          store.store(chunk(entry), at: 0)
          model = [entry]
        case .second:
          store.store(chunk(entry), at: 1)
          if model.count == 1 { model.append(entry) }
        case .third: store.store(chunk(entry), at: 2)
        case .long: store.store(chunk([UInt8](repeating: 9, count: 173)), at: UInt8(model.count))
        }
        #expect(store.count == model.count, "\(number)")
        for index in 0..<4 {
          let expected = index < model.count ? model[index] : []
          #expect(bytes(store.entry(at: UInt8(index))) == expected, "\(number)")
        }
      }
      for i in memory.indices.suffix(5) {
        let byte = unsafe memory[i]
        #expect(byte == 0xAA)
      }
    }
  }

  @Test("PWR-8: a store without memory is empty; a store has at most 255 entries")
  func bounds() {
    var none = AidingStore()
    none.store(chunk([1]), at: 0)
    #expect(none.count == 0 && none.capacity == 0 && bytes(none.entry(at: 0)).isEmpty)
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: AidingStore.byteCount(capacity: 300), alignment: 1)
    defer { unsafe memory.deallocate() }
    let store = unsafe AidingStore(memory)
    #expect(store.capacity == 255)
  }
}
