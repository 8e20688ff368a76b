import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Random events in any order")
struct FuzzTests {
  #if DEBUG
    static let steps = 50_000
  #else
    static let steps = 500_000
  #endif

  @Test(
    "RNG-3, RNG-4, DEF-8: after random events, each client has every fix or a gap, each call one finish",
    arguments: [UInt64(1), 2, 3, 4])
  func randomEvents(_ seed: UInt64) {
    var walk = Walk(seed)
    while walk.bench.steps < FuzzTests.steps { walk.step() }
    walk.finish()
    #expect(walk.bench.longestChain < 100)
  }

  @Test("random bytes neither trap nor cause an endless chain of steps")
  func randomBytes() {
    var random = SplitMix64(seed: 9)
    let bench = EngineBench { $0.receiver = Walk.m10 }
    for _ in 0..<4_000 {
      let count = 1 + random.below(400)
      var bytes = (0..<count).map { _ in UInt8(random.below(256)) }
      // Add valid starts of frames and sentences.
      if random.below(2) == 0 {
        bytes.replaceSubrange(0..<0, with: [0xB5, 0x62, UInt8(random.below(3)), 7, 92, 0])
      }
      if random.below(3) == 0 { bytes += Array("$GNRMC,120000.00,A,".utf8) }
      bench.send(bytes, chunk: 1 + random.below(128))
      if random.below(20) == 0 { bench.run(random.fraction()) }
    }
    #expect(bench.longestChain < 400)
  }

  @Test("on a line that is never silent, the driver meets its deadlines")
  func saturatedLine() {
    let bench = EngineBench {
      $0.receiver = Walk.m10
      $0.parameters.canStandby = true
    }
    for _ in 0..<400 {
      bench.run(0.01)
      bench.send(Array("$GNXYZ,nothing of ours,*00\r\n".utf8))
    }
    // The driver probes, gets no answer, and probes again.
    #expect(bench.repeats >= 2)
  }

  @Test("received bytes are processed completely before a deadline expires")
  func answerAtDeadline() {
    let bench = EngineBench {
      $0.receiver = ReceiverSetup()
      $0.parameters.canStandby = true
    }
    // Run until the driver probes; the answer arrives in two parts, the first at the deadline.
    while bench.commands == 0 { bench.run(0.05) }
    let deadline = bench.engine.receiver.driver.status.deadline ?? .distantFuture
    var frame = FrameBuffer()
    frame.appendVersion(UBXVersion(software: "ROM", hardware: "00"))
    let bytes = (0..<frame.count).map { frame[$0] }
    bench.sendAt(deadline, Array(bytes.prefix(10)))
    bench.send(Array(bytes.dropFirst(10)))
    #expect(bench.repeats == 0)
    #expect(bench.commands == 2)
  }

  /// A random walk over all events of an engine.
  struct Walk {
    static let m10 = ReceiverSetup(
      lineSpeed: 38_400, defaultLineSpeed: 9_600, hasWakePin: true,
      batch: BatchSetup(capacity: 50, pioWired: true))

    let bench: EngineBench
    var random: SplitMix64
    var calls = [0, 0, 0]
    var finishes = [0, 0, 0]
    var batchCount: UInt16 = 0

    init(_ seed: UInt64) {
      random = SplitMix64(seed: seed)
      bench = EngineBench(limit: 8, capacity: 20, clients: 3) {
        // Half of the walks use a batching receiver with random answers.
        if seed % 2 == 0 {
          $0.receiver = Walk.m10
          $0.parameters.canStandby = true
          $0.parameters.batch = BatchParameters(capacity: 50, watermark: 6, hasPin: true)
        }
      }
    }

    mutating func step() {
      let client = bench.clients[random.below(3)]
      switch random.below(20) {
      case 0: client.foreground()
      case 1: client.background()
      case 2: client.suspend()
      case 3: client.start()
      case 4: if random.below(3) == 0 { client.stop() }
      case 5: bench.inhibit(random.below(2) == 0)
      case 6:
        calls[client.id.index] += 1
        client.defer(
          untilTraveled: [.unlimited, 30, 0, -1][random.below(4)],
          timeout: [.unlimited, 20, 3, 0][random.below(4)])
      case 7: client.disallow()
      case 8: client.request(.setDesiredAccuracy(random.below(4) == 0 ? 10 : -1))
      case 9: if random.below(4) == 0 { bench.perform(.lineFault) }
      case 10: bench.perform(.batchPin)
      case 11: bench.perform(.time)
      case 12: bench.run(random.fraction() * 40)
      case 13: bench.noFix()
      case 14: answer()
      case 15: bench.send((0..<(1 + random.below(100))).map { _ in UInt8(random.below(256)) })
      default: fix()
      }
      countFinishes()
    }

    private mutating func fix() {
      bench.run(random.fraction())
      bench.sendsNMEA = random.below(3) == 0
      bench.position = bench.position.moved(east: random.fraction() * 20, north: 0)
      bench.utcError = random.below(50) == 0 ? .seconds(Int64(random.below(100))) : bench.utcError
      bench.fix()
    }

    /// A random message of a batching receiver.
    private mutating func answer() {
      var frame = FrameBuffer()
      switch random.below(5) {
      case 0: frame.appendVersion(UBXVersion(software: "ROM SPG 5.10", hardware: "000A0000"))
      case 1: frame.appendAcknowledgement(of: .cfgVALSET, isAccepted: random.below(4) != 0)
      case 2: frame.appendBatchStatus(UBXBatchStatus(fillLevel: UInt16(random.below(4))))
      case 3:
        batchCount &+= 1
        frame.appendBatchEntry(
          UBXBatchEntry(
            messageCount: batchCount, hasExtraPVT: true, solution: UBXSolution(bench.fix)))
      default: frame.appendAcknowledgement(of: .logRETRIEVEBATCH, isAccepted: false)
      }
      bench.send(frame)
    }

    /// Counts finishes and clears the clients' records before they grow large.
    private mutating func countFinishes() {
      for client in bench.clients where client.notices.count > 200 {
        finishes[client.id.index] += client.finishes.count
        client.clearRecords()
      }
    }

    mutating func finish() {
      for client in bench.clients {
        client.foreground()
        client.disallow()
      }
      // Deferrals of a lost receiver end in bounded time.
      bench.run(1_000)
      for client in bench.clients {
        finishes[client.id.index] += client.finishes.count
        #expect(finishes[client.id.index] == calls[client.id.index], "client \(client.id.index)")
      }
    }
  }
}
