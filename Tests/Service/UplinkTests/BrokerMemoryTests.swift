import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

@Suite("What the uplink remembers of a broker, and its back-off")
struct BrokerMemoryTests {
  @Test("every event of the size of messages keeps 1 ≤ limit ≤ largest ≤ 4096")
  func size() {
    var size = MessageSize()
    for seed in 0..<4_096 as Range<UInt64> {
      var hash = FNV1a()
      hash.add(seed)
      let count = Int(hash.value >> 40) % size.limit + 1
      switch hash.value % 5 {
      case 0: _ = size.refuse(count)
      case 1: _ = size.lose(count)
      case 2: size.miss(count)
      case 3: size.confirm(count)
      case _: if seed % 64 == 0 { size = MessageSize() } else { size.begin() }
      }
      #expect(1 <= size.limit && size.limit <= size.largest && size.largest <= 4_096)
    }
  }

  @Test("messages without receipt become smaller, down to one fix, and grow again when they arrive")
  func missing() {
    var size = MessageSize()
    var limits: [Int] = []
    for _ in 0..<13 {
      limits.append(size.limit)
      size.miss(size.limit)
    }
    #expect(limits == [4_096, 2_048, 1_024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1])
    for _ in 0..<12 { size.confirm(size.limit) }
    #expect(size.limit == 4_096)
  }

  @Test("a connection that is lost in one upload says nothing about the messages of the next one")
  func lostBefore() {
    var size = MessageSize()
    let isSmaller = size.lose(100)
    size.begin()
    size.confirm(50)
    #expect(isSmaller && size.largest == 4_096 && size.limit == 100)
  }

  @Test("what is known of a broker is forgotten after a day")
  func lifetime() {
    var memory = BrokerMemory()
    memory.begin(at: Instant(seconds: 100))
    memory.setOld(true)
    memory.setIPv4(true)
    let isFirst = [memory.mustLogSize(), memory.mustLogSize()]
    #expect(isFirst == [true, false])
    memory.begin(at: Instant(seconds: 86_499))
    #expect(memory.isOld && memory.usesIPv4)
    memory.begin(at: Instant(seconds: 86_500))
    #expect(!memory.isOld && !memory.usesIPv4 && !memory.hasLoggedSize)
    memory.setOld(true)
    memory.begin(at: Instant(seconds: 86_500 + 86_399))
    #expect(memory.isOld, "a new day has begun")
  }

  @Test("the back-off lasts 1 to 60 minutes, grows, and differs between boards")
  func backoff() throws {
    var first: [Int64] = []
    for board in 0..<1_000 {
      let device = try #require(DeviceName("board-\(board)"))
      var backoff = UplinkBackoff(device)
      for failure in 0..<20 {
        let now = Instant(seconds: Double(failure))
        backoff.recordFailure(at: now)
        #expect(backoff.nextTime == now + backoff.delay)
        let base = min(Int64(60) << Int64(failure), 1_800)
        #expect(backoff.delay >= .seconds(base) && backoff.delay < .seconds(2 * base))
        if failure == 0 { first.append(backoff.delay.microseconds / 1_000_000) }
      }
      var again = UplinkBackoff(device)
      again.recordFailure(at: .boot)
      #expect(again.delay.microseconds / 1_000_000 == first[board], "the same at each start")
      backoff.reset()
      #expect(backoff.failures == 0 && backoff.nextTime == .boot)
    }
    // 1,000 boards in 60 s: about 17 in each second.
    let largest = Dictionary(grouping: first) { $0 }.values.map(\.count).max() ?? 0
    #expect(largest < 40, "\(largest) boards in the same second")
  }
}
