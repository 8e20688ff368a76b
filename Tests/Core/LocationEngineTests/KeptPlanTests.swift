import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

/// Between the bytes of an epoch the engine keeps its plan; a new plan must be equal to it.
@Suite("Plans kept within an epoch") struct KeptPlanTests {
  /// Two sentences of one epoch, and the start of a third.
  private static func sentences(_ bench: EngineBench) -> [UInt8] {
    var frame = FrameBuffer()
    frame.append(RMC(bench.fix), format: .finest)
    frame.append(GGA(bench.fix, horizontalDOP_e2: 90), format: .finest)
    return (0..<frame.count).map { frame[$0] } + Array("$GNGSA,A,3,04,05,".utf8)
  }

  private static func bench(_ kind: Int) -> EngineBench {
    switch kind {
    case 0: return EngineBench()
    case 1: return EngineBench.deferring(.unlimited, 100)
    case 2: return EngineBench.deferring(2_000)
    case 3:
      let bench = EngineBench { $0.parameters.canStandby = true }
      bench.background()
      bench.request(.setDesiredAccuracy(100), of: bench.client.id)
      return bench
    case 4:
      let bench = EngineBench { $0.receiver = ReceiverSetup() }
      bench.background()
      return bench
    case _:
      let bench = EngineBench()
      bench.inhibit(true)
      return bench
    }
  }

  @Test("after bytes that complete no message, the kept plan equals a new plan", arguments: 0..<6)
  func sameAsNewPlan(_ kind: Int) {
    let bench = Self.bench(kind)
    bench.sendsNMEA = true
    bench.fixes(count: 4)
    for second in 0..<5 {
      bench.run(1)
      let bytes = Self.sentences(bench)
      for (i, byte) in bytes.enumerated() {
        bench.run(i % 40 == 0 ? 0.06 : 0.000_9)
        bench.perform(bytes: ByteChunk([byte].span))
        let keptPlan = bench.plan
        bench.perform(.time)
        let newPlan = bench.plan
        #expect(keptPlan.board == newPlan.board && keptPlan.wakesOnInput == newPlan.wakesOnInput)
        #expect(keptPlan.wake == newPlan.wake, "byte \(i) of second \(second)")
      }
    }
  }

  @Test("DEF-17: a timeout expires on time within an epoch that never ends")
  func timeout() {
    let bench = EngineBench.deferring(.unlimited, 3)
    bench.sendsNMEA = true
    bench.fixes(count: 1)
    let due =
      bench.engine.withClient(bench.client.id) { $0.deferral.criteria?.deadline } ?? .distantFuture
    var time = bench.now
    for byte in Self.sentences(bench) + [UInt8](repeating: 0x31, count: 250) {
      time = time + .milliseconds(10)
      bench.sendAt(time, [byte])
      #expect((bench.state == .idle) == (time >= due))
    }
    #expect(time > due)
  }

  @Test("a request between the bytes of an epoch changes the plan immediately")
  func request() {
    let bench = EngineBench()
    bench.sendsNMEA = true
    bench.fixes(count: 2)
    bench.background()
    let bytes = Self.sentences(bench)
    bench.run(1)
    bench.send(Array(bytes.prefix(100)))
    bench.client.defer(untilTraveled: .unlimited, timeout: 0.02)
    bench.sendAt(bench.now + .milliseconds(10), Array(bytes[100..<110]))
    #expect(bench.state != .idle)
    bench.sendAt(bench.now + .milliseconds(10), Array(bytes[110..<120]))
    #expect(bench.state == .idle)
  }
}
