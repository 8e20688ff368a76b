import LocationTypes
import Testing

@testable import GNSSProtocols

private func rmc(_ time: String, _ date: String) -> String {
  "GPRMC,\(time),A,4800.0,N,01100.0,E,1.0,90.0,\(date),,,A"
}
private func gga(_ time: String) -> String {
  "GPGGA,\(time),4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,"
}
private let unknownRMC = "GPRMC,,V,,,,,,,,,,N"
private let unknownGGA = "GPGGA,,,,,,0,00,,,,,,,"

private func utc(_ year: Int, _ month: Int, _ day: Int, _ seconds: Int64) -> UTCTime {
  CalendarDate(year: year, month: month, day: day)!.start + .seconds(seconds)
}

@Suite("ZDA with RMC, and alone") struct ZDADateTests {
  private func day(
    _ sentences: String..., change: (inout EpochOptions) -> Void = { _ in }
  ) -> (CalendarDate?, Bool?) {
    var options = EpochOptions()
    change(&options)
    let first = epochs(sentences.flatMap { sentence($0) }, options).first
    return (first?.utc?.date, first?.isDateUncertain)
  }

  @Test(
    "STD-13: a two-digit year in ZDA is read as in RMC",
    arguments: [
      ("14", 2014), ("0014", 2014), ("00", 2000), ("79", 2079), ("80", 1980), ("2014", 2014),
      ("2080", 2080),
    ])
  func twoDigits(text: String, year: Int) {
    let found = day(gga("120000"), "GPZDA,120000,16,06,\(text),00,00")
    #expect(found == (CalendarDate(year: year, month: 6, day: 16), false))
  }

  @Test(
    "STD-13: with a recording date, a two-digit year means the nearest century, without rollover")
  func recorded() {
    let found = day(gga("120000"), "GPZDA,120000,16,06,14,00,00") {
      $0.recordingDate = CalendarDate(year: 2014, month: 6, day: 17)
    }
    #expect(found == (CalendarDate(year: 2014, month: 6, day: 16), false))
  }

  @Test(
    "STD-13: an out-of-range ZDA year is ignored: RMC's date is used and is not disputed",
    arguments: ["1979", "3000", "114", "9999", "65535", "1914"])
  func outOfRange(year: String) {
    let zda = "GPZDA,120000,16,06,\(year),00,00"
    let right = CalendarDate(year: 2014, month: 6, day: 16)
    #expect(day(rmc("120000", "160614"), zda) == (right, false))
    #expect(day(zda, gga("120000")).0 == nil)
    #expect(day(gga("120000"), zda).0 == nil)
  }

  @Test("STD-13: if ZDA and RMC report different days, RMC's is used and marked uncertain")
  func disputed() {
    let zda = "GPZDA,120000,17,06,2014,00,00"
    let found = day(rmc("120000", "160614"), zda)
    #expect(found == (CalendarDate(year: 2014, month: 6, day: 16), true))
    #expect(
      day(rmc("120000", "170614"), zda) == (CalendarDate(year: 2014, month: 6, day: 17), false))
  }

  @Test("STD-13: without a fix, ZDA's time is used and marked, at any position in the cycle")
  func alone() {
    func zda(_ second: Int) -> String { "GPZDA,12000\(second),16,06,2014,00,00" }
    let last = (0..<4).flatMap { [unknownRMC, unknownGGA, zda($0)] }
    let first = (0..<4).flatMap { [zda($0), unknownRMC, unknownGGA] }
    for cycle in [last, first] {
      let found = epochs(cycle.flatMap { sentence($0) })
      #expect(found.map(\.utc) == (0..<4).map { utc(2014, 6, 16, 43_200 + $0) })
      #expect(found.allSatisfy { $0.isDateUncertain && $0.mode == .noFix && $0.fix == nil })
    }
    // The time of another sentence takes precedence over ZDA's.
    let reported = epochs(
      (sentence(unknownGGA) + sentence(zda(5)) + sentence("GPRMC,120001,V,,,,,,,,,,N")))
    #expect(reported.map(\.timeOfDay_us) == [43_201_000_000])
  }

  @Test("STD-13: if a receiver sends only ZDA, each is an epoch without position status")
  func onlyZDA() {
    let lines = (0..<3).map { "GPZDA,12000\($0),16,06,2014,00,00" }
    let found = epochs(lines.flatMap { sentence($0) })
    #expect(found.map(\.utc) == (0..<3).map { utc(2014, 6, 16, 43_200 + $0) })
    #expect(found.allSatisfy { $0.mode == .notSeen && $0.isDateUncertain })
    // Next to RMC, ZDA creates no epoch of its own, before or after the first fix.
    let mixed = epochs(
      sentence(lines[1]) + sentence(rmc("120001", "160614")) + sentence(lines[2]))
    #expect(mixed.map(\.utc) == [utc(2014, 6, 16, 43_201)])
  }
}

@Suite("Times of one epoch that differ by rounding") struct RoundedTimeTests {
  @Test("sentences whose times differ by at most 15 ms are one epoch with the first one's time")
  func tolerance() {
    for (second, count) in [("303", 1), ("315", 1), ("3151", 2), ("285", 1), ("2849", 2)] {
      let found = epochs(
        sentence(rmc("120000.30", "160614")) + sentence(gga("120000.\(second)"))
          + sentence("GPGLL,4800.0,N,01100.0,E,120000.30,A"))
      #expect(found.count == count, "\(second)")
      guard count == 1 else { continue }
      #expect(found.map(\.timeOfDay_us) == [43_200_300_000])
      #expect(found.first?.fix?.altitude_mm == 500_000 && found.first?.utc != nil)
    }
    // The two times are on different sides of midnight.
    let midnight = epochs(
      sentence(gga("235959.995")) + sentence("GPGLL,4800.0,N,01100.0,E,000000.00,A"))
    #expect(midnight.map(\.timeOfDay_us) == [86_399_995_000])
  }

  @Test("100 epochs per second stay separate")
  func fast() {
    let lines = (0..<20).flatMap { i in
      let time = "120000.\(i < 10 ? "0" : "")\(i)"
      return [rmc(time, "160614"), gga(time)]
    }
    let found = epochs(lines.flatMap { sentence($0) })
    #expect(found.map { ($0.timeOfDay_us ?? 0) / 10_000 % 100 } == Array(0..<20))
    #expect(found.allSatisfy { $0.fix?.altitude_mm == 500_000 })
  }

  @Test("at 100 epochs per second, a lost sentence neither merges epochs nor makes one late")
  func lost() {
    let lines = [
      rmc("120000.00", "160614"), gga("120000.00"), gga("120000.01"), rmc("120000.02", "160614"),
      gga("120000.02"),
    ]
    let found = epochs(lines.flatMap { sentence($0) })
    #expect(found.map { ($0.timeOfDay_us ?? 0) / 1_000 % 1_000 } == [0, 10, 20])
    var assembler = EpochAssembler()
    for message in decode(lines[..<2].flatMap { sentence($0) }).messages {
      _ = assembler.add(message, at: .boot)
    }
    #expect(assembler.close() != nil)
    for message in decode(sentence(lines[2])).messages { _ = assembler.add(message, at: .boot) }
    #expect(assembler.isOpen)
  }

  @Test("STD-13: a date applies only to its own side of midnight, even to times close to it")
  func midnight() {
    let before = [rmc("235958.995", "160624"), gga("235959.995")]
    let late = utc(2024, 6, 16, 86_399) + .milliseconds(995)
    let found = epochs((before + [rmc("000000.00", "170624")]).flatMap { sentence($0) })
    #expect(found.map(\.utc) == [late - .seconds(1), late, utc(2024, 6, 17, 0)])
    #expect(!found.contains { $0.isDateUncertain })
    // It is not late for the epoch before midnight either.
    var assembler = EpochAssembler()
    for message in decode(before.flatMap { sentence($0) }).messages {
      _ = assembler.add(message, at: .boot)
    }
    #expect(assembler.close()?.utc == late)
    for message in decode(sentence(rmc("000000.00", "170624"))).messages {
      #expect(assembler.add(message, at: .boot) == nil)
    }
    #expect(assembler.close()?.utc == utc(2024, 6, 17, 0))
    let zda = epochs(
      (before + ["GPZDA,000000.00,17,06,2024,00,00", gga("000000.995")]).flatMap { sentence($0) })
    #expect(zda.map(\.utc) == [late - .seconds(1), late, late + .seconds(1)])
  }

  @Test("a late sentence with a differently rounded time is ignored, and time does not go back")
  func late() {
    var assembler = EpochAssembler()
    for message in decode(sentence(gga("120000.303"))).messages {
      #expect(assembler.add(message, at: .boot) == nil)
    }
    #expect(assembler.close() != nil)
    for message in decode(sentence("GPGLL,4800.0,N,01100.0,E,120000.30,A")).messages {
      #expect(assembler.add(message, at: .boot) == nil && !assembler.isOpen)
    }
  }
}

@Suite("Date jumps") struct DateLeapTests {
  private func pvt(_ time: UTCTime) -> [UInt8] {
    var frame = FrameBuffer()
    frame.appendNavPVT(
      UBXSolution(
        utc: time, fixType: 3, isFixOK: true, longitude_e7: 110_000_000, latitude_e7: 480_000_000,
        height_mm: 1, horizontalAccuracy_mm: 2))
    return bytes(frame)
  }

  private func text(_ time: UTCTime) -> (time: String, date: String) {
    let date = time.date
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let seconds = Int(time.microsecondsOfDay / 1_000_000)
    return (
      two(seconds / 3_600) + two(seconds / 60 % 60) + two(seconds % 60),
      two(date.day) + two(date.month) + two(date.year % 100)
    )
  }

  /// Date marks for these times, sent as RMC, as ZDA before RMC, and as NAV-PVT.
  private func marks(_ times: [UTCTime]) -> [[Bool]] {
    var streams: [[UInt8]] = [[], [], []]
    for time in times {
      let (clock, date) = text(time)
      let year = time.date.year
      streams[0] += sentence(rmc(clock, date))
      streams[1] += sentence(
        "GPZDA,\(clock),\(date.prefix(2)),\(date.dropFirst(2).prefix(2)),\(year),00,00")
      streams[1] += sentence(rmc(clock, date))
      streams[2] += pvt(time)
    }
    return streams.map { stream in
      let found = epochs(stream)
      #expect(found.map(\.utc) == times)
      #expect(found.allSatisfy { $0.fix?.isDateUncertain == $0.isDateUncertain })
      return found.map(\.isDateUncertain)
    }
  }

  private let noon = utc(2024, 6, 16, 43_200)

  /// Consecutive seconds from noon, each shifted by a number of days.
  private func leaping(_ days: [Int64]) -> [UTCTime] {
    days.indices.map { i in
      let seconds: Int64 = days[i] * 86_400 + Int64(i)
      return noon + .seconds(seconds)
    }
  }

  @Test(
    "STD-14: if the date jumps for a single epoch, only that epoch is marked",
    arguments: [3_653, -3_653, 7_168, -7_168, -1, 400] as [Int64])
  func single(days: Int64) {
    let times = leaping([0, 0, 0, days, 0, 0])
    for found in marks(times) { #expect(found == [false, false, false, true, false, false]) }
  }

  @Test("STD-14: a lasting date jump is marked until the next epoch confirms it")
  func lasting() {
    let times = leaping([0, 0, 0, 3_653, 3_653, 3_653])
    for found in marks(times) { #expect(found == [false, false, false, true, false, false]) }
    // Two jumps to different days do not confirm each other.
    let wild = leaping([0, 0, 0, 3_653, 7_168, 0])
    for found in marks(wild) { #expect(found == [false, false, false, true, true, false]) }
  }

  @Test("STD-14: midnight, a small clock correction across it, and a recording gap are no jumps")
  func gaps() {
    let late = utc(2024, 6, 16, 86_399)
    let gap: Int64 = 3 * 86_400 + 7_000
    let year: Int64 = 366 * 86_400
    let early = utc(2024, 6, 17, 30)
    let quiet: [[UTCTime]] = [
      [late, late + .seconds(1), late + .seconds(2)],
      [late + .seconds(1), late, late + .seconds(2)],
      [noon, noon + .seconds(gap), noon + .seconds(gap + 1)],
      [noon, noon + .seconds(year - 1)], [noon, noon + .seconds(80_000)],
      [early, early - .seconds(60)],
      [noon, noon + .seconds(86_401)],
    ]
    for times in quiet {
      for found in marks(times) { #expect(!found.contains(true), "\(times)") }
    }
    let leaps: [[UTCTime]] = [
      [noon, noon + .seconds(year + 1)], [noon, noon - .seconds(93_400)],
      [early, early - .seconds(61)],
    ]
    for times in leaps {
      for found in marks(times) { #expect(found == [false, true], "\(times)") }
    }
  }

  @Test("STD-14: dates stay certain for a receiver that wakes once a day or once an hour")
  func dutyCycle() {
    for (step, count) in [(86_400, 400), (3_600, 400), (31 * 86_400, 30)] as [(Int64, Int64)] {
      let times = (0..<count).map { noon + .seconds($0 * step + $0 * 7 % 53) }
      for found in marks(times) { #expect(!found.contains(true), "\(step)") }
    }
  }

  @Test("STD-14: one day ahead is no jump; the return from it is one until it is confirmed")
  func oneDayAhead() {
    for found in marks(leaping([0, 0, 0, 1, 0, 0])) {
      #expect(found == [false, false, false, false, true, false])
    }
  }

  @Test("STD-14: a confirming date is later by more than the rounding tolerance and at most a year")
  func confirmation() {
    let far = noon + .seconds(3_653 * 86_400)
    let year: Int64 = 366 * 86_400 * 1_000_000
    for (step_us, isMarked) in [
      (0, true), (-1_000_000, true), (15_000, true), (15_001, false), (year, false),
      (year + 1, true),
    ] as [(Int64, Bool)] {
      var calendar = EpochCalendar(EpochOptions())
      let found = [noon, far, UTCTime(microseconds: far.microseconds + step_us)].map { time in
        var moment = calendar.datedMoment(time.microseconds, isResolved: true)
        calendar.record(&moment)
        return moment.isUncertain
      }
      #expect(found == [false, true, isMarked], "\(step_us)")
    }
  }

  @Test("STD-14: a moment from 1 minute before to 366 days after the last one is no jump")
  func bounds() {
    let midnight = utc(2024, 6, 17, 0)
    let year: Int64 = 366 * 86_400 * 1_000_000
    for (step_us, isMarked) in [
      (-60_000_000, false), (-60_000_001, true), (year, false), (year + 1, true),
    ] as [(Int64, Bool)] {
      var calendar = EpochCalendar(EpochOptions())
      let found = [0, step_us].map { step_us in
        var moment = calendar.datedMoment(midnight.microseconds + step_us, isResolved: true)
        calendar.record(&moment)
        return moment.isUncertain
      }
      #expect(found == [false, isMarked], "\(step_us)")
    }
  }

  @Test("STD-14: an uncertain epoch does not hide the jump after it")
  func uncertainBetween() {
    var calendar = EpochCalendar(EpochOptions())
    let times = leaping([0, 0, 3_653, 0, 0])
    let found = times.indices.map { i in
      var moment = calendar.datedMoment(times[i].microseconds, isResolved: i != 1)
      calendar.record(&moment)
      return moment.isUncertain
    }
    #expect(found == [false, true, true, false, false])
  }

  private func marks(of lines: [String]) -> [Bool] {
    epochs(lines.flatMap { sentence($0) }).map(\.isDateUncertain)
  }

  @Test("STD-14: undated sentences do not continue from a date that jumped, and are marked")
  func dateless() {
    let lines = [
      rmc("120000", "160624"), rmc("120001", "160634"), gga("120002"), rmc("120003", "160624"),
      gga("120004"),
    ]
    let found = epochs(lines.flatMap { sentence($0) })
    #expect(found.map { $0.utc?.date.year } == [2024, 2034, 2024, 2024, 2024])
    #expect(found.map(\.isDateUncertain) == [false, true, true, false, false])
  }

  @Test("STD-14: a lasting date jump is confirmed across undated epochs")
  func datelessBetween() {
    let lines = [
      rmc("120000", "160624"), gga("120001"), rmc("120002", "160634"), gga("120003"),
      rmc("120004", "160634"), gga("120005"),
    ]
    let found = epochs(lines.flatMap { sentence($0) })
    #expect(found.map { $0.utc?.date.year } == [2024, 2024, 2034, 2024, 2034, 2034])
    #expect(found.map(\.isDateUncertain) == [false, false, true, true, false, false])
  }

  @Test("STD-14: a jump is marked if ZDA follows each NAV-PVT and the clock is set")
  func besideZDA() {
    func zda(_ time: UTCTime) -> [UInt8] {
      let (clock, date) = text(time)
      return sentence(
        "GPZDA,\(clock),\(date.prefix(2)),\(date.dropFirst(2).prefix(2)),\(time.date.year),00,00")
    }
    let times = leaping([0, 0, 0, 3_653, 0, 0])
    let found = epochs(times.flatMap { pvt($0) + zda($0) })
    #expect(found.map(\.utc) == times)
    #expect(found.map(\.isDateUncertain) == [false, false, false, true, false, false])
    let next = epochs(pvt(noon) + zda(noon + .seconds(86_401)) + sentence(gga("120002")))
    #expect(next.map { $0.utc?.date.day } == [16, 17] && !next.contains { $0.isDateUncertain })
  }

  @Test("STD-13: a ZDA without a position that agrees with a date keeps that date certain")
  func agreeing() {
    let lost = "GPGGA,120001,,,,,0,00,,,M,,M,,"
    for (day, isMarked) in [(16, false), (17, true)] {
      let found = marks(of: [
        rmc("120000", "160624"), lost, "GPZDA,120002,\(day),06,2024,00,00", gga("120003"),
      ])
      #expect(found == [false, false, isMarked])
    }
    let unsure = ["GPZDA,120000,16,06,2024,00,00", "GPZDA,120001,16,06,2024,00,00", gga("120002")]
    #expect(marks(of: unsure).last == true)
  }

  @Test("STD-14: a differently rounded ZDA confirms no date, but dates its epoch")
  func roundedZDA() {
    for fraction in ["297", "303", "315"] {
      let found = marks(of: [
        rmc("120000.30", "160624"), "GPZDA,120001.\(fraction),16,06,2034,00,00",
        rmc("120001.30", "160634"), rmc("120002.30", "160624"),
      ])
      #expect(found == [false, true, false], "\(fraction)")
      let dated = marks(of: ["GPZDA,120000.\(fraction),16,06,2024,00,00", gga("120000.30")])
      #expect(dated == [false], "\(fraction)")
    }
    #expect(marks(of: ["GPZDA,120000.316,16,06,2024,00,00", gga("120000.30")]) == [true])
  }
}
