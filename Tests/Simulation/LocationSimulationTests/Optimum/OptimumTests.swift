import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Tracks given as metres east of an origin, and receiver costs for tests.
enum TestTracks {
  static let origin = Coordinate(latitude_e9: 50_000_000_000, longitude_e9: 10_000_000_000)

  /// A track with one point per second; seconds without a value have no point.
  static func track(_ east: [Double?], gapLimit: Interval = .seconds(60)) -> Track {
    let points = east.enumerated().compactMap { second, metres in
      metres.map {
        TrackPoint(
          offset: .seconds(Int64(second)), coordinate: origin.moved(east: $0, north: 0))
      }
    }
    return Track(start: UTCTime(microseconds: 0), points: points, gapLimit: gapLimit)
  }

  /// Costs of 25 mW for tracking, 30 mW for acquisition, 1 mW for off.
  static func costs(
    _ rows: [(Double, Double)], cold: Double = 9, lifetime: Int64 = 14_400
  ) -> ReceiverCosts {
    ReceiverCosts(
      acquire_mW: 30, track_mW: 25, off_mW: 1,
      timeToFix: table(rows, cold: cold, lifetime: lifetime))
  }

  static func table(
    _ rows: [(Double, Double)], cold: Double = 9, lifetime: Int64 = 14_400
  ) -> TimeToFirstFix {
    TimeToFirstFix(
      table: rows.map { .init(off_s: $0.0, fix_s: $0.1) }, cold_s: cold,
      ephemerisLifetime: .seconds(lifetime))
  }

  static func optimum(_ east: [Double?], _ accuracy: Double, _ costs: ReceiverCosts) -> Optimum {
    Optimum(SampledTrack(track(east), gapLimit: .seconds(3)), within: accuracy, costs)
  }

  /// A random path with stops, slow motion and jumps, sometimes with a gap.
  static func random(_ count: Int, _ random: inout SimulationRandom) -> [Double?] {
    var east: [Double?] = []
    var position = 0.0
    var speed = 0.0
    while east.count < count {
      if random.uniform() < 0.2 { speed = 4 * random.uniform() * random.uniform() }
      if random.uniform() < 0.05 { position += 12 * random.normal() }
      position += random.uniform() < 0.5 ? speed : -speed / 2
      east.append(position)
    }
    if random.uniform() < 0.3, count > 8 {
      let begin = 1 + Int(random.uniform() * Double(count - 7))
      for second in begin..<(begin + 4) { east[second] = nil }
    }
    return east
  }
}

/// Exhaustive search over all schedules in whole seconds for the least energy.
private struct Exhaustive {
  let track: SampledTrack
  let accuracy: Double
  let table: TimeToFirstFix
  var last: Int { track.coordinates.count - 1 }

  /// Least energy from `second` on, mJ. `second` has a fix, after which the receiver may sleep.
  func least(from second: Int) -> Double {
    guard second < last else { return 0 }
    var best = 25 + least(from: second + 1)
    if holds(second, through: last) { best = min(best, Double(last - second)) }
    var off = 0.0
    while off <= Double(last - second) {
      let acquisition = table.median_s(
        off: Interval(seconds: off), ephemerisAge: Interval(seconds: off))
      let fix = Double(second) + off + acquisition
      if fix == fix.rounded(), Int(fix) > second, Int(fix) <= last,
        holds(second, through: Int(fix) - 1)
      {
        let cost = off + 30 * acquisition
        best = min(
          best, Int(fix) == last ? cost : cost + 25 + least(from: Int(fix) + 1))
      }
      off += 0.25
    }
    return best
  }

  /// Whether the position at `second` meets the bound until `end`.
  private func holds(_ second: Int, through end: Int) -> Bool {
    guard second < end else { return true }
    return (second + 1...end).allSatisfy {
      track.isGap[$0]
        || track.coordinates[second].localDistance(to: track.coordinates[$0]) <= accuracy
    }
  }
}

@Suite("Least receiver energy for a known track")
struct OptimumTests {
  static let tables: [(rows: [(Double, Double)], lifetime: Int64)] = [
    ([(0, 1), (5, 1), (5, 3)], 14_400), ([(0, 2)], 14_400), ([(0, 0)], 14_400),
    ([(0, 1), (2, 1), (6, 5), (8, 3)], 14_400), ([(0, 1.5), (3, 1.5), (3, 2.5), (6, 5.5)], 14_400),
    ([(0, 1), (4, 5)], 6), ([(0, 1), (3, 4), (7, 0)], 14_400), ([], 14_400),
  ]

  @Test("the optimum equals an exhaustive search over all schedules", arguments: tables.indices)
  func exhaustive(index: Int) {
    let (rows, lifetime) = Self.tables[index]
    let costs = TestTracks.costs(rows, cold: 6, lifetime: lifetime)
    var random = SimulationRandom(seed: UInt64(index + 1), stream: 9)
    for _ in 0..<40 {
      let east = TestTracks.random(2 + Int(random.uniform() * 15), &random)
      let track = SampledTrack(TestTracks.track(east), gapLimit: .seconds(3))
      let accuracy = 1 + 12 * random.uniform()
      let found = Optimum(track, within: accuracy, costs)
      let least = Exhaustive(
        track: track, accuracy: accuracy,
        table: TestTracks.table(rows, cold: 6, lifetime: lifetime)
      ).least(from: 0)
      #expect(abs(found.energy_mJ - least) < 1e-6, "\(east) \(accuracy)")
    }
  }

  @Test("on longer tracks the optimum equals a search over all pairs of seconds", arguments: 1...6)
  func pairs(seed: UInt64) {
    var random = SimulationRandom(seed: seed, stream: 9)
    let path = TestTracks.random(400, &random)
    let track = SampledTrack(TestTracks.track(path), gapLimit: .seconds(3))
    let costs = TestTracks.costs(Self.tables[Int(seed)].rows)
    for accuracy in [4.0, 12, 40] {
      let departures = track.departures(beyond: accuracy)
      let count = departures.count
      var least = Array(repeating: Double.infinity, count: count + 1)
      least[0] = 0
      for from in 0..<count {
        if from + 1 < count { least[from + 1] = min(least[from + 1], least[from] + 25) }
        for to in from + 1..<max(from + 2, min(departures[from] + 2, count + 1)) {
          for piece in costs.pieces where piece.first...piece.last ~= to - from {
            least[to] = min(least[to], least[from] + costs.cycle_mJ(to - from, on: piece))
          }
        }
      }
      var best = min(least[count - 1], least[count] - 25)
      for from in 0..<count where departures[from] == count {
        best = min(best, least[from] + Double(count - 1 - from))
      }
      let found = Optimum(track, within: accuracy, costs)
      #expect(abs(found.energy_mJ - best) < 1e-6)
    }
  }

  @Test("steady motion, computed by hand: two seconds on, one cycle, off until the end")
  func steady() {
    let found = TestTracks.optimum((0...22).map(Double.init), 9.5, TestTracks.costs([(0, 2)]))
    // 2 × 25; 8 s off, 2 s of acquisition, the second after the fix; 9 s off.
    let cycle = 8.0 + 60 + 25
    #expect(found.energy_mJ == 50 + cycle + 9)
    #expect(found.alwaysOn_mJ == 22 * 25)
    #expect(found.acquisitions == 1 && found.fixes.count == 5)
    #expect(found.off_s == 17 && found.acquiring_s == 2 && found.tracking_s == 3)
    #expect(found.duration_s == 22 && found.mean_mW == 152.0 / 22)
  }

  @Test("a jump in the last second costs an acquisition and no tracking after it")
  func lastSecond() {
    let found = TestTracks.optimum(
      Array(repeating: 0, count: 10) + [100], 50, TestTracks.costs([(0, 2)]))
    #expect(found.energy_mJ == 8 + 60 && found.tracking_s == 0)
    #expect(found.fixes == [0, 10] && found.acquisitions == 1)
  }

  @Test("an error equal to the bound is allowed")
  func boundary() {
    let jump = Array(repeating: 0.0, count: 10) + Array(repeating: 20.0, count: 10)
    let positions = SampledTrack(TestTracks.track(jump)).coordinates
    let distance = positions[0].localDistance(to: positions[19])
    #expect(TestTracks.optimum(jump, distance, TestTracks.costs([(0, 2)])).energy_mJ == 19)
    let nearer = TestTracks.optimum(jump, distance.nextDown, TestTracks.costs([(0, 2)]))
    #expect(nearer.acquisitions == 1 && nearer.energy_mJ == 60 + 25 + 16)
  }

  @Test("the receiver stays off for a stationary device", arguments: [1, 2, 15, 16, 17, 36_001])
  func stationary(count: Int) {
    let path = [Double](repeating: 0, count: count)
    let found = TestTracks.optimum(path, 50, TestTracks.costs([(0, 1)]))
    #expect(found.energy_mJ == Double(count - 1) && found.fixes == [0] && found.acquisitions == 0)
    #expect(found.mean_mW == (count > 1 ? 1 : 0))
  }

  @Test("the schedule meets the bound, and its times and energy are consistent")
  func schedule() {
    var random = SimulationRandom(seed: 3, stream: 9)
    for rows in Self.tables.map(\.rows) {
      let path = TestTracks.track(TestTracks.random(600, &random))
      let track = SampledTrack(path, gapLimit: .seconds(3))
      let accuracy = 5 + 20 * random.uniform()
      let found = Optimum(track, within: accuracy, TestTracks.costs(rows))
      var tally = BoundTally(path, within: accuracy, gapLimit: .seconds(3))
      for second in found.fixes {
        tally.add(track.coordinates[second], at: Instant(seconds: Double(second)))
      }
      let summary = tally.finish()
      #expect(summary.exceededSeconds == 0 && summary.maximum_m <= accuracy)
      #expect(summary.seconds == track.isGap.count(where: { !$0 }))
      #expect(zip(found.fixes, found.fixes.dropFirst()).allSatisfy { $0 < $1 })
      let time = found.off_s + found.acquiring_s + found.tracking_s
      #expect(abs(time - Double(found.duration_s)) < 1e-6)
      let energy = found.off_s + 30 * found.acquiring_s + 25 * found.tracking_s
      #expect(abs(found.energy_mJ - energy) < 1e-6)
    }
  }

  @Test("a wider bound never costs more; the energy is between always off and always on")
  func monotone() {
    var random = SimulationRandom(seed: 4, stream: 9)
    for rows in Self.tables.map(\.rows) {
      let path = TestTracks.random(900, &random)
      var before = Double.infinity
      for accuracy in [0, 0.5, 1, 2, 4, 8, 16, 32, 64, 1_000, 100_000] {
        let found = TestTracks.optimum(path, accuracy, TestTracks.costs(rows))
        #expect(found.energy_mJ <= before + 1e-6)
        #expect(found.energy_mJ <= found.alwaysOn_mJ && found.energy_mJ >= 899)
        before = found.energy_mJ
      }
      #expect(before == 899)
    }
  }

  @Test("seconds inside a gap do not count; its end points do")
  func gaps() {
    let path: [Double?] = [0, 0, 0, nil, nil, nil, nil, 100, 100, 100]
    let track = SampledTrack(TestTracks.track(path), gapLimit: .seconds(4))
    #expect(track.isGap == [false, false, false, true, true, true, true, false, false, false])
    #expect(track.departures(beyond: 50)[0...2] == [7, 7, 7])
    #expect(!SampledTrack(TestTracks.track(path), gapLimit: .seconds(5)).isGap.contains(true))
    #expect(SampledTrack(TestTracks.track(path)).departures(beyond: 50)[0...2] == [5, 5, 5])
    // A track with a fraction of a second at its end has its last sample at a whole second.
    #expect(SampledTrack(TestTracks.track([0, nil, 1])).coordinates.count == 3)
    let short = Track(
      start: UTCTime(microseconds: 0),
      points: [
        TrackPoint(offset: .milliseconds(500), coordinate: TestTracks.origin),
        TrackPoint(offset: .milliseconds(2_400), coordinate: TestTracks.origin),
      ])
    #expect(SampledTrack(short).coordinates.count == 2)
  }

  @Test("departures equal a search over all pairs", arguments: 1...6)
  func departures(seed: UInt64) {
    var random = SimulationRandom(seed: seed, stream: 9)
    let path = TestTracks.random(200 + Int(random.uniform() * 500), &random)
    let track = SampledTrack(TestTracks.track(path), gapLimit: .seconds(3))
    let count = track.coordinates.count
    for distance in [0, 3, 10, 30, 100, 300.0] {
      let direct = (0..<count).map { second in
        (second + 1..<max(count, second + 1)).first {
          !track.isGap[$0]
            && track.coordinates[second].localDistance(to: track.coordinates[$0]) > distance
        } ?? count
      }
      #expect(track.departures(beyond: distance) == direct)
    }
  }

  @Test("costs equal those of the board's profile")
  func boards() throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find("zero2w-max-m10s")
    let costs = try #require(ReceiverCosts(profile))
    let power = try #require(profile.receiver).power
    #expect(costs.acquire_mW == power.acquire_mw && costs.track_mW == power.track_mw)
    // The receiver's supply cannot be switched, so it cannot enter the backup state.
    #expect(costs.off_mW == power.standby_mw && costs.on_mW == power.track_mw)
    // 5 s off and 1 s of acquisition; 6 s and 3 s.
    for (cycle, off) in [(7, 5.0), (10, 6.0), (7_204, 7_200.0), (14_429, 14_400.0)] {
      let found = costs.pieces.filter { $0.first <= cycle && $0.last >= cycle }
      #expect(found.contains { abs($0.off_s(ofCycle: cycle) - off) < 1e-6 }, "\(cycle)")
    }
    #expect(!costs.pieces.contains { $0.first <= 8 && $0.last >= 8 })
  }

  @Test("the lowest powers on and off depend on the receiver and its supply")
  func powers() throws {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    let power = try #require(profile.receiver).power
    #expect(power.backup_mw < power.standby_mw && power.powersave_mw == 10)
    #expect(ReceiverCosts(profile)?.off_mW == power.backup_mw)
    #expect(ReceiverCosts(profile)?.on_mW == 10 && ReceiverCosts(profile)?.track_mW == 25)
    profile.receiver?.hasBackupSupply = false
    #expect(ReceiverCosts(profile)?.off_mW == power.off_mw)
    profile.receiver?.power.powersave_mw = nil
    #expect(ReceiverCosts(profile)?.on_mW == 25)
    let streaming = try BoardCatalog(directory: PackageBoards.folder).find("pi4-l76k-hat")
    var silent = streaming
    silent.receiver?.family = .passive
    let track_mw = try #require(silent.receiver).power.track_mw
    #expect(ReceiverCosts(silent)?.off_mW == track_mw, "it can only stay on")
    #expect(ReceiverCosts(streaming)?.off_mW == streaming.receiver?.power.standby_mw)
    silent.receiver = nil
    #expect(ReceiverCosts(silent) == nil)
  }
}
