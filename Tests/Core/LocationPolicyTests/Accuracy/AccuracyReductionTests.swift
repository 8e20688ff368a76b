import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Reduced accuracy")
struct AccuracyReductionTests {
  static func precise(_ latitude: Double, _ longitude: Double, at seconds: Double = 0) -> Fix {
    guard let position = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("the coordinate is valid")
    }
    var fix = Fix(acquired: Instant(seconds: seconds), coordinate: position)
    fix.utc = UTCTime(microseconds: 1_700_000_000_123_456)
    fix.altitude_mm = 12_345
    fix.ellipsoidalAltitude_mm = 23_456
    fix.speed_mmps = 1_234
    fix.course_e4 = 12_345
    fix.horizontalAccuracy_mm = 3_000
    fix.verticalAccuracy_mm = 4_000
    fix.speedAccuracy_mmps = 100
    fix.courseAccuracy_e2 = 200
    fix.satellites = 12
    fix.quality = .differential
    return fix
  }

  static func coarse(_ fix: Fix) -> Fix? {
    var reduction = AccuracyReduction()
    return reduction.reduce(fix)
  }

  /// A random position, with a share of positions near the poles and the antimeridian.
  static func position(_ random: inout SplitMix64) -> (Double, Double) {
    var latitude = Double.random(in: -90...90, using: &random)
    var longitude = Double.random(in: -180...180, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: latitude = (latitude < 0 ? -1 : 1) * (90 - abs(latitude) / 200)
    case 1: longitude = (longitude < 0 ? -1 : 1) * (180 - abs(longitude) / 200)
    case _: break
    }
    return (latitude, longitude)
  }

  @Test(
    "AUT-6: a coarse fix has no altitude, speed, course or other detail; UTC is in whole minutes")
  func noOtherFields() throws {
    var fix = Self.precise(48.137, 11.575, at: 77)
    fix.isSimulated = true
    fix.isFromAccessory = true
    fix.isDateUncertain = true
    let coarse = try #require(Self.coarse(fix))
    var expected = Fix(
      acquired: fix.acquired, coordinate: CoarseCell(of: fix.coordinate).middle,
      mode: .twoDimensional)
    expected.horizontalAccuracy_mm = 5_000_000
    expected.utc = UTCTime(microseconds: 1_699_999_980_000_000)
    expected.isSimulated = true
    expected.isFromAccessory = true
    expected.isDateUncertain = true
    #expect(coarse == expected)
    fix.utc = nil
    #expect(try #require(Self.coarse(fix)).utc == nil)
    fix.utc = UTCTime(microseconds: -1)
    #expect(try #require(Self.coarse(fix)).utc == UTCTime(microseconds: -60_000_000))
  }

  @Test("AUT-5: two positions in one cell give identical coarse fixes")
  func sameCell() {
    var random = SplitMix64(seed: 5)
    var pairs = 0
    for _ in 0..<20_000 {
      let (latitude, longitude) = Self.position(&random)
      let one = Self.precise(latitude, longitude)
      let cell = CoarseCell(of: one.coordinate)
      let other = Self.precise(
        min(90, max(-90, latitude + Double.random(in: -0.05...0.05, using: &random))),
        min(180, max(-180, longitude + Double.random(in: -0.05...0.05, using: &random))))
      guard CoarseCell(of: other.coordinate) == cell else { continue }
      pairs += 1
      #expect(Self.coarse(one) == Self.coarse(other))
      #expect(CoarseCell(of: cell.middle) == cell)
    }
    #expect(pairs > 5_000)
  }

  @Test("AUT-5: two thirds of positions lie within 5 km of the reported one, all within 8.1 km")
  func accuracy() {
    var random = SplitMix64(seed: 6)
    var near = 0
    let count = 10_000
    for _ in 0..<count {
      let (latitude, longitude) = Self.position(&random)
      let position = Self.precise(latitude, longitude).coordinate
      let cell = CoarseCell(of: position)
      #expect(cell.covers(position))
      #expect(cell.middle.isValid)
      #expect(cell.column >= 0 && cell.column < cell.columns)
      let distance = cell.middle.distance(to: position)
      #expect(distance < 8_100)
      if distance <= 5_000 { near += 1 }
    }
    #expect(near > count * 66 / 100)
    #expect(near < count * 80 / 100)
  }

  @Test("AUT-5: all cells except the polar caps have nearly the same area")
  func area() {
    for row: Int64 in 1...1_999 {
      let latitude_e9 = row * 90_000_000 - 90_000_000_000
      let cell = CoarseCell(of: Coordinate(latitude_e9: latitude_e9, longitude_e9: 0))
      #expect(cell.row == row)
      let middle = cell.middle
      let next = 360_000_000_000 / cell.columns
      let neighbour = Coordinate(
        latitude_e9: middle.latitude_e9, longitude_e9: middle.longitude_e9 - next)
      guard cell.columns > 30 else { continue }
      let width = middle.localDistance(to: neighbour)
      #expect(width > 9_800 && width < 10_200, "\(row): \(width) m")
    }
    #expect(CoarseCell(of: Coordinate(latitude_e9: 0, longitude_e9: 0)).columns == 4_000)
  }

  @Test("AUT-5: a cell covers positions up to its margin and no farther")
  func margin() {
    let cell = CoarseCell(of: Coordinate(latitude_e9: 0, longitude_e9: 0))
    // Half of the cell's 0.09° and its margin.
    let limit: Int64 = 54_000_000
    func covers(north: Int64, east: Int64) -> Bool {
      cell.covers(
        Coordinate(
          latitude_e9: cell.middle.latitude_e9 + north,
          longitude_e9: cell.middle.longitude_e9 + east))
    }
    #expect(covers(north: limit, east: limit) && covers(north: -limit, east: -limit))
    #expect(!covers(north: limit + 1, east: 0) && !covers(north: -limit - 1, east: 0))
    #expect(!covers(north: 0, east: limit + 1) && !covers(north: 0, east: -limit - 1))
  }

  @Test("AUT-5, LOC-7: poles and antimeridian are handled like any other position")
  func edges() throws {
    for longitude in stride(from: -180.0, through: 180, by: 7.5) {
      for sign in [-1.0, 1] {
        let coarse = try #require(Self.coarse(Self.precise(sign * 89.96, longitude)))
        #expect(coarse.coordinate == Coordinate(latitude: sign * 90, longitude: 0))
        #expect(try #require(Self.coarse(Self.precise(sign * 89.95, longitude))) != coarse)
      }
    }
    for latitude in [-89.9, -45, 0, 51.5, 89.9] {
      let west = try #require(Self.coarse(Self.precise(latitude, -180)))
      let east = try #require(Self.coarse(Self.precise(latitude, 180)))
      #expect(west == east)
      // Noise across the antimeridian does not leave the cell.
      var reduction = AccuracyReduction()
      let first = reduction.reduce(Self.precise(latitude, 179.999_9))?.coordinate
      #expect(first != west.coordinate)
      for hour in 1...10 {
        let longitude = hour.isMultiple(of: 2) ? 179.999_9 : -179.999_9
        let again = reduction.reduce(
          Self.precise(latitude, longitude, at: Double(hour) * 3_600))
        #expect(again?.coordinate == first)
      }
    }
  }

  @Test(
    "AUT-5: a cell applies up to 1 km beyond its border, so that reports do not reveal the border")
  func hysteresis() throws {
    let cell = CoarseCell(of: equator)
    // The cell of (0, 0): 0.045° north and south, 0.09° east.
    for (latitude, longitude, isCovered) in [
      (0.045, 0.0, true), (0.053_999, 0, true), (0.054_001, 0, false), (-0.053_999, 0, true),
      (-0.054_001, 0, false), (0, 0.098_999, true), (0, 0.099_001, false), (0, -0.008_999, true),
      (0, -0.009_001, false),
    ] {
      let position = Self.precise(latitude, longitude, at: 900)
      #expect(cell.covers(position.coordinate) == isCovered)
      var reduction = AccuracyReduction()
      let first = reduction.reduce(Self.precise(0, 0))
      let second = reduction.reduce(position)
      #expect((first?.coordinate == second?.coordinate) == isCovered)
      guard !isCovered else { continue }
      // Now the hysteresis applies to the other cell.
      let third = reduction.reduce(Self.precise(0, 0, at: 1_800))
      #expect(
        third?.coordinate != first?.coordinate || abs(latitude) > 0.054 || abs(longitude) > 0.009)
    }
  }

  @Test("AUT-5: drift along a border reports one cell, at most four times an hour")
  func reportInterval() {
    var random = SplitMix64(seed: 8)
    var reduction = AccuracyReduction()
    var reported: [Fix] = []
    for second in 0..<36_000 {
      let fix = Self.precise(0.045 + 1e-4 * random.normal(), 0.09, at: Double(second))
      if let coarse = reduction.reduce(fix) { reported.append(coarse) }
    }
    #expect(reported.count == 40)
    #expect(reported.allSatisfy { $0.coordinate == reported[0].coordinate })
    let pairs = zip(reported, reported.dropFirst())
    #expect(pairs.allSatisfy { $1.acquired - $0.acquired == .seconds(900) })
  }

  @Test("AUT-5: a change of cell is reported no earlier than any other coarse fix")
  func bounded() {
    var reduction = AccuracyReduction()
    #expect(reduction.due == .boot)
    #expect(reduction.reduce(Self.precise(0, 0, at: 10)) != nil)
    #expect(reduction.due == Instant(seconds: 910))
    #expect(reduction.reduce(Self.precise(5, 5, at: 909.999)) == nil)
    let moved = reduction.reduce(Self.precise(5, 5, at: 910))
    #expect(moved?.coordinate == CoarseCell(of: Self.precise(5, 5).coordinate).middle)
  }

  @Test("AUT-5: a fix less accurate than 5 km is not reported")
  func inaccurate() {
    var fix = Self.precise(0, 0)
    fix.horizontalAccuracy_mm = 5_000_001
    var reduction = AccuracyReduction()
    #expect(reduction.reduce(fix) == nil)
    #expect(reduction.due == .boot)
    fix.horizontalAccuracy_mm = 5_000_000
    #expect(reduction.reduce(fix) != nil)
    fix.horizontalAccuracy_mm = nil
    #expect(Self.coarse(fix) == Self.coarse(Self.precise(0, 0)))
  }
}
