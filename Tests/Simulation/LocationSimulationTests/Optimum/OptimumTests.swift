import BoardHardware
import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Tracks given as metres east of an origin, and costs for tests.
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
    _ rows: [(Double, Double)], cold: Double = 9, lifetime: Int64 = 14_400, start_mJ: Double = 0
  ) -> ScheduleCosts {
    ScheduleCosts(
      acquire_mW: 30, track_mW: 25, off_mW: 1, start_mJ: start_mJ,
      timeToFix: table(rows, cold: cold, lifetime: lifetime))
  }

  static func table(
    _ rows: [(Double, Double)], cold: Double = 9, lifetime: Int64 = 14_400
  ) -> TimeToFix {
    TimeToFix(
      afterOff: rows.map { .init(off: Interval(seconds: $0.0), fix: Interval(seconds: $0.1)) },
      coldStart: Interval(seconds: cold), ephemerisLifetime: .seconds(lifetime))
  }

  static func optimum(_ east: [Double?], _ accuracy: Double, _ costs: ScheduleCosts) -> Optimum {
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
  let table: TimeToFix
  let costs: ScheduleCosts
  var last: Int { track.coordinates.count - 1 }

  /// Least energy from `second` on, mJ. `second` has a fix.
  func least(from second: Int) -> Double {
    guard second < last else { return 0 }
    var best = costs.on_mW + least(from: second + 1)
    if holds(second, through: last) {
      best = min(best, costs.on_mW + Double(last - second - 1) * costs.off_mW)
    }
    for off in 1...max(last - second, 1) {
      let offWithStartUp = Interval(seconds: Double(off) + 0.35)
      let acquisition = table.median_s(off: offWithStartUp, ephemerisAge: offWithStartUp)
      let fix = second + 1 + off + Int(acquisition.rounded())
      guard fix <= last, holds(second, through: fix - 1) else { continue }
      let cycle =
        costs.on_mW + Double(off) * costs.off_mW + acquisition * costs.acquire_mW + costs.start_mJ
      best = min(best, cycle + least(from: fix))
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

@Suite("Least energy for a known track")
struct OptimumTests {
  static let tables: [(rows: [(Double, Double)], lifetime: Int64)] = [
    ([(0, 1), (5, 1), (5, 3)], 14_400), ([(0, 2)], 14_400), ([(0, 0)], 14_400),
    ([(0, 1), (2, 1), (6, 5), (8, 3)], 14_400), ([(0, 1.5), (3, 1.5), (3, 2.5), (6, 5.5)], 14_400),
    ([(0, 1), (4, 5)], 6), ([(0, 1), (3, 4), (7, 0)], 14_400), ([], 14_400),
  ]

  @Test(
    "the optima of the receiver and of receiver and board equal an exhaustive search over all schedules",
    arguments: tables.indices, [0.0, 40, 500])
  func exhaustive(index: Int, start_mJ: Double) {
    let (rows, lifetime) = Self.tables[index]
    let table = TestTracks.table(rows, cold: 6, lifetime: lifetime)
    // With the board: 10 mW asleep, and 100 mW idle with 20 mW of work while the receiver stays on.
    let costs =
      start_mJ == 0
      ? TestTracks.costs(rows, cold: 6, lifetime: lifetime)
      : ScheduleCosts(
        acquire_mW: 40, track_mW: 145, on_mW: 130, off_mW: 11, start_mJ: start_mJ, timeToFix: table)
    var random = SimulationRandom(seed: UInt64(index + 1), stream: 9)
    for _ in 0..<30 {
      let east = TestTracks.random(2 + Int(random.uniform() * 15), &random)
      let track = SampledTrack(TestTracks.track(east), gapLimit: .seconds(3))
      let accuracy = 1 + 12 * random.uniform()
      let found = Optimum(track, within: accuracy, costs)
      let least = Exhaustive(track: track, accuracy: accuracy, table: table, costs: costs)
        .least(from: 0)
      #expect(abs(found.energy_mJ - least) < 1e-6, "\(east) \(accuracy)")
    }
  }

  @Test("on longer tracks the optimum equals a search over all pairs of seconds", arguments: 1...6)
  func pairs(seed: UInt64) {
    var random = SimulationRandom(seed: seed, stream: 9)
    let path = TestTracks.random(400, &random)
    let track = SampledTrack(TestTracks.track(path), gapLimit: .seconds(3))
    let costs = TestTracks.costs(Self.tables[Int(seed)].rows, start_mJ: seed > 3 ? 100 : 0)
    for accuracy in [4.0, 12, 40] {
      let departures = track.departures(beyond: accuracy)
      let count = departures.count
      var least = Array(repeating: Double.infinity, count: count)
      least[0] = 0
      for from in 0..<(count - 1) {
        least[from + 1] = min(least[from + 1], least[from] + 25)
        for to in from + 1...min(departures[from], count - 1) {
          for piece in costs.pieces where piece.first...piece.last ~= to - from {
            least[to] = min(least[to], least[from] + costs.cycle_mJ(to - from, on: piece))
          }
        }
      }
      var best = least[count - 1]
      for from in 0..<(count - 1) where departures[from] == count {
        best = min(best, least[from] + 25 + Double(count - 2 - from))
      }
      let found = Optimum(track, within: accuracy, costs)
      #expect(abs(found.energy_mJ - best) < 1e-6)
    }
  }

  @Test("steady motion, computed by hand: three seconds on, one cycle, off until the end")
  func steady() {
    let found = TestTracks.optimum((0...22).map(Double.init), 9.5, TestTracks.costs([(0, 2)]))
    // 3 × 25; a second of tracking, 7 s off, 2 s of acquisition; a second of tracking, 8 s off. A second report at the
    // end of the second of tracking would save one second on: 9 s off, 152 mJ in total.
    let cycle = 25.0 + 7 + 60
    #expect(found.energy_mJ == 75 + cycle + 25 + 8)
    #expect(found.alwaysOn_mJ == 22 * 25)
    #expect(found.acquisitions == 1 && found.fixes.count == 5)
    #expect(found.off_s == 15 && found.acquiring_s == 2 && found.tracking_s == 5)
    #expect(found.duration_s == 22 && found.mean_mW == 200.0 / 22)
  }

  @Test("nothing is reported between a fix and the next one after a time off")
  func noSecondReport() {
    // The device moves once, in the second after the first fix. Only that second can be spent on.
    let path = [0.0] + Array(repeating: 100, count: 20)
    let found = TestTracks.optimum(path, 50, TestTracks.costs([(0, 2)]))
    #expect(found.fixes == [0, 1] && found.energy_mJ == 25 + 25 + 18)
    // It moves again in the second after the next fix, which a cycle cannot report.
    let twice = Array(repeating: 0.0, count: 10) + [100] + Array(repeating: 200, count: 10)
    let second = TestTracks.optimum(twice, 50, TestTracks.costs([(0, 2)]))
    #expect(second.fixes == [0, 10, 11] && second.energy_mJ == 25 + 7 + 60 + 25 + 25 + 8)
  }

  @Test("the time to fix is that of the time off with 0.35 s of start-up, to a whole second")
  func startUp() {
    // 1 s up to 5 s off, then 3 s: 5 s off with the start-up is in the second row.
    let path = { (length: Int) in Array(repeating: 0.0, count: length) + [100] }
    func energy(_ length: Int) -> Double {
      TestTracks.optimum(path(length), 50, TestTracks.costs([(0, 1), (5, 1), (5, 3)])).energy_mJ
    }
    #expect(energy(6) == 25 + 4 + 30)
    // No cycle has 7 s: one of 6 s, and a second on.
    #expect(energy(7) == 25 + 25 + 4 + 30)
    #expect(energy(9) == 2 * (25 + 30) + 1 + 4)
    #expect(energy(20) == 25 + 16 + 90)
    // 2.4 s end at the second before, 2.6 s at the one after; their energy is not rounded.
    for (fix, off) in [(2.4, 7.0), (2.6, 6)] {
      let found = TestTracks.optimum(path(10), 50, TestTracks.costs([(0, fix)]))
      #expect(found.off_s == off && found.energy_mJ == 25 + off + fix * 30)
    }
  }

  @Test("with the energy of a resume the schedule has fewer starts")
  func resume() {
    let path = (0...300).map { Double($0) }
    let cheap = TestTracks.optimum(path, 20.5, TestTracks.costs([(0, 2)]))
    let dear = TestTracks.optimum(path, 20.5, TestTracks.costs([(0, 2)], start_mJ: 1_000))
    #expect(cheap.acquisitions > 10 && dear.acquisitions == 0)
    #expect(dear.energy_mJ <= Double(300 * 25))
  }

  @Test("a jump in the last second costs an acquisition and no tracking after it")
  func lastSecond() {
    let found = TestTracks.optimum(
      Array(repeating: 0, count: 10) + [100], 50, TestTracks.costs([(0, 2)]))
    #expect(found.energy_mJ == 25 + 7 + 60 && found.tracking_s == 1)
    #expect(found.fixes == [0, 10] && found.acquisitions == 1)
  }

  @Test("an error equal to the bound is allowed")
  func boundary() {
    let jump = Array(repeating: 0.0, count: 10) + Array(repeating: 20.0, count: 10)
    let positions = SampledTrack(TestTracks.track(jump)).coordinates
    let distance = positions[0].localDistance(to: positions[19])
    #expect(TestTracks.optimum(jump, distance, TestTracks.costs([(0, 2)])).energy_mJ == 25 + 18)
    let nearer = TestTracks.optimum(jump, distance.nextDown, TestTracks.costs([(0, 2)]))
    #expect(nearer.acquisitions == 1 && nearer.energy_mJ == 25 + 7 + 60 + 25 + 8)
  }

  @Test(
    "the receiver stays off for a stationary device, after one second",
    arguments: [1, 2, 15, 16, 17, 36_001])
  func stationary(count: Int) {
    let path = [Double](repeating: 0, count: count)
    let found = TestTracks.optimum(path, 50, TestTracks.costs([(0, 1)]))
    let energy = count > 1 ? 25 + Double(count - 2) : 0
    #expect(found.energy_mJ == energy && found.acquisitions == 0)
    #expect(found.fixes == [0] || count == 2)
    #expect(found.mean_mW == (count > 1 ? energy / Double(count - 1) : 0))
  }

  @Test("the schedule meets the bound, and its times and energy are consistent")
  func schedule() {
    var random = SimulationRandom(seed: 3, stream: 9)
    for rows in Self.tables.map(\.rows) {
      let path = TestTracks.track(TestTracks.random(600, &random))
      let track = SampledTrack(path, gapLimit: .seconds(3))
      let accuracy = 5 + 20 * random.uniform()
      let found = Optimum(track, within: accuracy, TestTracks.costs(rows, start_mJ: 7))
      var tally = BoundTally(path, within: accuracy, gapLimit: .seconds(3))
      for second in found.fixes {
        tally.add(track.coordinates[second], at: Instant(seconds: Double(second)))
      }
      let summary = tally.finish()
      #expect(summary.exceededSeconds == 0 && summary.maximum_m <= accuracy)
      #expect(summary.seconds == track.isGap.count(where: { !$0 }))
      #expect(zip(found.fixes, found.fixes.dropFirst()).allSatisfy { $0 < $1 })
      // Each fix is at the nearest whole second.
      let time = found.off_s + found.acquiring_s + found.tracking_s
      let rounding = 0.5 * Double(found.acquisitions)
      #expect(abs(time - Double(found.duration_s)) < rounding + 1e-6)
      let energy =
        found.off_s + 30 * found.acquiring_s + 25 * found.tracking_s
        + 7 * Double(found.acquisitions)
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
        #expect(found.energy_mJ <= found.alwaysOn_mJ && found.energy_mJ >= 25 + 898)
        before = found.energy_mJ
      }
      #expect(before == 25 + 898)
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
    let costs = try #require(ScheduleCosts(profile))
    let power = try #require(profile.receiver).power
    #expect(costs.acquire_mW == power.acquire_mw && costs.track_mW == power.track_mw)
    // The receiver's supply cannot be switched, so it cannot enter the backup state.
    #expect(costs.off_mW == power.standby_mw && costs.on_mW == power.track_mw)
    // 4 s off and 1 s of acquisition; 5 s and 3 s.
    for (cycle, off) in [(6, 4), (9, 5), (7_203, 7_199), (14_428, 14_399), (14_429, 14_400)] {
      let found = costs.pieces.filter { $0.first <= cycle && $0.last >= cycle }
      #expect(found.contains { $0.off_s(ofCycle: cycle) == off }, "\(cycle)")
    }
    #expect(!costs.pieces.contains { $0.first <= 8 && $0.last >= 7 })
    #expect(costs.start_mJ == 0)
  }

  @Test("the lowest powers on and off depend on the receiver and its supply")
  func powers() throws {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    let power = try #require(profile.receiver).power
    #expect(power.backup_mw < power.standby_mw && power.powersave_mw == 10)
    #expect(ScheduleCosts(profile)?.off_mW == power.backup_mw)
    #expect(ScheduleCosts(profile)?.on_mW == 10 && ScheduleCosts(profile)?.track_mW == 25)
    profile.receiver?.hasBackupSupply = false
    #expect(ScheduleCosts(profile)?.off_mW == power.off_mw)
    profile.receiver?.power.powersave_mw = nil
    #expect(ScheduleCosts(profile)?.on_mW == 25)
    let streaming = try BoardCatalog(directory: PackageBoards.folder).find("pi4-l76k-hat")
    var silent = streaming
    silent.receiver?.family = .passive
    let track_mw = try #require(silent.receiver).power.track_mw
    #expect(ScheduleCosts(silent)?.off_mW == track_mw, "it can only stay on")
    #expect(ScheduleCosts(silent, .total)?.pieces.isEmpty == true)
    #expect(ScheduleCosts(streaming)?.off_mW == streaming.receiver?.power.standby_mw)
    silent.receiver = nil
    #expect(ScheduleCosts(silent) == nil)
  }

  @Test("with a board that suspends: suspended while off and acquiring, idle with work while on")
  func totalWithSuspend() throws {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    let costs = try #require(ScheduleCosts(profile, .total))
    #expect(costs.acquire_mW == 30 + 10 && costs.off_mW == 0.1 + 10)
    #expect(costs.on_mW == 10 + 100 + 20 && costs.track_mW == 25 + 100 + 20)
    #expect(costs.start_mJ == 0.5 * 1_000)
    #expect(costs.pieces == ScheduleCosts(profile)?.pieces)
    // Suspended without an alarm cannot be used for a wait.
    profile.board.suspended?.wakeSources.remove(.alarm)
    #expect(ScheduleCosts(profile, .total)?.off_mW == 0.1 + 100)
    // By hand: 3 s on, 600 s off.
    let path = [0.0, 50, 100] + Array(repeating: 150, count: 601)
    let found = TestTracks.optimum(path, 20, costs)
    #expect(abs(found.energy_mJ - (4 * 130 + 599 * 10.1)) < 1e-6)
    // A jump in the last second costs a resume.
    let jump = TestTracks.optimum(Array(repeating: 0, count: 600) + [100], 50, costs)
    #expect(abs(jump.energy_mJ - (130 + 596 * 10.1 + 3 * 40 + 500)) < 1e-6)
  }

  @Test("with a board that cannot suspend: idle all the time, and no energy for a resume")
  func totalWithoutSuspend() throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find("zero2w-max-m10s")
    let costs = try #require(ScheduleCosts(profile, .total))
    let power = try #require(profile.receiver).power
    #expect(costs.acquire_mW == power.acquire_mw + 600)
    #expect(costs.off_mW == power.standby_mw + 600 && costs.start_mJ == 0)
    #expect(costs.on_mW == power.track_mw + 620 && costs.track_mW == costs.on_mW)
    #expect(ScheduleCosts(profile, .total, work: .zero)?.on_mW == power.track_mw + 600)
  }
}
