import Testing

@testable import GNSSProtocols

@Suite("CFG-VALGET") struct UBXConfigurationPollTests {
  /// The message that a frame with this payload is decoded to.
  private func message(_ payload: [UInt8]) -> GNSSMessage? {
    var decoder = GNSSDecoder()
    var offset = 0
    return decoder.next(ubx(0x06, 0x8B, payload).span, &offset)
  }

  private let rate: [UInt8] = [1, 0, 0x21, 0x30, 0xE8, 0x03]
  private let output: [UInt8] = [7, 0, 0x91, 0x20, 1]
  private let speed: [UInt8] = [1, 0, 0x52, 0x40, 0, 0xC2, 1, 0]
  private let eightBytes: [UInt8] = [8, 0, 5, 0x50, 1, 2, 3, 4, 5, 6, 7, 8]

  private func items(_ pairs: [(UInt32, UInt64)]) -> UBXConfiguration {
    var items = UBXConfiguration(layers: .ram)
    for (key, value) in pairs { items.set(key, value) }
    return items
  }

  @Test("the answer's pairs are compared with the items to write, in any order")
  func values() {
    guard case .configurationValues(let values) = message([1, 0, 0, 0] + rate + output + speed)
    else {
      Issue.record("not decoded")
      return
    }
    #expect(values.count == 3 && values.layer == 0)
    #expect(values[0] == UBXConfigurationItem(key: 0x3021_0001, value: 1_000))
    let all: [(UInt32, UInt64)] = [
      (0x4052_0001, 115_200), (0x3021_0001, 1_000), (0x2091_0007, 1),
    ]
    #expect(values.contains(items(all)))
    #expect(values.contains(items([all[1]])), "further pairs do not matter")
    #expect(!values.contains(items([(0x3021_0001, 999)])))
    #expect(!values.contains(items([(0x3021_0002, 1)])), "a key that was not answered differs")
  }

  @Test("an answer is malformed if a pair is incomplete, a key has no size, or the version differs")
  func malformed() {
    let start: [UInt8] = [1, 0, 0, 0]
    let bad: [[UInt8]] = [
      [1, 0, 0], [0, 0, 0, 0] + rate, start + [1, 0, 0x21], start + [1, 0, 0x21, 0x30, 0xE8],
      start + [1, 0, 0, 0x70, 1], start + [8, 0, 5, 0x50, 1, 2, 3, 4, 5, 6, 7],
    ]
    for payload in bad {
      #expect(message(payload) == .malformed)
    }
  }

  @Test("an answer is unknown if it has more pairs than a driver polls, 8 bytes, or a position")
  func unsupported() {
    let unknown = GNSSMessage.unknown(.frame(.cfgVALGET))
    let most = Array(repeatElement(output, count: UBXConfigurationValues.capacity).joined())
    guard case .configurationValues(let values) = message([1, 0, 0, 0] + most) else {
      Issue.record("not decoded")
      return
    }
    #expect(values.count == UBXConfigurationValues.capacity)
    #expect(message([1, 0, 0, 0] + most + output) == unknown)
    #expect(message([1, 0, 0, 0] + eightBytes) == unknown)
    #expect(message([1, 0, 1, 0] + output) == unknown)
  }

  @Test("a message is not enlarged by the answer")
  func size() {
    #expect(MemoryLayout<UBXConfigurationValues>.size <= MemoryLayout<UBXSolution>.size)
  }

  @Test("a poll has 1 to 64 keys; other lengths, versions, layers and positions are malformed")
  func poll() {
    let key: [UInt8] = [1, 0, 0x21, 0x30]
    let most = [0, 0, 0, 0] + Array(repeatElement(key, count: 64).joined())
    guard case .valget(let poll) = commands(ubx(0x06, 0x8B, most)).first else {
      Issue.record("64 keys are allowed")
      return
    }
    #expect(poll.count == 64 && poll.layer == .ram && poll[63] == 0x3021_0001)
    let start: [UInt8] = [0, 0, 0, 0]
    let bad: [[UInt8]] = [
      most + key, start, start + [1, 0, 0x21], [1, 0, 0, 0] + key, [0, 3, 0, 0] + key,
      [0, 0, 1, 0] + key,
    ]
    for payload in bad {
      #expect(commands(ubx(0x06, 0x8B, payload)) == [.malformed(.cfgVALGET)])
    }
  }
}
