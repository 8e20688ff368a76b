import GNSSProtocols
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

extension EngineBench {
  /// Sends bytes at the line's speed from `start` on; the engine reads them as in the loop.
  ///
  /// - Returns: The times at which fixes were appended to the ring, up to `end`.
  fileprivate func receive(
    _ bytes: [UInt8], from start: Instant, baud: Int, until end: Instant
  ) -> [Instant] {
    var fixes: [Instant] = []
    var next = 0
    func arrival(_ index: Int) -> Instant {
      start + Interval(microseconds: Int64(index + 1) * 10_000_000 / Int64(baud))
    }
    while true {
      var time = plan.wake
      if plan.wakesOnInput && next < bytes.count { time = min(time, max(now, arrival(next))) }
      guard time <= end else { return fixes }
      var gathered: [UInt8] = []
      while next < bytes.count, arrival(next) <= time {
        gathered.append(bytes[next])
        next += 1
      }
      let head = engine.head
      if gathered.isEmpty {
        run(until: time)
      } else {
        sendAt(time, gathered)
      }
      if engine.head != head { fixes.append(time) }
    }
  }
}

@Suite("Latency of a live fix") struct LatencyTests {
  private static func frame(_ bench: EngineBench, _ edit: (inout FrameBuffer) -> Void) -> [UInt8] {
    var frame = FrameBuffer()
    edit(&frame)
    return (0..<frame.count).map { frame[$0] }
  }

  private static let epochs = [
    "GGA, GSA, RMC": 4_800, "RMC, GGA, GST, VTG": 9_600, "RMC alone": 9_600,
    "NAV-PVT": 38_400, "GGA first, GLL last": 115_200,
  ]

  private static func bytes(_ name: String, _ bench: EngineBench) -> [UInt8] {
    let fix = bench.fix
    return frame(bench) {
      switch name {
      case "GGA, GSA, RMC":
        $0.append(GGA(fix, horizontalDOP_e2: 90))
        $0.append(GSA(fix, positionDOP_e2: 150))
        $0.append(RMC(fix))
      case "RMC, GGA, GST, VTG":
        $0.append(RMC(fix))
        $0.append(GGA(fix, horizontalDOP_e2: 90))
        $0.append(GST(fix))
        $0.append(VTG(fix))
      case "RMC alone": $0.append(RMC(fix))
      case "NAV-PVT": $0.appendNavPVT(UBXSolution(fix))
      case _:
        $0.append(GGA(fix, horizontalDOP_e2: 90))
        $0.append(RMC(fix))
        $0.append(GLL(fix))
      }
    }
  }

  @Test(
    "once the last message of an epoch is known, a fix is delivered within 50 ms of its last byte",
    arguments: epochs.keys.sorted())
  func lastByte(name: String) throws {
    let baud = try #require(Self.epochs[name])
    let bench = EngineBench()
    bench.run(until: Instant(seconds: 20))
    var worst = Interval.zero
    for second in 20..<50 {
      let start = Instant(seconds: Double(second))
      bench.run(until: start)
      let bytes = Self.bytes(name, bench)
      let end = start + Interval(microseconds: Int64(bytes.count) * 10_000_000 / Int64(baud))
      let fixes = bench.receive(bytes, from: start, baud: baud, until: start + .seconds(1))
      #expect(fixes.count == 1, "second \(second)")
      guard second >= 23, let fix = fixes.first else { continue }
      worst = max(worst, fix - end)
    }
    #expect(bench.engine.head == 30)
    // Reading is delayed by 40 ms to collect bytes.
    #expect(worst <= .milliseconds(50) && worst <= bench.setup.readDelayToKnownEnd, "\(worst)")
  }

  @Test("while the engine waits for an answer, the receiver's first bytes wake the board")
  func answer() {
    let bench = EngineBench { $0.receiver = ReceiverSetup(family: .ubloxM10, lineSpeed: 38_400) }
    // A message that is no answer and belongs to no epoch.
    var frame = FrameBuffer()
    frame.appendAcknowledgement(of: .cfgVALSET, isAccepted: true)
    bench.send(frame)
    let isIdle = bench.engine.isDriverIdle
    #expect(!isIdle, "it probes")
    #expect(bench.plan.board == .idle && bench.plan.wakesOnInput)
  }

  @Test("without a constant last sentence, the silence that ends an epoch is measured")
  func silence() {
    let bench = EngineBench()
    bench.run(until: Instant(seconds: 20))
    var worst = Interval.zero
    for second in 20..<60 {
      let start = Instant(seconds: Double(second))
      bench.run(until: start)
      let fix = bench.fix
      let bytes = Self.frame(bench) {
        $0.append(RMC(fix))
        $0.append(GGA(fix, horizontalDOP_e2: 90))
        if second % 2 == 0 { $0.append(VTG(fix)) }
        if second % 3 == 0 { $0.append(GST(fix)) }
      }
      let end = start + Interval(microseconds: Int64(bytes.count) * 10_000_000 / 9_600)
      let fixes = bench.receive(bytes, from: start, baud: 9_600, until: start + .seconds(1))
      #expect(fixes.count == 1)
      guard second >= 32, let fix = fixes.first else { continue }
      worst = max(worst, fix - end)
    }
    #expect(bench.engine.head == 40)
    #expect(worst <= .milliseconds(50), "\(worst)")
    #expect(worst > bench.setup.readDelay, "the epochs ended by silence")
  }
}
