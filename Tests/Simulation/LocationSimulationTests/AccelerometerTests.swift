import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationSimulation

@Suite("Simulated motion sensor")
struct AccelerometerTests {
  /// East offsets, metres: stationary until second 300, 5 m/s until 400, stationary until 700.
  static let trip = (0...700).map { 5 * Double(min(max($0 - 300, 0), 100)) }

  static func motion(_ east: [Double?]) -> [Bool] {
    SimulatedAccelerometer.motion(SampledTrack(TestTracks.track(east), gapLimit: .unlimited))
  }

  static func periods(
    _ east: [Double?], seed: UInt64 = 1, stillAfter: Interval = .seconds(10)
  ) -> [Range<Instant>] {
    SimulatedAccelerometer(TestTracks.track(east), stillAfter: stillAfter, seed: seed).activePeriods
  }

  /// The active period that contains second 350.
  static func main(_ periods: [Range<Instant>]) -> Range<Instant>? {
    periods.first { $0.contains(.boot + .seconds(350)) }
  }

  @Test("motion is detected within a few seconds")
  func found() {
    let motion = Self.motion(Self.trip)
    #expect(motion.count == 701)
    #expect(motion[305..<396].allSatisfy { $0 })
    #expect(!motion[..<295].contains(true) && !motion[405...].contains(true))
  }

  @Test("position errors of a stationary receiver and slow drift are not motion")
  func jitter() {
    var random = SimulationRandom(seed: 5, stream: 1)
    let east = (0..<2_000).map { _ in 2 * random.normal() }
    #expect(!Self.motion(east).contains(true))
    #expect(!Self.motion((0..<600).map { 0.05 * Double(abs(50 - $0 % 100)) }).contains(true))
    #expect(!Self.motion([0]).contains(true))
  }

  @Test("a slow walk is motion; a single outlier of the recording is not")
  func slow() {
    let walk = Self.motion((0..<300).map { 0.7 * Double($0) })
    #expect(walk[10..<290].allSatisfy { $0 })
    var glitch = [Double](repeating: 0, count: 200)
    glitch[100] = 80
    #expect(!Self.motion(glitch).contains(true))
  }

  @Test("the line rises up to 2 s late and falls `stillAfter` after the end of motion")
  func line() throws {
    let motion = Self.motion(Self.trip)
    let begin = Double(try #require(motion.firstIndex(of: true)))
    let end = Double(try #require(motion.lastIndex(of: true)) + 1)
    var delays: Set<Double> = []
    for seed in 1...20 as ClosedRange<UInt64> {
      let period = try #require(Self.main(Self.periods(Self.trip, seed: seed)))
      delays.insert(period.lowerBound.seconds - begin)
      // A false alarm may extend the period at either end.
      #expect(period.lowerBound.seconds <= begin + 2 && period.upperBound.seconds >= end + 10)
    }
    #expect(delays.count > 15 && delays.filter { $0 >= 0 }.count > 15)
    let short = try #require(Self.main(Self.periods(Self.trip)))
    let long = try #require(Self.main(Self.periods(Self.trip, stillAfter: .seconds(40))))
    #expect(long.lowerBound == short.lowerBound)
    #expect(long.upperBound == short.upperBound + .seconds(30))
  }

  @Test("without motion about one false alarm an hour occurs, `stillAfter` long")
  func falseAlarms() {
    let day = [Double](repeating: 0, count: 86_401)
    let periods = Self.periods(day)
    #expect((12...40).contains(periods.count))
    #expect(periods.allSatisfy { $0.upperBound - $0.lowerBound >= .seconds(10) })
    #expect(periods.contains { $0.upperBound - $0.lowerBound == .seconds(10) })
  }

  @Test("periods are sorted and disjoint; equal seeds give equal periods")
  func order() {
    let track = Scenario.day.track(seed: 3)
    let periods = SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 9).activePeriods
    #expect(periods.count > 10)
    for (a, b) in zip(periods, periods.dropFirst()) { #expect(a.upperBound < b.lowerBound) }
    #expect(
      SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 9).activePeriods == periods)
    #expect(
      SimulatedAccelerometer(track, stillAfter: .seconds(60), seed: 8).activePeriods != periods)
  }
}
