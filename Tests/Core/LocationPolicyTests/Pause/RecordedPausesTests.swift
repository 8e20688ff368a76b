import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite(
  "Pauses recorded by a bicycle computer",
  .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct RecordedPausesTests {
  static func rows(_ name: String) throws -> [[String]] {
    let folder = try #require(RecordedData.folder)
    let text = try String(contentsOfFile: "\(folder)/tracks/\(name)", encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// Comparison of one ride's pauses with its recorded stops.
  struct Agreement {
    var stops = 0
    var found = 0
    var pauses = 0
    var confirmed = 0
    /// Seconds from the start of each found stop to that of its pause, and from end to end. The
    /// time of the report is unknown, because the computer records nothing during a stop.
    var begins: [Double] = []
    var ends: [Double] = []

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
  }

  /// Compares pauses with a short dwell time to the computer's stops of at least `least` seconds.
  static func compare(_ name: String, least: Double) throws -> Agreement {
    var monitor = PauseMonitor(
      thresholds: PauseThresholds(dwell: .seconds(8), radius: 12))
    _ = monitor.handle(.start)
    let points = try rows("\(name).csv")
    let start = try #require(Double(points[0][0]))
    var pauses: [ClosedRange<Double>] = []
    var since: Double?
    var last = 0.0
    for row in points {
      guard let time = Double(row[0]), let latitude = Double(row[1]),
        let longitude = Double(row[2]),
        let coordinate = Coordinate(latitude: latitude, longitude: longitude)
      else { continue }
      last = time
      var fix = Fix(acquired: Instant(seconds: time - start + 1), coordinate: coordinate)
      fix.horizontalAccuracy_mm = 3_000
      if row.count > 4, let speed = Double(row[4]) { fix.speed_mmps = Int32(speed * 1e3) }
      switch monitor.handle(.fix(fix)) {
      case .nothing: break
      case .pause: since = start - 1 + monitor.detector.since.seconds
      case .resume:
        if let begun = since { pauses.append(begun...time) }
        since = nil
      }
    }
    if let begun = since { pauses.append(begun...last) }
    var result = Agreement()
    let all = try rows("\(name).pauses.csv").compactMap { row -> ClosedRange<Double>? in
      guard let from = Double(row[0]), let to = Double(row[1]), to >= start, from <= last else {
        return nil
      }
      return from...to
    }
    for stop in all where stop.upperBound - stop.lowerBound >= least {
      result.stops += 1
      guard let pause = pauses.first(where: { $0.overlaps(stop) }) else { continue }
      result.found += 1
      result.begins.append(pause.lowerBound - stop.lowerBound)
      result.ends.append(pause.upperBound - stop.upperBound)
    }
    result.pauses = pauses.count
    result.confirmed = pauses.filter { pause in all.contains { $0.overlaps(pause) } }.count
    return result
  }

  @Test(
    "PAU-1, PAU-4: with thresholds of seconds, bicycle stops are found and end",
    arguments: [
      ("bike_toronto_2011-06-26", 0.9, 0.9), ("bike_shanghai_elemnt_2019-02-17", 0.9, 0.9),
    ])
  func stops(_ name: String, _ foundShare: Double, _ confirmedShare: Double) throws {
    let agreement = try Self.compare(name, least: 15)
    #expect(Double(agreement.found) >= foundShare * Double(agreement.stops))
    #expect(Double(agreement.confirmed) >= confirmedShare * Double(agreement.pauses))
    #expect(abs(Agreement.median(agreement.begins)) <= 10)
    #expect((0...15).contains(Agreement.median(agreement.ends)))
  }
}
