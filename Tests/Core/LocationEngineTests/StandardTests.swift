import GNSSProtocols
import LocationPolicy
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Standard location updates")
struct StandardTests {
  @Test("STD-3: a start delivers nothing immediately, then every fix; a second start has no effect")
  func start() {
    let bench = EngineBench(connects: false)
    bench.client.connect()
    bench.client.start()
    #expect(bench.client.notices.isEmpty)
    bench.fixes(count: 2)
    bench.client.start()
    bench.fixes(count: 1)
    #expect(bench.client.text == "batch(0...0) batch(1...1) batch(2...2)")
  }

  @Test("STD-3: stop and start give a new initial event, with a new fix")
  func startAgain() {
    let bench = EngineBench()
    bench.client.request(.setDistanceFilter(1_000))
    bench.fixes(count: 2)
    bench.client.stop()
    bench.fixes(count: 2)
    bench.client.start()
    #expect(bench.client.sequences == [0])
    bench.fixes(count: 2)
    #expect(bench.client.sequences == [0, 2])
  }

  @Test("STD-4: the filter is measured from the last delivered fix")
  func filter() {
    let bench = EngineBench()
    bench.client.request(.setDistanceFilter(25))
    bench.fixes(count: 10, east: 10)
    #expect(bench.client.sequences == [0, 3, 6, 9])
  }

  @Test("STD-6: fixes delivered together are one batch, oldest first, never empty")
  func oldestFirst() {
    let bench = EngineBench()
    bench.client.suspend()
    bench.fixes(count: 5)
    #expect(bench.client.notices.isEmpty)
    bench.background()
    #expect(bench.client.text == "batch(0...4)")
    let times = bench.client.fixes.map(\.fix.acquired)
    #expect(times == times.sorted())
  }

  @Test("STD-7: a fix has the time of its measurement, not of its delivery")
  func acquired() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    let start = bench.now
    bench.fixes(count: 3)
    bench.run(60)
    #expect(
      bench.client.fixes.map { $0.fix.acquired } == (1...3).map { start + .seconds($0) })
    #expect(
      bench.client.fixes.map { $0.fix.utc }
        == (1...3).map {
          EngineBench.base + (start - .boot) + .seconds($0)
        })
  }

  @Test("STD-8: location is the newest delivered fix, not a cached one")
  func location() {
    let bench = EngineBench()
    bench.fixes(count: 2)
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 2)
    let id = bench.client.id
    #expect(bench.location(of: id)?.name.sequence == 1)
    bench.foreground()
    #expect(bench.location(of: id)?.name.sequence == 3)
    #expect(EngineBench(clients: 2).location(of: ClientID(1)) == nil)
  }

  @Test("STD-10: without a fix, clients receive error 0 once per acquisition, and updates continue")
  func unknown() {
    let bench = EngineBench { $0.locationUnknownTimeout = .seconds(20) }
    bench.noFix()
    for _ in 0..<60 {
      bench.run(1)
      bench.noFix()
    }
    #expect(bench.client.text == "fail(0)")
    #expect(
      (bench.client.times.first ?? .distantFuture) - Instant(microseconds: 10_000_000)
        == .seconds(20))
    bench.fixes(count: 1)
    #expect(bench.client.text == "fail(0) batch(0...0)")
    bench.run(1)
    bench.noFix()
    bench.run(18.9)
    #expect(bench.client.failures.count == 1)
    bench.run(0.1)
    #expect(bench.client.text == "fail(0) batch(0...0) fail(0)")
  }

  @Test("STD-10: fixes received without demand do not shorten the timeout of a later client")
  func fixesWithoutDemand() {
    let bench = EngineBench(connects: false) { $0.parameters.canStandby = true }
    bench.client.connect()
    bench.client.start()
    bench.fixes(count: 3)
    bench.client.stop()
    #expect(!bench.isReceiverAwake)
    bench.fixes(count: 3)
    bench.run(300)
    bench.client.start()
    bench.run(50)
    #expect(bench.client.failures.isEmpty)
    bench.run(20)
    #expect(bench.client.failures == [.locationUnknown])
  }

  @Test("PWR-1: without signal, single fixes cause no extra wakes beside a client of all fixes")
  func noSignalForAll() {
    let bench = EngineBench(clients: 2)
    bench.clients[1].request(.setDesiredAccuracy(100))
    bench.clients[1].background()
    bench.clients[0].stop()
    bench.fixes(count: 3)
    bench.run(20)
    bench.clients[0].start()
    let steps = bench.steps
    for _ in 0..<300 {
      bench.run(1)
      bench.noFix()
    }
    #expect(bench.steps - steps < 300 * 10)
  }

  @Test("STD-10: a silent receiver results in locationUnknown")
  func silence() {
    let bench = EngineBench { $0.locationUnknownTimeout = .seconds(20) }
    bench.fixes(count: 1)
    bench.run(19)
    #expect(bench.client.failures.isEmpty)
    bench.run(2)
    #expect(bench.client.failures == [.locationUnknown])
    bench.run(1_000)
    #expect(bench.client.failures == [.locationUnknown])
    bench.fixes(count: 2)
    bench.run(30)
    #expect(bench.client.failures == [.locationUnknown, .locationUnknown])
  }

  @Test("STD-10: a client that starts during a long acquisition receives error 0 immediately")
  func unknownLater() {
    let bench = EngineBench(clients: 2, connects: false)
    let (first, second) = (bench.clients[0], bench.clients[1])
    first.connect()
    first.start()
    bench.noFix()
    bench.run(70)
    second.connect()
    second.start()
    #expect(first.text == "fail(0)")
    #expect(second.text == "fail(0)")
    second.stop()
    bench.run(70)
    #expect(first.text == "fail(0)")
  }

  @Test("STD-10: a client that starts while the receiver is lost receives error 0 immediately")
  func unknownWhileLost() {
    let bench = EngineBench(clients: 3, connects: false)
    let (first, second, third) = (bench.clients[0], bench.clients[1], bench.clients[2])
    first.connect()
    first.start()
    bench.fixes(count: 1)
    // The receiver is silent: a waiting client receives the error after the timeout, a new client
    // receives it immediately.
    bench.run(20)
    #expect(first.failures.isEmpty)
    second.connect()
    second.start()
    #expect(second.failures == [.locationUnknown] && first.failures.isEmpty)
    bench.run(60)
    #expect(second.failures == [.locationUnknown] && first.failures == [.locationUnknown])
    // The receiver sends again.
    bench.fixes(count: 1)
    #expect(!second.fixes.isEmpty)
    bench.perform(.lineFault)
    third.connect()
    third.start()
    #expect(third.failures == [.locationUnknown])
    bench.fixes(count: 2)
    #expect(third.fixes.count == 2 && third.failures.count == 1)
  }

  @Test("STD-10: a long acquisition does not interrupt an engaged deferral")
  func unknownDeferred() {
    let bench = EngineBench()
    bench.fixes(count: 1)
    bench.background()
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    for _ in 0..<30 {
      bench.noFix()
      bench.run(10)
    }
    #expect(bench.client.notices.isEmpty)
    bench.foreground()
    #expect(bench.client.text == "fail(0)")
  }

  @Test("STD-10: denial is reported as error 1, at the change and at a start")
  func denied() {
    let bench = EngineBench()
    bench.client.request(.setAuthorization(.denied))
    #expect(bench.client.text == "fail(1)")
    bench.client.request(.setAuthorization(.denied))
    #expect(bench.client.text == "fail(1)")
    bench.client.stop()
    bench.client.start()
    #expect(bench.client.text == "fail(1) fail(1)")
    bench.fixes(count: 3)
    #expect(bench.client.batches.isEmpty)
    bench.client.request(.setAuthorization(.always))
    bench.fixes(count: 1)
    #expect(bench.client.sequences == [0])
  }

  @Test("STD-12: a suspended client receives nothing, and all fixes once it runs")
  func suspended() {
    let bench = EngineBench()
    bench.fixes(count: 1)
    bench.client.suspend()
    bench.fixes(count: 3)
    #expect(bench.client.sequences == [0])
    bench.foreground()
    #expect(bench.client.text == "batch(0...0) batch(1...3)")
  }

  @Test("STD-12: after a client disconnects, the receiver is switched off")
  func disconnected() {
    let bench = EngineBench {
      $0.receiver?.hasSupplySwitch = true
      $0.parameters.canSwitchOff = true
    }
    #expect(bench.isReceiverAwake)
    bench.run(1)
    bench.client.request(.disconnect)
    bench.run(2)
    #expect(!bench.isReceiverAwake)
    #expect(bench.pins.last == PinCommand(.receiverSupply, .inactive))
  }

  @Test("STD-13: a fix without UTC is delivered without a date, never as 1970")
  func noUTC() {
    let bench = EngineBench()
    bench.hasUTC = false
    bench.fixes(count: 2)
    #expect(bench.client.fixes.map(\.fix.utc) == [nil, nil])
    #expect(bench.client.fixes[0].fix.acquired == bench.now - .seconds(1))
  }

  @Test("STD-13: sentences without a date give only a time of day, and therefore no UTC")
  func noDate() {
    let bench = EngineBench()
    var frame = FrameBuffer()
    frame.append(GGA(bench.fix, horizontalDOP_e2: 90))
    bench.send(frame)
    bench.run(1)
    #expect(bench.client.fixes.count == 1)
    #expect(bench.client.fixes.first?.fix.utc == nil)
  }

  @Test("STD-13: a week rollover is corrected by the build date, and the date is flagged")
  func rollover() {
    let bench = EngineBench { $0.epochs.earliestDate = CalendarDate(year: 2025, month: 1, day: 1) }
    bench.utcError = .seconds(-1_024 * 7 * 86_400)
    bench.fixes(count: 2)
    #expect(bench.client.fixes[0].fix.utc == EngineBench.base + (bench.now - .boot) - .seconds(1))
    #expect(bench.client.fixes[0].fix.isDateUncertain)
    bench.utcError = .zero
    bench.fixes(count: 1)
    #expect(!bench.client.fixes[2].fix.isDateUncertain)
  }

  @Test("LOC-1: a position that the receiver marks invalid is no fix")
  func invalid() {
    let bench = EngineBench()
    bench.fix { $0.isFixOK = false }
    bench.run(1)
    bench.fix { $0.fixType = 0 }
    bench.run(1)
    bench.fix { $0.latitude_e7 = 910_000_000 }
    bench.run(1)
    #expect(bench.head == 0 && bench.client.notices.isEmpty)
  }

  @Test("LOC-4: accuracy is the sent error estimate, else DOP times range error, else assumed")
  func accuracy() {
    let bench = EngineBench {
      $0.epochs.rangeError_mm = 4_000
      $0.assumedAccuracy_mm = 12_345
    }
    bench.fixes(count: 1)
    #expect(bench.newest?.horizontalAccuracy_mm == 2_000)
    bench.run(1)
    var frame = FrameBuffer()
    frame.append(GGA(bench.fix, horizontalDOP_e2: 150))
    bench.send(frame)
    bench.run(1)
    #expect(bench.newest?.horizontalAccuracy_mm == 6_000)
    frame.removeAll()
    frame.append(RMC(bench.fix))
    bench.send(frame)
    bench.run(1)
    #expect(bench.newest?.horizontalAccuracy_mm == 12_345)
    #expect(bench.head == 3)
  }

  @Test("the same bytes give the same fixes for every chunk size", arguments: [1, 2, 7, 64, 128])
  func chunks(_ size: Int) {
    let bench = EngineBench()
    bench.sendsNMEA = true
    var bytes: [UInt8] = []
    for second in 1...3 {
      var frame = FrameBuffer()
      var fix = bench.fix
      fix.utc = EngineBench.base + .seconds(Int64(second))
      frame.append(RMC(fix), format: .finest)
      frame.append(GGA(fix, horizontalDOP_e2: 90), format: .finest)
      fix.utc = EngineBench.base + .seconds(Int64(second)) + .milliseconds(500)
      frame.appendNavPVT(UBXSolution(fix))
      for i in 0..<frame.count { bytes.append(frame[i]) }
    }
    bench.send(bytes, chunk: size)
    bench.run(1)
    #expect(
      bench.client.fixes.map { ($0.fix.utc! - EngineBench.base).microseconds / 100_000 } == [
        10, 15, 20, 25, 30, 35,
      ])
  }

  @Test("an epoch of sentences ends with the next epoch, or with silence on the line")
  func epochEnd() {
    let bench = EngineBench()
    bench.sendsNMEA = true
    bench.fix()
    #expect(bench.head == 0)
    #expect(bench.plan.board == .idle && bench.plan.wake == bench.now + .milliseconds(10))
    bench.run(0.099)
    #expect(bench.head == 0)
    bench.run(0.001)
    #expect(bench.head == 1)
    #expect(bench.plan.board == .idle)
    #expect(bench.client.fixes.first?.fix.acquired == bench.now - .milliseconds(100))
  }

  @Test("after a silence, the bytes of an unfinished frame are parsed again")
  func unfinishedFrame() {
    let bench = EngineBench()
    // The start of a frame of 900 bytes, then a complete frame.
    bench.send([0xB5, 0x62, 0x01, 0x35, 0x84, 0x03])
    bench.fix()
    bench.run(0.249)
    #expect(bench.head == 0)
    bench.run(0.002)
    #expect(bench.head == 1)
    #expect(bench.plan.board == .idle)
  }
}
