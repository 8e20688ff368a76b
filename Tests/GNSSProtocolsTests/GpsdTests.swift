import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// What gpsd says of one moment.
private struct TPV {
  var mode: Int
  var values: [String: Double]

  /// All TPV lines of a `.chk`, by time in ms; of each time the last.
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

/// What of a recording is not compared, and why.
private struct Scope {
  var name: String
  /// Where no sentence tells these, gpsd makes them up out of others.
  var inferred: Set<String> = []
  /// Latitude and longitude, degrees.
  var tolerance = 1.5e-8
  /// gpsd keeps 3D where GSA says 2.
  var modeMayDiffer = false
  /// Times at which gpsd says something else with good reason, ms of the day.
  var except: Set<Int64> = []
  /// Of a time, ms of the day, by how many ms gpsd is behind with good reason.
  var behind: [Int64: Int64] = [:]
  /// gpsfake's marks of where the stream was cut.
  var removing: UInt8?
  var epochs: Int
}

@Suite("gpsd's recordings", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct GpsdTests {
  private static let scopes = [
    Scope(name: "bu353s4", epochs: 25),
    // The GLL is a second later than the RMC, and an epoch of its own, with the altitude of PGRMZ.
    // There gpsd adds what no sentence says: a geoid of its own, and the speed between two epochs.
    Scope(name: "garmin48", inferred: ["altHAE", "speed"], epochs: 14),
    // gpsd repeats the time of the last fix while there is none.
    Scope(name: "gp-320fw-2019-04-07-coldboot", except: [225_030], epochs: 20),
    Scope(name: "mt3339", epochs: 30),
    Scope(name: "neo-m8n", epochs: 24),
    Scope(name: "nmea-fuzzy-cases", epochs: 14),
    Scope(name: "quectel-l76k-nmea", epochs: 151),
    Scope(name: "sirfstarv-nmea", epochs: 59),
    Scope(name: "st-teseo-liv4f", epochs: 12),
    // GGA has a digit more than RMC, which gpsd heard last.
    Scope(name: "tcp-torture", tolerance: 5e-7, removing: UInt8(ascii: "|"), epochs: 1),
    Scope(name: "telit-pls83-w", modeMayDiffer: true, epochs: 10),
    Scope(name: "ublox-neo-m8n", epochs: 24),
    Scope(name: "ublox-neo-m9n-nmea", epochs: 61),
    // NAV-SOL: it has no height above the sea, which gpsd takes from a model of the geoid. The speed
    // is 0 and says no course. gpsd's first epoch counts 18 leap seconds, for NAV-TIMEGPS, which says
    // 15, comes behind NAV-SOL; ours is told when it is whole.
    Scope(
      name: "ublox-lea-4t", inferred: ["altMSL", "track"], behind: [74_140_001: 3_000], epochs: 2),
    // NAV-PVT with the digits of NAV-HPPOSLLH.
    Scope(name: "ublox-zed-f9p-hp", epochs: 29),
    // NAV-PVT and sentences of each epoch.
    Scope(name: "ublox-zed-f9r", epochs: 30),
  ]
  // ublox-zoe-m8b-logbatch has a test of its own.

  @Test("agree with gpsd", arguments: scopes.indices)
  func agree(index: Int) throws {
    let scope = Self.scopes[index]
    let file = try Recording("gpsd-logs/\(scope.name).log", removing: scope.removing)
    let said = try TPV.read("gpsd-logs/\(scope.name).log.chk")
    var options = EpochOptions()
    options.recordingDate = file.date
    options.waitsForSentences = true
    let all = epochs(file.bytes, options)
    #expect(all.count == scope.epochs)
    var ours: [Int64: Epoch] = [:]
    for epoch in all {
      guard let utc = epoch.utc else { continue }
      // README of the recordings: gpsd rounds nanoseconds to the nearest millisecond.
      let key = (utc.microseconds + 500) / 1_000
      #expect(ours[key] == nil, "given twice")
      ours[key] = epoch
    }
    for (time, tpv) in said where !scope.except.contains(time % 86_400_000) {
      // gpsd moves dates that look too old to it by 1,024 weeks.
      let rollover: Int64 = 7_168 * 86_400_000
      let told = time + (scope.behind[time % 86_400_000] ?? 0)
      let found = ours[told] ?? ours[told - rollover] ?? ours[told + rollover]
      let epoch = try #require(found, "\(scope.name) lacks \(time)")
      compare(epoch, tpv, scope, at: time)
    }
  }

  private func compare(_ epoch: Epoch, _ tpv: TPV, _ scope: Scope, at time: Int64) {
    #expect((epoch.fix != nil) == (tpv.mode >= 2), "\(scope.name) \(time)")
    if !scope.modeMayDiffer { #expect(Int(epoch.mode.rawValue) == tpv.mode) }
    let fix = epoch.fix
    let altitude = fix?.altitude_mm.map { Double($0) / 1e3 }
    let ellipsoidal = fix?.ellipsoidalAltitude_mm.map { Double($0) / 1e3 }
    for (key, value, tolerance) in [
      ("lat", fix?.coordinate.latitude, scope.tolerance),
      ("lon", fix?.coordinate.longitude, scope.tolerance),
      ("altMSL", altitude, 2.001e-3),
      ("altHAE", ellipsoidal, 2.001e-3),
      ("speed", fix?.speed, 2e-3), ("track", fix?.course, 2e-3),
    ] {
      switch (value, tpv.values[key]) {
      case (nil, nil): break
      case (nil, .some) where scope.inferred.contains(key): break
      case let (ours?, theirs?):
        #expect(abs(ours - theirs) <= tolerance, "\(scope.name) \(time) \(key)")
      case let (ours, theirs):
        Issue.record(
          "\(scope.name) \(time) \(key): \(String(describing: ours)), gpsd \(String(describing: theirs))"
        )
      }
    }
  }

  @Test("LOG-BATCH agrees with gpsd: place, heights, velocities, time")
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

  @Test("every chunking gives the same epochs", arguments: [1, 7, 128])
  func chunks(size: Int) throws {
    for name in ["ublox-zed-f9r", "st-teseo-liv4f", "gp-320fw-2019-04-07-coldboot"] {
      let file = try Recording("gpsd-logs/\(name).log")
      #expect(epochs(file.bytes, chunk: size) == epochs(file.bytes))
      #expect(decode(file.bytes, chunk: size).counters == decode(file.bytes).counters)
    }
  }
}

@Suite("recorded drives", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct DriveTests {
  @Test(
    "every epoch once, in order, none lost, whatever the chunking",
    arguments: [
      ("boat_amsterdam_gps_20min", "GPGGA", 2, 5_748),
      ("car_nevada_garmin_2005-09-25_3h", "GPGGA", 2, 53_628),
      ("sailing_gulf_of_finland_1h", "GPGLL", 6, 30_259),
    ])
  func drives(name: String, kind: String, timeField: Int, sentences: UInt32) throws {
    let file = try Recording("nmea/\(name).nmea")
    // The times of all position sentences, found with plain string handling.
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

  @Test("STD-13: sailing without dates takes them from the header")
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
