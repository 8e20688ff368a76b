import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationSimulation

@Suite("A motion sensor carried along a track")
struct AccelerometerTests {
  /// Stands to second 300, goes 5 m/s to second 400, stands to second 700.
  static let trip = (0...700).map { 5 * Double(min(max($0 - 300, 0), 100)) }

  static func motion(_ east: [Double?]) -> [Bool] {
    SimulatedAccelerometer.motion(SampledTrack(Ways.track(east), gapLimit: .unlimited))
  }

  static func spells(
    _ east: [Double?], seed: UInt64 = 1, stillAfter: Interval = .seconds(10)
  ) -> [Range<Instant>] {
    SimulatedAccelerometer(Ways.track(east), stillAfter: stillAfter, seed: seed).activePeriods
  }

  /// The spell that second 350 lies in.
  static func main(_ spells: [Range<Instant>]) -> Range<Instant>? {
    spells.first { $0.contains(.boot + .seconds(350)) }
  }

  @Test("motion is found where it is, to a few seconds")
  func found() {
    let motion = Self.motion(Self.trip)
    #expect(motion.count == 701)
    #expect(motion[305..<396].allSatisfy { $0 })
    #expect(!motion[..<295].contains(true) && !motion[405...].contains(true))
  }

  @Test("errors of a receiver at rest, and a wander within a room, are no motion")
  func jitter() {
    var random = SimulationRandom(seed: 5, stream: 1)
    let east = (0..<2_000).map { _ in 2 * random.normal() }
    #expect(!Self.motion(east).contains(true))
    #expect(!Self.motion((0..<600).map { 0.05 * Double(abs(50 - $0 % 100)) }).contains(true))
    #expect(!Self.motion([0]).contains(true))
  }

  @Test("a slow walk is motion; one glitch of the recording is not")
  func slow() {
    let walk = Self.motion((0..<300).map { 0.7 * Double($0) })
    #expect(walk[10..<290].allSatisfy { $0 })
    var glitch = [Double](repeating: 0, count: 200)
    glitch[100] = 80
    #expect(!Self.motion(glitch).contains(true))
  }

  @Test("the line rises up to 2 s late and falls `stillAfter` after the motion's end")
  func line() throws {
    let motion = Self.motion(Self.trip)
    let begin = Double(try #require(motion.firstIndex(of: true)))
    let end = Double(try #require(motion.lastIndex(of: true)) + 1)
    var delays: Set<Double> = []
    for seed in 1...20 as ClosedRange<UInt64> {
      let spell = try #require(Self.main(Self.spells(Self.trip, seed: seed)))
      delays.insert(spell.lowerBound.seconds - begin)
      // A false alarm may lie at either end.
      #expect(spell.lowerBound.seconds <= begin + 2 && spell.upperBound.seconds >= end + 10)
    }
    #expect(delays.count > 15 && delays.filter { $0 >= 0 }.count > 15)
    let short = try #require(Self.main(Self.spells(Self.trip)))
    let long = try #require(Self.main(Self.spells(Self.trip, stillAfter: .seconds(40))))
    #expect(long.lowerBound == short.lowerBound)
    #expect(long.upperBound == short.upperBound + .seconds(30))
  }

  @Test("at rest there is about one false alarm an hour, as long as `stillAfter`")
  func falseAlarms() {
    let day = [Double](repeating: 0, count: 86_401)
    let spells = Self.spells(day)
    #expect((12...40).contains(spells.count))
    #expect(spells.allSatisfy { $0.upperBound - $0.lowerBound >= .seconds(10) })
    #expect(spells.contains { $0.upperBound - $0.lowerBound == .seconds(10) })
  }

  @Test("spells are in order and apart; the same seed gives the same ones, another others")
  func order() {
    let track = Scenario.day.track(seed: 3)
    let spells = SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 9).activePeriods
    #expect(spells.count > 10)
    for (one, next) in zip(spells, spells.dropFirst()) { #expect(one.upperBound < next.lowerBound) }
    #expect(
      SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 9).activePeriods == spells)
    #expect(
      SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 8).activePeriods != spells)
  }
}
