import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// NMEA output of a receiver, one RMC per epoch.
private struct Sentences {
  var bytes: [UInt8] = []

  mutating func add(_ body: String) {
    let sum = body.utf8.reduce(UInt8(0), ^)
    let digits = String(sum, radix: 16, uppercase: true)
    bytes += Array("$\(body)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
  }

  private static func two(_ value: some BinaryInteger) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }

  private static func time(_ utc: UTCTime) -> String {
    let second = utc.microsecondsOfDay / 1_000_000
    return two(second / 3_600) + two(second / 60 % 60) + two(second % 60) + ".00"
  }

  /// Adds epochs one second apart, from `start` on.
  mutating func addRMC(_ start: UTCTime, count: Int64 = 1, isValid: Bool = true) {
    for i in 0..<count {
      let utc = start + .seconds(i)
      let date = utc.date
      let day = Self.two(date.day) + Self.two(date.month) + Self.two(date.year % 100)
      add(
        isValid
          ? "GPRMC,\(Self.time(utc)),A,5231.2000,N,01324.0000,E,10.0,90.0,\(day),,,A"
          : "GPRMC,\(Self.time(utc)),V,,,,,,,\(day),,,N")
    }
  }

  /// Adds positions without a date.
  mutating func addGGA(_ start: UTCTime, count: Int64) {
    for i in 0..<count {
      let time = Self.time(start + .seconds(i))
      add("GPGGA,\(time),5231.2000,N,01324.0000,E,1,08,0.9,40.0,M,40.0,M,,")
    }
  }
}

private func utc(_ year: Int, _ month: Int, _ day: Int, _ second: Int64 = 0) -> UTCTime {
  guard let date = CalendarDate(year: year, month: month, day: day) else {
    preconditionFailure("a day of the calendar")
  }
  return date.start + .seconds(second)
}

@Suite("Send times of a recording's bytes") struct RecordingScanTests {
  private static let morning = utc(2026, 3, 1, 36_000)

  private func scan(_ fill: (inout Sentences) -> Void) -> RecordingScan {
    var sentences = Sentences()
    fill(&sentences)
    let scan = RecordingScan(
      sentences.bytes, date: nil, interval: .seconds(1), lineSpeed: 115_200)
    let chunks = scan.recording.chunks
    #expect(zip(chunks, chunks.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(chunks.first?.range.lowerBound == 0)
    #expect(
      zip(chunks, chunks.dropFirst()).allSatisfy { $0.range.upperBound == $1.range.lowerBound })
    #expect(chunks.last?.range.upperBound == sentences.bytes.count)
    #expect(chunks.last.map { $0.time < scan.end } == true)
    return scan
  }

  /// Times of the epochs' chunks, whole seconds.
  private func times(_ scan: RecordingScan) -> [Int64] {
    let chunks = scan.recording.chunks
    // At most the line end of the last sentence remains.
    let remainder = chunks.dropFirst(scan.epochs)
    #expect(remainder.count <= 1 && remainder.allSatisfy { $0.range.count == 2 })
    return chunks.prefix(scan.epochs).map {
      #expect($0.time.microseconds % 1_000_000 == 0)
      return $0.time.microseconds / 1_000_000
    }
  }

  /// Times of the fixes of a replay.
  private func replay(_ scan: RecordingScan) throws -> [Instant] {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    var script = ClientScript()
    script.timeout = 100
    var fixTimes: [Instant] = []
    var delivered = 0
    let result = SimulationRun(profile, script).replay(
      scan,
      sink: {
        if case .fix = $0.kind { fixTimes.append($0.at) }
        if case .batch(_, _, _, let count) = $0.kind { delivered += count }
      })
    #expect(result.violations.isEmpty, "\(result.violations)")
    #expect(result.summary.lost == 0)
    #expect(delivered == fixTimes.count)
    return fixTimes
  }

  private func seconds(from a: Instant, to b: Instant) -> Double { (b - a).seconds.rounded() }

  @Test("each epoch is sent at its second; a gap of 1,250 s keeps its length")
  func gap() throws {
    let scan = scan {
      $0.addRMC(Self.morning, count: 60)
      $0.addRMC(Self.morning + .seconds(59 + 1_250), count: 60)
    }
    #expect(times(scan) == Array(0..<60) + Array(1_309..<1_369))
    let fixTimes = try replay(scan)
    #expect(fixTimes.count == 120)
    #expect(seconds(from: fixTimes[59], to: fixTimes[60]) == 1_250)
  }

  @Test("one implausible date does not change the times", arguments: [0, 1, 30, 59] as [Int64])
  func implausibleDate(_ index: Int64) {
    for days: Int64 in [400, -400, 1, -7_168] {
      let scan = scan {
        for i: Int64 in 0..<60 {
          let second = Self.morning + .seconds(i)
          $0.addRMC(i == index ? second + .seconds(days * 86_400) : second)
        }
      }
      #expect(times(scan) == Array(0..<60))
    }
  }

  @Test("an implausible date right before a tunnel does not change the times")
  func implausibleDateBeforeTunnel() {
    let scan = scan {
      $0.addRMC(Self.morning, count: 10)
      $0.addRMC(Self.morning + .seconds(400 * 86_400 + 10))
      $0.addRMC(Self.morning + .seconds(11), count: 10, isValid: false)
      $0.addRMC(Self.morning + .seconds(21), count: 10)
    }
    #expect(times(scan) == Array(0..<31))
  }

  @Test("two drives 45 days apart keep their distance in time, without a violation")
  func drives() throws {
    let gap: Int64 = 45 * 86_400
    let scan = scan {
      $0.addRMC(Self.morning, count: 60)
      $0.addRMC(Self.morning + .seconds(gap), count: 60)
    }
    // The date of the first epoch after the jump is not accepted yet.
    #expect(times(scan) == Array(0..<61) + Array(gap + 1..<gap + 60))
    let fixTimes = try replay(scan)
    #expect(fixTimes.count == 120)
    #expect(seconds(from: fixTimes[60], to: fixTimes[61]) == Double(gap + 1 - 60))
  }

  @Test("if two epochs confirm an earlier time, the clock continues without a jump")
  func back() {
    let scan = scan {
      $0.addRMC(Self.morning, count: 60)
      $0.addRMC(Self.morning - .seconds(30 * 86_400), count: 60)
    }
    #expect(times(scan) == Array(0..<120))
  }

  @Test("a cold start dated 1980 and the correct date after it are one recording")
  func coldStart() throws {
    let scan = scan {
      $0.addRMC(utc(1980, 1, 6, 5), count: 30, isValid: false)
      $0.addRMC(Self.morning, count: 60)
    }
    #expect(times(scan) == Array(0..<90))
    #expect(try replay(scan).count == 60)
  }

  @Test("setting the clock before the first position takes no time")
  func clockSet() {
    let scan = scan {
      $0.addRMC(utc(1980, 1, 6, 5), count: 10, isValid: false)
      $0.addRMC(Self.morning, count: 10, isValid: false)
      $0.addRMC(Self.morning - .seconds(20_000), count: 10, isValid: false)
      $0.addRMC(Self.morning + .seconds(10), count: 10)
    }
    #expect(times(scan) == Array(0..<40))
  }

  @Test("a cold start with the correct time of day keeps its time to fix")
  func rightTimeOfDay() {
    let scan = scan {
      $0.addRMC(utc(2006, 7, 16, 36_000), count: 10, isValid: false)
      $0.addRMC(Self.morning + .seconds(40), count: 10)
    }
    #expect(times(scan) == Array(0..<10) + Array(40..<50))
  }

  @Test("a date of ZDA without a position is not accepted either")
  func datedWithoutPosition() {
    let scan = scan {
      for i in 0..<10 {
        $0.add("GPRMC,00000\(i).00,V,,,,,,,060180,,,N")
        $0.add("GPZDA,00000\(i).00,06,01,1980,00,00")
      }
      $0.addRMC(Self.morning, count: 10)
    }
    #expect(times(scan) == Array(0..<20))
  }

  @Test("a tunnel and a second cold start do not shift later epochs")
  func secondColdStart() {
    let day: Int64 = 86_400
    let scan = scan {
      $0.addRMC(Self.morning, count: 10)
      $0.addRMC(Self.morning + .seconds(10), count: 10, isValid: false)
      $0.addRMC(Self.morning + .seconds(20), count: 10)
      $0.addRMC(utc(1980, 1, 6, 5), count: 10, isValid: false)
      $0.addRMC(Self.morning + .seconds(day), count: 10)
    }
    #expect(times(scan) == Array(0..<41) + Array(day + 1..<day + 10))
  }

  @Test("positions without a date advance by time of day, across midnight and gaps")
  func undated() {
    let evening = utc(2026, 3, 1, 86_390)
    let scan = scan {
      $0.addGGA(evening, count: 20)
      $0.addGGA(evening + .seconds(20 + 1_250), count: 20)
    }
    #expect(times(scan) == Array(0..<20) + Array(1_270..<1_290))
    let dated = RecordingScan(
      Array("# Date: 2026-03-01\n".utf8) + scan.recording.bytes, date: nil,
      interval: .seconds(1), lineSpeed: 115_200)
    #expect(times(dated) == Array(0..<20) + Array(1_270..<1_290))
  }
}
