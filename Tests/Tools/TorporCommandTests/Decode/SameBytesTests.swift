import GNSSProtocols
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("The same bytes give the same epochs from a file and from a pipe", .tags(.process))
struct SameBytesTests {
  /// Epochs of a stream from `source`, in blocks of `size` bytes.
  private func epochs(
    _ bytes: [UInt8], _ source: RecordingDecoder.Source, size: Int
  ) -> [Epoch] {
    var recording = RecordingDecoder(dateGiven: nil, source: source)
    var epochs: [Epoch] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      recording.decode(Array(bytes[start..<min(start + size, bytes.count)])) { epochs.append($0) }
    }
    recording.finish { epochs.append($0) }
    return epochs
  }

  private static func navPVT(_ second: Int, _ change: (inout UBXSolution) -> Void) -> [UInt8] {
    let utc = CalendarDate(year: 2026, month: 6, day: 1)!.start + .seconds(43_200 + Int64(second))
    var solution = UBXSolution(
      utc: utc, fixType: 3, isFixOK: true, longitude_e7: 110_000_001, latitude_e7: 480_000_002,
      height_mm: 547_123, horizontalAccuracy_mm: 14)
    solution.timeOfWeek_ms = UInt32(129_600_000 + second * 1_000)
    solution.carrierSolution = 2
    solution.heightMSL_mm = 500_123
    solution.verticalAccuracy_mm = 21
    change(&solution)
    var frame = FrameBuffer()
    frame.appendNavPVT(solution)
    return (0..<frame.count).map { frame[$0] }
  }

  private static func sentences(_ second: Int) -> [[UInt8]] {
    let time = "12\(second < 600 ? "0" : "")\(second / 60)"
    let clock = time + (second % 60 < 10 ? "0" : "") + "\(second % 60).00"
    return [
      "GNRMC,\(clock),A,4800.00,N,01100.00,E,0.5,,010626,,,A",
      "GNGGA,\(clock),4800.00,N,01100.00,E,1,08,1.3,500.1,M,47.0,M,,",
      "GNGSA,A,2,01,02,03,,,,,,,,,,2.0,1.3,1.6", "GPGSV,1,1,02,01,40,083,46,02,17,308,41",
      "GNGST,\(clock),1.0,,,,3.0,4.0,5.0",
      "GNZDA,\(clock),01,06,2026,00,00", "GNVTG,,T,,M,0.5,N,0.9,K,A",
    ].map { Array(RecordingDecoderTests.sentence($0).utf8) }
  }

  /// A stream of both protocols: the messages of each second in random order, some omitted.
  private func mixture(_ seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var stream: [UInt8] = Array("# Date: 2026-06-01\n".utf8)
    let whole = random.next() % 2 == 0
    for second in 0..<40 {
      var messages = Self.sentences(second)
      messages.append(Self.navPVT(second) { if second % 7 == 3 { $0.isFixOK = false } })
      messages.shuffle(using: &random)
      for message in messages where whole || random.next() % 4 != 0 { stream += message }
      if random.next() % 8 == 0 { stream += [0xB5, 0x62, 0xFF, 0x24, 0x47] }
    }
    return stream
  }

  @Test("streams of both protocols give the same epochs in blocks of any size")
  func generated() {
    for seed in 0..<60 as Range<UInt64> {
      let stream = mixture(seed)
      let whole = epochs(stream, .file, size: stream.count)
      #expect(whole.count > 30)
      for size in [1, 17, 512, 65_536] {
        #expect(epochs(stream, .live, size: size) == whole, "seed \(seed), blocks of \(size)")
        #expect(epochs(stream, .file, size: size) == whole, "seed \(seed), blocks of \(size)")
      }
    }
  }

  @Test("an RTK-fixed NAV-PVT keeps its own fields and gets the others from less precise sentences")
  func richest() {
    for first in [true, false] {
      let stream: [UInt8] = (0..<5).flatMap { second -> [UInt8] in
        let sentences = Self.sentences(second).flatMap { $0 }
        let pvt = Self.navPVT(second) { _ in }
        return first ? pvt + sentences : sentences + pvt
      }
      for source in [RecordingDecoder.Source.file, .live] {
        let found = epochs(stream, source, size: 100)
        #expect(found.count == 5)
        for epoch in found {
          #expect(epoch.fix?.mode == .threeDimensional && epoch.fix?.quality == .rtkFixed)
          #expect(epoch.fix?.horizontalAccuracy_mm == 14 && epoch.fix?.verticalAccuracy_mm == 21)
          #expect(epoch.fix?.altitude_mm == 500_123)
          #expect(epoch.fix?.coordinate.latitude_e9 == 48_000_000_200)
          #expect(epoch.hdop_e2 == 130 && epoch.vdop_e2 == 160 && epoch.satellitesInView == 2)
          #expect(epoch.latitudeError_mm == 3_000 && epoch.longitudeError_mm == 4_000)
          #expect(!epoch.isDateUncertain)
        }
      }
    }
  }

  @Test("`decode FILE` and `decode -` print the same for recordings and mixed streams")
  func command() {
    let folder = Command.directory()
    var files: [String] = []
    for seed in 0..<4 as Range<UInt64> {
      files.append("\(folder)/\(seed).log")
      Command.write(mixture(seed), to: files[files.count - 1])
    }
    files += Self.recordings
    for file in files {
      let direct = Command.run(["decode", "--json", file])
      let piped = Command.piped(file, "--json")
      #expect(direct.status == 0 && !direct.output.isEmpty, "\(file)")
      #expect(direct.output == piped.output && direct.errors == piped.errors, "\(file)")
    }
  }

  @Test("a pipe that carries a recording has a longer silence timeout than a receiver")
  func silenceTimeout() {
    var recording = RecordingDecoder(dateGiven: nil, source: .live)
    let cycles = (0..<3).map { Self.sentences($0).flatMap { $0 } }
    recording.decode(cycles[0]) { _ in }
    let alone = recording.silenceTimeout
    #expect(alone == .milliseconds(400))
    recording.decode(cycles[1] + cycles[2] + Self.sentences(3)[0]) { _ in }
    let gathered = recording.silenceTimeout
    #expect(gathered == .seconds(2))
  }

  /// Epochs of messages that arrive after pauses in a pipe, with the decoder's silence timeout.
  private func paused(_ messages: [(Interval, [UInt8])]) -> [Epoch] {
    var recording = RecordingDecoder(dateGiven: nil, source: .live)
    var epochs: [Epoch] = []
    var now = Instant.boot
    for (pause, message) in messages {
      if let silence = recording.silenceTimeout, silence <= pause {
        recording.handleSilence(for: silence) { epochs.append($0) }
      }
      now = now + pause
      recording.decode(message, at: now) { epochs.append($0) }
    }
    recording.finish { epochs.append($0) }
    return epochs
  }

  @Test("pauses of a receiver within its epochs lose no data in a pipe")
  func pauses() {
    let messages = (0..<12).flatMap { second in
      let all = Self.sentences(second)
      return [(Interval.milliseconds(650), all[0]), (Interval.milliseconds(350), all[1])]
    }
    let found = paused(messages)
    #expect(found == epochs(messages.flatMap(\.1), .file, size: 4_096).map(Self.later(found)))
    #expect(found.count == 12 && found.allSatisfy { $0.mode == .threeDimensional })
  }

  /// Copies the acquisition time from the live epoch with the same UTC to an epoch of a file.
  private static func later(_ live: [Epoch]) -> (Epoch) -> Epoch {
    return { epoch in
      var epoch = epoch
      if let acquired = live.first(where: { $0.utc == epoch.utc })?.fix?.acquired {
        epoch.fix?.acquired = acquired
      }
      return epoch
    }
  }

  @Test("NAV-PVT alone is emitted immediately after the first; with sentences it waits for them")
  func alone() {
    var recording = RecordingDecoder(dateGiven: nil, source: .live)
    func silence() -> Interval? { recording.silenceTimeout }
    recording.decode(Self.navPVT(0) { _ in }) { _ in }
    #expect(silence() == .milliseconds(400))
    recording.decode(Self.navPVT(1) { _ in }) { _ in }
    #expect(silence() == .milliseconds(40))
    recording.decode(Self.sentences(1)[1]) { _ in }
    #expect(silence() == .milliseconds(400))
    recording.decode(Self.navPVT(2) { _ in }) { _ in }
    #expect(silence() == .milliseconds(400))
  }

  /// The recordings next to the package, if they exist.
  private static var recordings: [String] {
    let folder =
      unsafe getenv("TORPOR_DATA").map { unsafe String(cString: $0) }
      ?? "\(packageRoot)/../shared/data"
    var names: [String] = []
    for kind in ["gpsd-logs", "nmea"] {
      guard let directory = unsafe opendir("\(folder)/\(kind)") else { continue }
      defer { unsafe closedir(directory) }
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name.hasSuffix(".log") || name.hasSuffix(".nmea") {
          names.append("\(folder)/\(kind)/\(name)")
        }
      }
    }
    return names.sorted()
  }
}

extension Command {
  /// `cat FILE | torpor decode OPTIONS -`.
  fileprivate static func piped(_ file: String, _ options: String) -> Result {
    run(["-c", "cat \"$0\" | \"$1\" decode \(options) -", file, path], program: "/bin/sh")
  }
}

@Suite("Input of an unsupported format is named, with how to convert it", .tags(.process))
struct ForeignFormatTests {
  private static let nmea = RecordingDecoderTests.rmc(1, "010420")

  private static func utf16(_ text: String, _ mark: [UInt8]) -> [UInt8] {
    let isBig = mark == [0xFE, 0xFF]
    return mark
      + text.utf16.flatMap { unit in
        let (low, high) = (UInt8(unit & 0xFF), UInt8(unit >> 8))
        return isBig ? [high, low] : [low, high]
      }
  }

  private static func rtcm3() -> [UInt8] {
    // An empty message 1005, with its CRC-24Q.
    var frame: [UInt8] = [0xD3, 0, 2, 0x3E, 0xD0]
    var crc: UInt32 = 0
    for byte in frame {
      crc ^= UInt32(byte) << 16
      for _ in 0..<8 { crc = crc & 0x80_0000 != 0 ? crc << 1 ^ 0x86_4CFB : crc << 1 }
      crc &= 0xFF_FFFF
    }
    frame += [UInt8(crc >> 16 & 0xFF), UInt8(crc >> 8 & 0xFF), UInt8(crc & 0xFF)]
    return frame
  }

  private static let sirf: [UInt8] = [0xA0, 0xA2, 0, 2, 0x29, 1, 0, 0x2A, 0xB0, 0xB3]
  private static let novAtel: [UInt8] =
    [0xAA, 0x44, 0x12, 28, 42, 0, 0, 0] + [UInt8](repeating: 0, count: 24)

  private static var cases: [([UInt8], [String])] {
    [
      ([0x1F, 0x8B, 8, 0, 1, 2, 3], ["gzip", "zcat < "]),
      ([0x28, 0xB5, 0x2F, 0xFD, 4], ["zstd", "zstdcat"]),
      ([0xFD] + Array("7zXZ".utf8) + [0, 0], ["xz", "xzcat"]), (Array("BZh91".utf8), ["bzcat"]),
      (utf16(nmea, [0xFF, 0xFE]), ["iconv -f UTF-16 -t"]),
      (utf16(nmea, [0xFE, 0xFF]), ["iconv -f UTF-16 -t"]),
      (utf16(nmea, []), ["iconv -f UTF-16LE -t"]),
      (utf16("# $5\n" + nmea, []), ["iconv -f UTF-16LE -t"]),
      (Array(utf16("# $5\n" + nmea, [0xFE, 0xFF]).dropFirst(2)), ["iconv -f UTF-16BE -t"]),
      (Array(("# $5 a day, $cheap\n" + nmea).lowercased().utf8), ["lower case", "tr a-z A-Z"]),
      (rtcm3() + rtcm3(), ["RTCM 3"]), (sirf, ["SiRF", "NMEA"]),
      (novAtel, ["NovAtel", "gprmc"]),
      (Array("#BESTPOSA,COM1,0,55.0,FINESTEERING,2000\r\n".utf8), ["NovAtel"]),
      (Array((nmea + RecordingDecoderTests.rmc(2, "010420")).lowercased().utf8), ["tr a-z A-Z"]),
      (Array("{\"class\":\"VERSION\"}\n".utf8), ["gpspipe -R"]),
      (Array("<?xml version=\"1.0\"?><gpx/>".utf8), ["--track"]),
    ]
  }

  @Test("input in a file and in a pipe ends with exit code 65 and writes nothing")
  func named() {
    let folder = Command.directory()
    for (bytes, words) in Self.cases {
      Command.write(bytes, to: "\(folder)/x")
      let path = "\(folder)/x"
      for (isPiped, end) in [
        (false, Command.run(["decode", "--format", "csv", path])),
        (true, Command.piped(path, "--format csv")),
      ] {
        #expect(end.status == 65 && end.output.isEmpty, "\(words): \(end.output)")
        for word in words where !isPiped || !word.hasSuffix("< ") {
          #expect(end.errors.contains(word), "\(end.errors)")
        }
      }
    }
  }

  @Test("replay gives the same error, with its own name in the suggestion")
  func replayed() {
    let path = Command.directory() + "/x"
    for (bytes, words) in Self.cases {
      Command.write(bytes, to: path)
      let decoded = Command.run(["decode", path])
      let replayed = Command.run(["replay", path])
      #expect(replayed.status == 65 && replayed.output.isEmpty, "\(words)")
      #expect(
        replayed.errors
          == decoded.errors.split(separator: "torpor decode -").joined(separator: "torpor replay -")
      )
    }
  }

  @Test("decode and replay report a recording with wrong checksums as damaged")
  func damaged() {
    let damaged = Array(Self.nmea.utf8).map { $0 == UInt8(ascii: "N") ? UInt8(ascii: "S") : $0 }
    for command in ["decode", "replay"] {
      let end = Command.run([command, "-"], input: damaged)
      #expect(end.status == 65 && end.errors.contains("it is damaged (1 wrong checksum)"))
    }
  }

  @Test(
    "commands that read a track name a compressed file and a recording, with a suggestion",
    arguments: [
      ["simulate", "--track"], ["tune", "--track"], ["optimum", "--accuracy", "100", "--track"],
    ])
  func track(_ command: [String]) {
    let path = Command.directory() + "/x"
    Command.write([0x1F, 0x8B, 8, 0, 1, 2, 3], to: path)
    let compressed = Command.run(command + [path])
    #expect(compressed.status == 65, "\(compressed.errors)")
    #expect(compressed.errors.contains("is compressed with gzip: `zcat < '\(path)' | torpor"))
    Command.write(Array(Self.nmea.utf8), to: path)
    let recording = Command.run(command + [path])
    #expect(recording.status == 65, "\(recording.errors)")
    #expect(
      recording.errors.contains("with `torpor decode --format gpx -o track.gpx '\(path)'`"))
  }

  @Test("the suggested command can be run unchanged for any file name")
  func quoted() {
    let folder = Command.directory()
    let path = "\(folder)/a b's $HOME.log"
    Command.write(Array(Self.nmea.lowercased().utf8), to: path)
    let end = Command.run(["decode", path])
    let parts = end.errors.split(separator: "`", omittingEmptySubsequences: false)
    #expect(end.status == 65 && parts.count > 2, "\(end.errors)")
    guard parts.count > 2 else { return }
    let command = parts[1].replacing("| torpor decode -", with: "| \"$0\" decode -")
    let repaired = Command.run(["-c", String(command), Command.path], program: "/bin/sh")
    #expect(repaired.errors.contains("1 NMEA sentence"), "\(command): \(repaired.errors)")
  }

  @Test("a lower-case recording with checksums of the lower-case letters is an error")
  func lowerCase() {
    let text = RecordingDecoderTests.sentence(
      "gprmc,120001.00,a,4717.11,n,00833.91,e,0.5,77.5,010420,,,a")
    let end = Command.run(["decode", "-"], input: Array(text.utf8))
    #expect(end.status == 65 && end.output.isEmpty && end.errors.contains("lower case"))
  }

  @Test("input with epochs, or with sentences between other frames, is not an unsupported format")
  func own() {
    let mixed = Self.rtcm3() + Array(Self.nmea.utf8) + Self.sirf
    let end = Command.run(["decode", "-"], input: mixed)
    #expect(end.status == 0 && end.errors.contains("1 epoch"))
    let text = RecordingDecoderTests.sentence("GPTXT,01,01,02,hello")
    let none = Command.run(["decode", "-"], input: Array(text.utf8) + Self.rtcm3())
    #expect(none.status == 0 && none.errors.contains("there is no epoch"))
  }
}

@Suite("Dates in recording headers", .tags(.process))
struct HeaderDateTests {
  private let gga = RecordingDecoderTests.sentence(
    "GPGGA,120001.00,4717.11,N,00833.91,E,1,08,1.0,499.6,M,48.0,M,,")

  @Test(
    "STD-13: the date is found after a byte order mark, and with spaces before its colon",
    arguments: [
      "\u{FEFF}# Date: 2014-12-31\n", "# Date : 2014-12-31\n", "\u{FEFF}# Date : 2014-12-31\n",
    ])
  func found(header: String) {
    let bytes = Array((header + gga).utf8)
    for size in [1, 2, 3, 5, 1_000] {
      var recording = RecordingDecoder(dateGiven: nil)
      var days: [CalendarDate?] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        recording.decode(Array(bytes[start..<min(start + size, bytes.count)])) {
          days.append($0.utc?.date)
        }
      }
      recording.finish { days.append($0.utc?.date) }
      #expect(days == [CalendarDate(year: 2014, month: 12, day: 31)], "blocks of \(size)")
    }
  }

  @Test("an unreadable date is reported with the expected format, unless --date is given")
  func unread() {
    for (header, isReported) in [
      ("# Date: 31 December 2014\n", true), ("# Date: 2014\n", true), ("# Dates: many\n", false),
      ("# Date: 2014-12-31\n", false),
    ] {
      let input = Array((header + gga).utf8)
      let end = Command.run(["decode", "-"], input: input)
      #expect(end.errors.contains("# Date: YYYY-MM-DD") == isReported, "\(end.errors)")
      let withDate = Command.run(["decode", "--date", "2014-12-31", "-"], input: input)
      #expect(!withDate.errors.contains("# Date: YYYY-MM-DD"))
    }
  }
}
