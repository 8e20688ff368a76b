import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// gpsd's report for one time.
private struct TPV {
  var mode: Int
  var values: [String: Double]

  /// All TPV lines of a `.chk` by time in ms; the last one per time.
  static func read(_ name: String) throws -> [Int64: TPV] {
    let folder = try #require(recordings)
    let data = try Data(contentsOf: folder.appendingPathComponent(name))
    var found: [Int64: TPV] = [:]
    for line in data.split(separator: 0x0A) where line.starts(with: #"{"class":"TPV""#.utf8) {
      guard
        let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
        let time = (object["time"] as? String).flatMap(milliseconds)
      else { continue }
      let values = object.compactMapValues { ($0 as? NSNumber)?.doubleValue }
      found[time] = TPV(mode: Int(values["mode"] ?? 0), values: values)
    }
    return found
  }

  static func milliseconds(_ text: String) -> Int64? {
    let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
    guard numbers.count == 7,
      let date = CalendarDate(
        year: Int(numbers[0]), month: Int(numbers[1]), day: Int(numbers[2]))
    else { return nil }
    let seconds = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
    return date.start.microseconds / 1_000 + seconds * 1_000 + numbers[6]
  }
}

/// A difference between the decoder and gpsd: the recording, the field and the number of epochs.
private struct Difference: Hashable, CustomStringConvertible {
  var recording: String
  /// A member of TPV; `fix` and `mode` for whether there is a position and its dimensions,
  /// `epoch` where gpsd reports a time that the decoder does not.
  var field: String

  var description: String { "\(recording) \(field)" }

  /// The table in nmea-and-ubx.md: each difference, the number of epochs, and the reason.
  static func listed() throws -> [Difference: Int] {
    let page = URL(filePath: "\(packageRoot)/Docs/Reference/nmea-and-ubx.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "| recording | field | epochs | why |"))
    var listed: [Difference: Int] = [:]
    for line in text[start.upperBound...].split(separator: "\n").dropFirst() {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("|"), cells.count == 4 else { break }
      #expect(!cells[3].isEmpty, "a difference without a reason: \(line)")
      for field in cells[1].components(separatedBy: ", ") {
        let difference = Difference(recording: cells[0], field: field)
        #expect(listed[difference] == nil, "listed twice: \(difference)")
        let count: Int = try #require(Int(cells[2]), "\(line)")
        listed[difference] = count
      }
    }
    return listed
  }
}

@Suite("gpsd recordings", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct GpsdTests {
  /// Number of epochs per recording. ublox-zoe-m8b-logbatch has a separate test.
  private static let counts = [
    "bu353s4": 25, "garmin48": 14, "gp-320fw-2019-04-07-coldboot": 20, "mt3339": 30, "neo-m8n": 24,
    "nmea-fuzzy-cases": 14, "quectel-l76k-nmea": 151, "sirfstarv-nmea": 59, "st-teseo-liv4f": 12,
    "tcp-torture": 1, "telit-pls83-w": 10, "ublox-lea-4t": 2, "ublox-neo-m8n": 24,
    "ublox-neo-m9n-nmea": 61, "ublox-zed-f9p-hp": 29, "ublox-zed-f9r": 30,
  ]

  @Test("each recording agrees with gpsd, except for the differences listed in nmea-and-ubx.md")
  func agree() throws {
    var found: [Difference: Int] = [:]
    for (name, count) in Self.counts {
      // gpsfake's marks where the stream was cut.
      let unwanted = name == "tcp-torture" ? UInt8(ascii: "|") : nil
      let file = try Recording("gpsd-logs/\(name).log", removing: unwanted)
      let reports = try TPV.read("gpsd-logs/\(name).log.chk")
      var options = EpochOptions()
      options.recordingDate = file.date
      options.waitsForSentences = true
      let all = epochs(file.bytes, options)
      #expect(all.count == count, "\(name)")
      for field in try differences(all, reports) {
        found[Difference(recording: name, field: field), default: 0] += 1
      }
    }
    let listed = try Difference.listed()
    for (difference, count) in found {
      #expect(listed[difference] == count, "\(difference) differs in \(count) epochs")
    }
    for (difference, _) in listed { #expect(found[difference] != nil, "stale: \(difference)") }
  }

  /// Differences, one name per epoch and field.
  private func differences(_ epochs: [Epoch], _ reports: [Int64: TPV]) throws -> [String] {
    var byTime: [Int64: Epoch] = [:]
    for epoch in epochs {
      guard let utc = epoch.utc else { continue }
      // README of the recordings: gpsd rounds nanoseconds to the nearest millisecond.
      let key = (utc.microseconds + 500) / 1_000
      #expect(byTime[key] == nil, "emitted twice")
      byTime[key] = epoch
    }
    // gpsd moves dates that it considers too old by 1,024 weeks.
    let rollover: Int64 = 7_168 * 86_400_000
    return reports.flatMap { time, tpv in
      guard let epoch = byTime[time] ?? byTime[time - rollover] ?? byTime[time + rollover] else {
        return ["epoch"]
      }
      return differences(epoch, tpv)
    }
  }

  private func differences(_ epoch: Epoch, _ tpv: TPV) -> [String] {
    guard let fix = epoch.fix, tpv.mode >= 2 else {
      return (epoch.fix != nil) == (tpv.mode >= 2) ? [] : ["fix"]
    }
    var found = Int(epoch.mode.rawValue) == tpv.mode ? [] : ["mode"]
    let altitude = fix.altitude_mm.map { Double($0) / 1e3 }
    let ellipsoidal = fix.ellipsoidalAltitude_mm.map { Double($0) / 1e3 }
    for (key, value, tolerance) in [
      ("lat", fix.coordinate.latitude, 1.5e-8), ("lon", fix.coordinate.longitude, 1.5e-8),
      ("altMSL", altitude, 2.001e-3), ("altHAE", ellipsoidal, 2.001e-3), ("speed", fix.speed, 2e-3),
      ("track", fix.course, 2e-3),
    ] {
      switch (value, tpv.values[key]) {
      case (nil, nil): break
      case let (decoded?, reported?): if abs(decoded - reported) > tolerance { found.append(key) }
      case (nil, .some), (.some, nil): found.append(key)
      }
    }
    return found
  }

  @Test("LOG-BATCH agrees with gpsd: position, heights, velocities, time")
  func logBatch() throws {
    let file = try Recording("gpsd-logs/ublox-zoe-m8b-logbatch.log")
    let folder = try #require(recordings)
    let data = try Data(
      contentsOf: folder.appendingPathComponent("gpsd-logs/ublox-zoe-m8b-logbatch.log.chk"))
    var lines: [[String: Any]] = []
    for line in data.split(separator: 0x0A) where line.starts(with: #"{"class":"LOG""#.utf8) {
      lines.append(
        try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]))
    }
    let found = epochs(file.bytes)
    #expect(found.count == lines.count && found.count == 62)
    for (epoch, line) in zip(found, lines) {
      #expect(epoch.origin == .batch)
      func number(_ key: String) -> Double? { (line[key] as? NSNumber)?.doubleValue }
      if let latitude = number("lat"), let fix = epoch.fix {
        #expect(abs(latitude - fix.coordinate.latitude) < 1e-8)
        #expect(abs((number("lon") ?? 0) - fix.coordinate.longitude) < 1e-8)
        #expect(abs((number("altHAE") ?? 0) - Double(fix.ellipsoidalAltitude_mm ?? 0) / 1e3) < 2e-3)
        #expect(abs((number("altMSL") ?? 0) - Double(fix.altitude_mm ?? 0) / 1e3) < 2e-3)
      }
      if let time = line["time"] as? String, let utc = epoch.utc {
        #expect(TPV.milliseconds(time) == (utc.microseconds + 500) / 1_000)
      }
    }
    #expect(found.filter { $0.fix != nil }.count == lines.filter { $0["lat"] != nil }.count)
  }

  @Test("any chunk size gives the same epochs", arguments: [1, 7, 128])
  func chunks(size: Int) throws {
    for name in ["ublox-zed-f9r", "st-teseo-liv4f", "gp-320fw-2019-04-07-coldboot"] {
      let file = try Recording("gpsd-logs/\(name).log")
      #expect(epochs(file.bytes, chunk: size) == epochs(file.bytes))
      #expect(decode(file.bytes, chunk: size).counters == decode(file.bytes).counters)
    }
  }
}

@Suite("Recorded drives", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct DriveTests {
  @Test(
    "each epoch appears once and in order, for any chunk size",
    arguments: [
      ("boat_amsterdam_gps_20min", "GPGGA", 2, 5_748),
      ("car_nevada_garmin_2005-09-25_3h", "GPGGA", 2, 53_628),
      ("sailing_gulf_of_finland_1h", "GPGLL", 6, 30_259),
    ])
  func drives(name: String, kind: String, timeField: Int, sentences: UInt32) throws {
    let file = try Recording("nmea/\(name).nmea")
    // Times of all position sentences, found by plain string processing.
    var times: [String] = []
    for line in String(decoding: file.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    where line.hasPrefix("$" + kind) && line.contains("*") {
      let time = String(line.split(separator: ",", omittingEmptySubsequences: false)[timeField - 1])
      if times.last != time { times.append(time) }
    }
    let whole = epochs(file.bytes)
    #expect(decode(file.bytes).counters.sentences == sentences)
    #expect(whole.count == times.count && whole.allSatisfy { $0.fix != nil })
    for (epoch, time) in zip(whole, times) {
      let seconds = (epoch.timeOfDay_us ?? -1) / 1_000_000
      let text = seconds / 3_600 * 10_000 + seconds / 60 % 60 * 100 + seconds % 60
      #expect(text == Int64(time.prefix(6)))
    }
    for size in [1, 7, 128] { #expect(epochs(file.bytes, chunk: size) == whole) }
  }

  @Test("STD-13: a sailing recording without dates takes them from its header")
  func sailing() throws {
    let file = try Recording("nmea/sailing_gulf_of_finland_1h.nmea")
    #expect(epochs(file.bytes).allSatisfy { $0.utc == nil })
    var options = EpochOptions()
    options.recordingDate = CalendarDate(year: 2014, month: 1, day: 1)
    let dated = epochs(file.bytes, options)
    #expect(dated.allSatisfy { $0.utc != nil && $0.isDateUncertain })
    #expect(zip(dated, dated.dropFirst()).allSatisfy { $0.utc! < $1.utc! })
  }
}
