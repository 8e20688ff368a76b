import GNSSProtocols
import LocationTypes
import TestSupport
import Testing

@testable import LocationSimulation
@testable import torpor

@Suite("Header lines of recordings")
struct RecordingFilterTests {
  /// The bytes that the filter passes and the dates it finds, for input in chunks of `size`.
  func filtered(_ bytes: [UInt8], size: Int = .max) -> (bytes: [UInt8], dates: [CalendarDate]) {
    var filter = RecordingFilter()
    var passed: [UInt8] = []
    var dates: [CalendarDate] = []
    var start = 0
    while start < bytes.count {
      let block = Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))])
      let span = block.span
      var offset = 0
      while let piece = filter.next(span, &offset) {
        switch piece {
        case .bytes(let range): passed += block[range]
        case .date(let date): dates.append(date)
        case .invalidDate: break
        }
      }
      start += block.count
    }
    return (passed, dates)
  }

  func passed(_ text: String) -> String {
    String(decoding: filtered(Array(text.utf8)).bytes, as: UTF8.self)
  }

  @Test("lines starting with # are skipped, and no other lines")
  func lines() {
    #expect(passed("# a\n$X\r\n# b\r\n#\n#c") == "$X\r\n")
    #expect(passed("$X # no header\n #neither\n") == "$X # no header\n #neither\n")
    #expect(passed("\n\n#a\n\n") == "\n\n\n")
  }

  @Test("a # inside a UBX frame is data, also after a line feed byte")
  func frames() {
    let payload = Array("\n# not a header\n#".utf8)
    let frame: [UInt8] =
      [0xB5, 0x62, 0x0A, 0x23, UInt8(payload.count), 0] + payload + [0x0A, 0x23]
    let recording = Array("#x\n".utf8) + frame + Array("\n# y\n".utf8) + frame
    #expect(filtered(recording).bytes == frame + [0x0A] + frame)
    #expect(filtered(Array("#x\n".utf8) + [0xB5] + Array("\n#y\n".utf8)).bytes == [0xB5, 0x0A])
  }

  @Test("a checksum byte equal to a line feed does not end a line")
  func checksums() {
    let head: [UInt8] = [0xB5, 0x62, 0x05, 0x01, 2, 0, 0x06, 0x8A]
    for checksum: [UInt8] in [[0x0A, 0x23], [0x23, 0x0A], [0x0A, 0x0A]] {
      let recording = head + checksum + Array("#no header\n".utf8)
      #expect(filtered(recording).bytes == recording)
    }
  }

  @Test("a header line with a binary byte is passed on from that byte")
  func binary() {
    #expect(filtered(Array("\n#ab".utf8) + [0x01, 0xB5, 0x62]).bytes == [0x0A, 0x01, 0xB5, 0x62])
  }

  @Test(
    "the date of the recording is read in all known formats",
    arguments: [
      ("# Date: 2014-12-31", 2014, 12, 31), ("# Date = 2015-03-18", 2015, 3, 18),
      ("# Date: 2019-2-4", 2019, 2, 4), ("# Date: 2019-04 23", 2019, 4, 23),
      ("#date:2020/01/30\r", 2020, 1, 30), ("#\tDATE\t: 2020-01-30 12:00", 2020, 1, 30),
    ])
  func dates(line: String, year: Int, month: Int, day: Int) {
    let expected = CalendarDate(year: year, month: month, day: day)
    #expect(filtered(Array((line + "\n").utf8)).dates == [expected].compactMap { $0 })
  }

  @Test(
    "other lines have no date",
    arguments: [
      "# Date: 2019-02-30", "# Date: 19-02-03", "# Date 2019-02-03", "# Update: 2019-02-03",
      "# Dates: 2019-02-03", "# Date: 20190-2-3", "# Date: 2019", "# Date:", "#", "# D",
      "# A GPS week 0 date of 1999-08-22", "# Date: 2019-002-03",
    ])
  func noDates(line: String) {
    #expect(filtered(Array((line + "\n").utf8)).dates.isEmpty)
  }

  @Test("chunks of any size give the same bytes and dates")
  func pieces() {
    var recording = Array("# Name: a\n# Date: 2014-12-31\n$GPGGA,1*00\r\n# b\n".utf8)
    recording += [0xB5, 0x62, 1, 7, 5, 0] + Array("\n#\n#\n".utf8) + [10, 35]
    recording += Array("\n# Date = 2015-1-2\n#x".utf8) + [0, 1] + Array("$GP\n#last".utf8)
    let whole = filtered(recording)
    #expect(whole.dates.count == 2)
    for size in 1...recording.count {
      let pieces = filtered(recording, size: size)
      #expect(pieces.bytes == whole.bytes && pieces.dates == whole.dates, "pieces of \(size)")
    }
  }
}

@Suite("From bytes to epochs", .tags(.process))
struct RecordingDecoderTests {
  static func sentence(_ body: String) -> String {
    let sum = body.utf8.reduce(0, ^)
    let digits = Array("0123456789ABCDEF")
    return "$\(body)*\(digits[Int(sum >> 4)])\(digits[Int(sum & 15)])\r\n"
  }

  static func rmc(_ second: Int, _ date: String) -> String {
    sentence("GPRMC,12000\(second).00,A,4717.11,N,00833.91,E,0.5,77.5,\(date),,,A")
  }

  @Test("--allow-missing-checksum accepts a missing checksum, but no wrong one")
  func missingChecksums() throws {
    let good = Self.rmc(1, "010420")
    let bare = Self.rmc(2, "010420").prefix { $0 != "*" } + "\r\n"
    let wrong = Self.rmc(3, "010420").prefix { $0 != "*" } + "*00\r\n"
    for (arguments, times) in [([], ["1"]), (["--allow-missing-checksum"], ["1", "2"])] {
      for command in ["decode", "replay"] {
        let all = command == "decode" ? ["--json"] : ["--json", "--board", "simulated"]
        let end = Command.run(
          [command] + all + arguments + ["-"], input: Array((good + bare + wrong).utf8))
        let found = end.output.split(separator: "\n").compactMap { LiveTests.time(String($0)) }
        #expect(end.status == 0)
        if command == "decode" { #expect(found.map(String.init) == times) }
        if command == "replay" { #expect(end.output.contains("\"fixes\":\(times.count),")) }
      }
    }
  }

  @Test("a recording without checksums is decoded with the flag; without it, it is suggested")
  func noChecksums() {
    let bare = (1...3).map { Self.rmc($0, "010420").prefix { $0 != "*" } + "\r\n" }.joined()
    let input = Array(bare.utf8)
    let accepted = Command.run(
      ["decode", "--format", "gpx", "--allow-missing-checksum", "-"], input: input)
    #expect(accepted.status == 0 && accepted.output.hasSuffix("</gpx>\n"))
    #expect(accepted.errors.contains("3 NMEA sentences, 3 without a checksum"))
    let refused = Command.run(["decode", "-"], input: input)
    #expect(refused.status == 65 && refused.errors.contains("--allow-missing-checksum"))
  }

  func epochs(_ text: String, date: CalendarDate? = nil, size: Int = 7) -> [Epoch] {
    var recording = RecordingDecoder(dateGiven: date)
    var epochs: [Epoch] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      recording.decode(Array(bytes[start..<min(start + size, bytes.count)])) { epochs.append($0) }
    }
    recording.finish { epochs.append($0) }
    let count = recording.epochs
    #expect(count == epochs.count)
    return epochs
  }

  @Test("STD-13: the header's date corrects a week rollover; a given date takes precedence")
  func rollover() throws {
    let old = Self.rmc(1, "160800")
    #expect(epochs(old).first?.utc?.date == CalendarDate(year: 2000, month: 8, day: 16))
    let repaired = epochs("# Date: 2020-04-01\n" + old)
    #expect(repaired.first?.utc?.date == CalendarDate(year: 2020, month: 4, day: 1))
    let withDate = epochs(
      "# Date: 2001-01-01\n" + old, date: CalendarDate(year: 2020, month: 4, day: 1))
    #expect(withDate.first?.utc?.date == CalendarDate(year: 2020, month: 4, day: 1))
  }

  @Test("each of two recordings in one file has its own date")
  func concatenated() {
    let both =
      "# Date: 2020-04-01\n" + Self.rmc(1, "160800") + "# Date: 2000-08-16\n"
      + Self.rmc(2, "160800")
    #expect(
      epochs(both).map(\.utc?.date) == [
        CalendarDate(year: 2020, month: 4, day: 1), CalendarDate(year: 2000, month: 8, day: 16),
      ])
  }

  @Test("every epoch is emitted once, the last one at the end, for any chunk size")
  func everyEpoch() {
    let text = (0...9).map { Self.rmc($0, "010420") }.joined()
    let expected = epochs(text, size: .max / 2)
    #expect(expected.count == 10)
    for size in 1...90 { #expect(epochs(text, size: size) == expected) }
  }

  @Test("epochs without a date are reported, with how to set one")
  func undated() {
    func report(_ text: String, _ date: CalendarDate? = nil) -> String {
      var recording = RecordingDecoder(dateGiven: date)
      recording.decode(Array(text.utf8)) { _ in }
      recording.finish { _ in }
      return recording.report
    }
    let gga = Self.sentence("GPGGA,120001.00,4717.11,N,00833.91,E,1,08,1.0,499.6,M,48.0,M,,")
    let advice =
      "\ntorpor: 1 epoch has a time of day but no date; "
      + "set the day of the first one with --date YYYY-MM-DD"
    #expect(report(gga).hasSuffix(advice))
    #expect(!report(gga, CalendarDate(year: 2020, month: 4, day: 1)).contains("--date"))
    #expect(!report(Self.rmc(1, "010420")).contains("--date"))
    #expect(report("$GPGSV,1,1,00*79\r\n").contains("\ntorpor: there is no epoch"))
  }

  @Test("a live line has a silence timeout only while a message or epoch is incomplete")
  func silence() {
    var recording = RecordingDecoder(dateGiven: nil, source: .device)
    var epochs: [Epoch] = []
    func silence() -> Interval? { recording.silenceTimeout }
    #expect(silence() == nil)
    let bytes = Array(Self.rmc(1, "010420").utf8)
    recording.decode(Array(bytes.prefix(30))) { epochs.append($0) }
    #expect(silence() == .milliseconds(250))
    recording.decode(Array(bytes.dropFirst(30))) { epochs.append($0) }
    #expect(silence() == .milliseconds(100) && epochs.isEmpty)
    recording.handleSilence(for: .milliseconds(100)) { epochs.append($0) }
    #expect(silence() == nil && epochs.count == 1)
    recording.handleSilence(for: .seconds(1)) { epochs.append($0) }
    recording.finish { epochs.append($0) }
    #expect(epochs.count == 1)
  }

  @Test("an incomplete message has a timeout on a line, and none in a growing file")
  func incompleteMessage() {
    for (source, timeout) in [
      (RecordingDecoder.Source.device, EpochAssembler.messageTimeout), (.live, nil), (.file, nil),
    ] {
      var recording = RecordingDecoder(dateGiven: nil, source: source)
      var epochs: [Epoch] = []
      let bytes = Array((Self.rmc(1, "010420") + Self.rmc(2, "010420")).utf8)
      recording.decode(Array(bytes.dropLast(20))) { epochs.append($0) }
      let silence = recording.silenceTimeout
      #expect(silence == timeout)
      recording.handleSilence(for: .milliseconds(40)) { epochs.append($0) }
      recording.decode(Array(bytes.suffix(20))) { epochs.append($0) }
      recording.finish { epochs.append($0) }
      #expect(epochs.compactMap { $0.timeOfDay_us }.count == 2)
    }
  }

  @Test("a fix has the time at which its first byte arrived")
  func acquired() {
    var recording = RecordingDecoder(dateGiven: nil)
    var epochs: [Epoch] = []
    let moment = Instant(microseconds: 5_000_000)
    recording.decode(Array(Self.rmc(1, "010420").utf8), at: moment) { epochs.append($0) }
    recording.finish { epochs.append($0) }
    #expect(epochs.first?.fix?.acquired == moment)
  }

  @Test("the report lists what the input contained, and nothing else")
  func report() {
    var recording = RecordingDecoder(dateGiven: nil)
    recording.decode(Array((Self.rmc(1, "010420") + "$GPRMC,1*00\r\n").utf8)) { _ in }
    recording.finish { _ in }
    let report = recording.report
    #expect(report.hasPrefix("torpor: 1 epoch, 1 with a fix, 1 NMEA sentence"))
    #expect(report.contains("1 wrong checksum"))
    #expect(!report.contains("UBX"))
  }
}
