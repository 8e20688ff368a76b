import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// One recorded trip; the recordings are not part of the package.
struct RecordedTrack {
  let name: String
  /// Seconds since the first fix.
  private(set) var samples: [SlidingStayPoints.Sample] = []
  /// One fix per sample, without an accuracy, as recorded.
  private(set) var fixes: [Fix] = []

  /// All recorded trips, by name.
  static func all() throws -> [RecordedTrack] {
    let folder = try #require(RecordedData.folder) + "/tracks"
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasSuffix(".csv") && !$0.hasSuffix(".pauses.csv") }
      .map { try RecordedTrack(URL(filePath: "\(folder)/\($0)")) }
  }

  private init(_ file: URL) throws {
    name = file.deletingPathExtension().lastPathComponent
    let text = try String(contentsOf: file, encoding: .utf8)
    var begin: Double?
    for line in text.split(separator: "\n").dropFirst() {
      let row = line.split(separator: ",", omittingEmptySubsequences: false)
      guard row.count > 4, let unix = Double(row[0]), let latitude = Double(row[1]),
        let longitude = Double(row[2])
      else { continue }
      let time = unix - (begin ?? unix)
      begin = begin ?? unix
      append(.init(time: time, latitude: latitude, longitude: longitude), speed: Double(row[4]))
    }
  }

  /// The trip with its stops filled in: a paused recorder writes nothing at standstill.
  ///
  /// A gap of more than a minute whose ends lie within 50 m becomes a stop with a fix every 10 s.
  /// At a gap of more than 15 minutes whose ends lie farther apart the path is unknown and the
  /// reference restarts: the trip is split there.
  var trips: [RecordedTrack] {
    var trips: [RecordedTrack] = []
    var trip = RecordedTrack(name: name)
    for (sample, fix) in zip(samples, fixes) {
      if let before = trip.samples.last, sample.time - before.time > 60 {
        let distance = Sphere.haversine(before, sample)
        if distance <= 50 {
          trip.fill(from: before, to: sample, speed: distance / (sample.time - before.time))
        } else if sample.time - before.time > 900 {
          trips.append(trip)
          trip = RecordedTrack(name: name)
        }
      }
      trip.samples.append(sample)
      trip.fixes.append(fix)
    }
    return trips + [trip]
  }

  private init(name: String) { self.name = name }

  private mutating func fill(
    from: SlidingStayPoints.Sample, to: SlidingStayPoints.Sample, speed: Double
  ) {
    for time in stride(from: from.time + 10, to: to.time, by: 10) {
      let part = (time - from.time) / (to.time - from.time)
      append(
        .init(
          time: time, latitude: from.latitude + part * (to.latitude - from.latitude),
          longitude: from.longitude + part * (to.longitude - from.longitude)), speed: speed)
    }
  }

  private mutating func append(_ sample: SlidingStayPoints.Sample, speed: Double?) {
    samples.append(sample)
    var fix = Fix(
      acquired: Instant(seconds: sample.time),
      coordinate: Sphere.coordinate(latitude: sample.latitude, longitude: sample.longitude))
    if let speed { fix.speed_mmps = Int32(speed * 1000) }
    fixes.append(fix)
  }

  /// The length of the polyline through all fixes, metres.
  var length: Double {
    zip(samples, samples.dropFirst()).reduce(0) { $0 + Sphere.haversine($1.0, $1.1) }
  }

  /// Visits of a monitor that gets every fix, including a visit that is open at the end.
  func everyFix(_ parameters: VisitParameters) -> [SlidingStayPoints.Stay] {
    var monitor = VisitMonitor.started(parameters)
    return stays(fixes.map { monitor.accept($0) }, monitor)
  }

  /// The same with only the requested fixes, 3 s to 30 s later; a search lasts a minute.
  func onDemand(_ parameters: VisitParameters, seed: UInt64) -> [SlidingStayPoints.Stay] {
    var generator = SplitMix64(seed: seed)
    var monitor = VisitMonitor.started(parameters)
    var outcomes: [VisitMonitor.Outcome] = []
    var (now, next) = (samples[0].time, 0)
    while next < samples.count {
      let due = monitor.nextFix(at: Instant(seconds: now), speed: .constant(40), line: .absent)
      let begin = max(now, due.seconds)
      let ready = begin + Double.random(in: 3...30, using: &generator)
      next = samples[next...].firstIndex { $0.time >= ready } ?? samples.count
      if next < samples.count, samples[next].time <= begin + 60 {
        now = samples[next].time
        outcomes.append(monitor.accept(fixes[next]))
      } else {
        now = begin + 60
        monitor.acquisitionFailed(at: Instant(seconds: now))
      }
    }
    return stays(outcomes, monitor)
  }

  private func stays(
    _ outcomes: [VisitMonitor.Outcome], _ monitor: VisitMonitor
  ) -> [SlidingStayPoints.Stay] {
    let (first, last) = (samples[0].time, samples[samples.count - 1].time)
    return (outcomes.compactMap(\.departure) + (monitor.visit.map { [$0] } ?? [])).map {
      SlidingStayPoints.Stay(
        start: $0.arrival?.acquired.seconds ?? first, end: $0.departure?.acquired.seconds ?? last)
    }
  }
}

@Suite("Visits on recorded trips", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct VisitTracksTests {
  typealias Stay = SlidingStayPoints.Stay
  typealias Score = VisitReferenceTests.Score

  static func reference(
    _ samples: [SlidingStayPoints.Sample], gap: Double = 900
  ) -> [Stay] {
    SlidingStayPoints.find(
      samples, gap: gap, includesLast: true, haversine: Sphere.haversine)
  }

  /// The reference's stays with a start at the first fix or up to 4 minutes later: the start time
  /// decides about borderline stays.
  static func phases(_ trip: RecordedTrack) -> [[Stay]] {
    stride(from: 0, through: 240, by: 20).map { later in
      reference(trip.samples.filter { $0.time >= trip.samples[0].time + later })
    }
  }

  @Test("VIS-9: trips give the reference's stays, with every fix or only the requested ones")
  func trips() throws {
    var every = Score()
    var onDemand = Score()
    var right = 0
    for trip in try RecordedTrack.all().flatMap(\.trips) {
      let expected = Self.reference(trip.samples)
      every.add(trip.everyFix(.reference), expected)
      let phases = Self.phases(trip)
      for seed in 1...20 as ClosedRange<UInt64> {
        let stays = trip.onDemand(.reference, seed: seed)
        onDemand.add(stays, expected)
        right +=
          stays.filter { stay in
            phases.contains { SlidingStayPoints.matches([stay], $0) > 0 }
          }.count
      }
    }
    #expect(every.expected >= 4)
    #expect(every.precision >= 0.95 && every.recall >= 0.95)
    #expect(onDemand.recall >= 0.9)
    #expect(Double(right) >= 0.9 * Double(onDemand.found))
  }

  @Test("VIS-10: if the reference counts each gap as a stay, visits match it with few extra ones")
  func holes() throws {
    var every = Score()
    for track in try RecordedTrack.all() {
      every.add(track.everyFix(.reference), Self.reference(track.samples, gap: .infinity))
    }
    #expect(every.precision >= 0.95)
    #expect(every.both >= every.expected - 1)
  }
}
