import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Time to first fix") struct FirstFixTests {
  private let model = TimeToFix(
    afterOff: [
      .init(off: .zero, fix: .seconds(1)), .init(off: .seconds(60), fix: .seconds(3)),
      .init(off: .seconds(600), fix: .seconds(12)),
    ], coldStart: .seconds(30), ephemerisLifetime: .seconds(7_200), ephemerisDownload: .seconds(20))

  @Test("the table is interpolated between its rows and constant beyond the last row")
  func table() {
    let rows: [(Double, Double)] = [
      (0, 1), (30, 2), (60, 3), (330, 7.5), (600, 12), (5_000, 12), (7_200, 12),
    ]
    for (off, fix) in rows {
      let median = model.median_s(off: Interval(seconds: off), ephemerisAge: Interval(seconds: off))
      #expect(abs(median - fix) < 1e-9)
    }
  }

  @Test("a start is cold without assistance data or with an ephemeris that is too old")
  func cold() {
    #expect(model.median_s(off: nil, ephemerisAge: nil) == 30)
    #expect(model.median_s(off: .seconds(1), ephemerisAge: nil) == 30)
    #expect(model.median_s(off: .seconds(1), ephemerisAge: .seconds(7_201)) == 30)
    let noTable = TimeToFix(afterOff: [], coldStart: .seconds(9))
    #expect(noTable.median_s(off: .zero, ephemerisAge: .zero) == 9)
  }

  private func acquisition(_ change: (inout SimulationSetup) -> Void = { _ in }) -> AcquisitionModel
  {
    var setup = SimulationSetup()
    setup.receiver.timeToFirstFix = model
    change(&setup)
    return AcquisitionModel(setup)
  }

  @Test("a cold start reads the ephemeris: the start after a short fix is warm")
  func coldStartReadsEphemeris() {
    var a = acquisition()
    a.start(at: .boot)
    #expect(a.nextFixTime == seconds(30))
    a.recordFix(at: seconds(30))
    a.stop(at: seconds(30.5))
    a.start(at: seconds(90.5))
    #expect(a.nextFixTime == seconds(93.5))
    a.recordFix(at: seconds(93.5))
    // Too short to read the ephemeris again: it is still that of 30 s.
    a.stop(at: seconds(94.5))
    a.start(at: seconds(30 + 7_200))
    #expect(a.nextFixTime < seconds(30 + 7_200 + 30))
    a.stop(at: seconds(30 + 7_200))
    a.start(at: seconds(30 + 7_201))
    #expect(a.nextFixTime == seconds(30 + 7_201 + 30))
  }

  @Test("an aborted cold start has read no ephemeris")
  func abortedColdStart() {
    var a = acquisition()
    a.start(at: .boot)
    a.stop(at: seconds(29.9))
    a.start(at: seconds(40))
    #expect(a.nextFixTime == seconds(70))
  }

  @Test("a start after tracking is warm; a short fix does not renew the ephemeris")
  func ephemeris() {
    var a = acquisition()
    a.start(at: .boot)
    #expect(a.nextFixTime == seconds(30))
    a.recordFix(at: seconds(30))
    a.stop(at: seconds(49.9))
    a.start(at: seconds(109.9))
    #expect(a.nextFixTime == seconds(112.9))
    a.recordFix(at: seconds(112.9))
    // 47.1 s of tracking: the ephemeris is that of 160 s.
    a.stop(at: seconds(160))
    a.start(at: seconds(220))
    #expect(a.nextFixTime == seconds(223))
    a.recordFix(at: seconds(223))
    a.stop(at: seconds(224))
    a.start(at: seconds(160 + 7_201))
    #expect(a.nextFixTime == seconds(160 + 7_201 + 30), "the ephemeris is that of 160 s")
  }

  @Test("without signal, acquisition starts when the signal returns")
  func noSignal() {
    var a = acquisition {
      $0.faults.signalOutages = [seconds(100)..<seconds(200), seconds(0)..<seconds(50)]
    }
    a.start(at: .boot)
    #expect(a.nextFixTime == seconds(80))
    a.stop(at: seconds(75))
    a.start(at: seconds(75))
    #expect(a.nextFixTime == seconds(230), "an outage restarts the acquisition")
  }

  @Test("assistance data from before the run shorten the first start")
  func before() {
    var a = acquisition { $0.receiver.offBeforeStart = .seconds(60) }
    a.start(at: .boot)
    #expect(a.nextFixTime == seconds(3))
  }

  @Test("sampled times keep the median and the 90th percentile")
  func sampled() {
    var times: [Double] = []
    for seed: UInt64 in 0..<4_000 {
      var a = acquisition {
        $0.seed = seed
        $0.samplesTimeToFirstFix = true
        $0.receiver.timeToFirstFix.p90Ratio = 2
      }
      a.start(at: .boot)
      times.append(a.nextFixTime.seconds)
    }
    times.sort()
    #expect((28.0...32.0).contains(times[2_000]))
    #expect((55.0...65.0).contains(times[3_600]))
  }

  @Test("the receiver reports no fix until the first one, and then enters tracking")
  func bytes() {
    var board = SimulatedBoard(
      streaming { $0.receiver.timeToFirstFix.coldStart = .milliseconds(5_500) }, track: straight())
    let received = receive(&board, until: seconds(10.5))
    #expect(received.solutions.map(\.fixType) == [0, 0, 0, 0, 0, 3, 3, 3, 3, 3])
    #expect(received.solutions[0].utc == nil)
    #expect(!received.solutions[4].isFixOK)
    #expect(received.fixes[0].utc == Scenario.start + .seconds(6))
    // 0.25 s start-up and 5.5 s acquisition.
    #expect(board.ledger.time(of: .acquiring) == .milliseconds(5_750))
    #expect(board.ledger.time(of: .tracking) == .milliseconds(4_750))
  }
}

@Suite("The receiver's fixes") struct FixTests {
  @Test("without noise fixes equal the track within the protocol's resolution")
  func exact() {
    var board = SimulatedBoard(streaming(), track: straight())
    let received = receive(&board, until: seconds(100.5))
    #expect(received.fixes.count == 95)
    var reader = TrackReader(straight())
    for s in received.fixes {
      guard let utc = s.utc else { continue }
      let truth = reader.state(at: utc)
      #expect(abs(Int64(s.latitude_e7) * 100 - truth.coordinate.latitude_e9) <= 50)
      #expect(abs(Int64(s.longitude_e7) * 100 - truth.coordinate.longitude_e9) <= 50)
      #expect(s.groundSpeed_mmps == 10_000)
      #expect(s.headingOfMotion_e5 == 9_000_000)
      #expect(s.heightMSL_mm == 40_000 && s.height_mm == 80_000)
      #expect(s.isFixOK && s.satellites == 12)
    }
  }

  @Test(
    "epochs lie on whole intervals of UTC for any start of the track",
    arguments: [1_000, 400, 5_000])
  func whole(_ interval_ms: Int64) {
    let odd = Track(
      start: Scenario.start + Interval(microseconds: 123_456),
      points: straight().points, gapLimit: .unlimited)
    var board = SimulatedBoard(
      streaming {
        $0.receiver.interval = .milliseconds(interval_ms)
        $0.receiver.timeToFirstFix.coldStart = .milliseconds(100)
      }, track: odd)
    let times = receive(&board, until: seconds(60)).fixes.compactMap(\.utc)
    #expect(times.count >= 60_000 / Int(interval_ms) - 1)
    #expect(times.allSatisfy { $0.microseconds % (interval_ms * 1_000) == 0 })
    for (a, b) in zip(times, times.dropFirst()) { #expect(b - a == .milliseconds(interval_ms)) }
  }

  @Test("a track with irregular points gives a fix each interval")
  func irregular() throws {
    let track = try Track(
      csv: "unix_time,lat,lon,alt,speed\n1000,1,1,,\n1003,1.0003,1,,\n1014,1.0014,1,,\n")
    var board = SimulatedBoard(
      streaming { $0.receiver.timeToFirstFix.coldStart = .milliseconds(500) }, track: track)
    let received = receive(&board, until: seconds(14.5))
    #expect(received.fixes.map(\.latitude_e7) == (1...14).map { 10_000_000 + 1_000 * Int32($0) })
  }

  @Test("equal seeds give equal bytes, other seeds other bytes")
  func seeds() {
    func run(_ seed: UInt64) -> [UInt8] {
      var board = SimulatedBoard(
        streaming {
          $0.seed = seed
          $0.noise = .real
        }, track: straight())
      return receive(&board, until: seconds(60)).bytes
    }
    #expect(run(1) == run(1))
    #expect(run(1) != run(2))
  }

  @Test("NMEA: the sentences of an epoch, with the same position")
  func sentences() {
    var board = SimulatedBoard(
      streaming {
        $0.receiver.output = .nmea
        $0.receiver.defaultSpeed = 9_600
      }, track: straight())
    let received = receive(&board, until: seconds(9.9))
    let text = String(decoding: received.bytes, as: UTF8.self).split(separator: "\r\n")
    let kinds = text.map { $0.dropFirst(3).prefix(3) }
    #expect(
      Array(kinds.prefix(9)) == ["RMC", "GGA", "GSA", "GSV", "GSV", "GSV", "GST", "VTG", "ZDA"])
    #expect(kinds.count == 9 * 9)
    var positions: [Coordinate] = []
    for message in received.messages {
      switch message {
      case .rmc(let m):
        if m.isValid, let position = m.coordinate { positions.append(position) }
      case .gga(let m): #expect((m.quality == 0) == (m.coordinate == nil))
      case .gst(let m): #expect(m.latitude_mm == nil || m.latitude_mm == 700)
      default: break
      }
    }
    #expect(positions.count == 4)
    var reader = TrackReader(straight())
    for (i, position) in positions.enumerated() {
      let truth = reader.state(at: Scenario.start + .seconds(Int64(6 + i)))
      #expect(position.localDistance(to: truth.coordinate) < 0.02)
    }
  }

  @Test("a line that is too slow for the output loses whole messages, never parts")
  func slow() {
    var board = SimulatedBoard(
      streaming {
        $0.receiver.defaultSpeed = 4_800
        $0.receiver.interval = .milliseconds(100)
      }, track: straight())
    let received = receive(&board, until: seconds(60))
    #expect(board.droppedEpochs > 200)
    #expect(received.solutions.count == received.bytes.count / 100)
  }

  @Test("sent bytes can be recorded")
  func tap() {
    var board = SimulatedBoard(streaming { $0.recordsBytes = true }, track: straight())
    let received = receive(&board, until: seconds(20.5))
    #expect(board.removeSentBytes() == received.bytes)
    #expect(board.removeSentBytes().isEmpty)
  }
}

@Suite("The receiver's errors") struct NoiseTests {
  private func errors(_ count: Int, seed: UInt64 = 1) -> [EpochError] {
    var process = NoiseProcess(.real, seed: seed)
    return (0..<count).map {
      process.error(at: UTCTime(microseconds: Int64($0) * 1_000_000), sinceFix: .seconds(1_000))
    }
  }

  @Test("sigma, mean and correlation equal the parameters")
  func statistics() {
    let all = errors(200_000)
    for values in [all.map(\.east), all.map(\.north)] {
      let mean = values.reduce(0, +) / Double(values.count)
      let variance = values.reduce(0) { $0 + $1 * $1 } / Double(values.count)
      #expect(abs(mean) < 0.15)
      #expect(abs(variance.squareRoot() - 1.4036) < 0.1)
      var lagged = 0.0
      for i in 90..<values.count { lagged += values[i] * values[i - 90] }
      let correlation = lagged / Double(values.count - 90) / variance
      #expect(abs(correlation - 0.366) < 0.06)
    }
    let cross = zip(all.map(\.east), all.map(\.north)).reduce(0) { $0 + $1.0 * $1.1 }
    #expect(abs(cross / Double(all.count)) < 0.2)
    let up = all.map(\.up).reduce(0) { $0 + $1 * $1 } / Double(all.count)
    #expect(abs(up.squareRoot() - 2.402) < 0.2)
    let speed = all.map(\.velocityEast).reduce(0) { $0 + $1 * $1 } / Double(all.count)
    #expect(abs(speed.squareRoot() - 0.04) < 0.001)
  }

  @Test("the reported accuracy is consistent: about 63 % of positions lie within it")
  func consistent() {
    let all = errors(200_000)
    let within = all.filter {
      $0.east * $0.east + $0.north * $0.north <= $0.horizontalAccuracy * $0.horizontalAccuracy
    }
    #expect((0.57...0.68).contains(Double(within.count) / Double(all.count)))
  }

  @Test("a first fix has a larger error and reports it")
  func firstFix() {
    var process = NoiseProcess(.real, seed: 1)
    let first = process.error(at: UTCTime(microseconds: 0), sinceFix: .zero)
    var other = NoiseProcess(.real, seed: 1)
    let later = other.error(at: UTCTime(microseconds: 0), sinceFix: .seconds(1_000))
    #expect(abs(first.horizontalAccuracy / later.horizontalAccuracy - 3) < 0.05)
    #expect(abs(first.east) > abs(later.east))
  }

  @Test("the speed of a stationary receiver is below 0.25 m/s")
  func stationary() {
    var board = SimulatedBoard(
      streaming { $0.noise = .real }, track: Scenario.still.track(seed: 1))
    let fixes = receive(&board, until: seconds(3_000)).fixes
    #expect(fixes.allSatisfy { $0.groundSpeed_mmps < 250 })
    #expect(fixes.contains { $0.groundSpeed_mmps > 20 })
  }

  @Test("errors 15 minutes apart are uncorrelated")
  func pause() {
    var process = NoiseProcess(.real, seed: 4)
    var sum = 0.0
    var products = 0.0
    var last = 0.0
    for i in 0..<20_000 {
      let e = process.error(
        at: UTCTime(microseconds: Int64(i) * 900_000_000), sinceFix: .seconds(1_000)
      ).east
      sum += e * e
      products += e * last
      last = e
    }
    #expect(abs(products / sum) < 0.03)
  }
}
