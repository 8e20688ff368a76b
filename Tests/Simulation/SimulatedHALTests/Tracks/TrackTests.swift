import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Tracks") struct TrackTests {
  private func point(
    _ second: Double, _ lat: Double, _ lon: Double, _ altitude: Int32? = nil, _ speed: Int32? = nil
  ) -> TrackPoint {
    TrackPoint(
      offset: Interval(seconds: second),
      coordinate: Coordinate(
        latitude_e9: Int64((lat * 1e9).rounded()), longitude_e9: Int64((lon * 1e9).rounded())),
      altitude_mm: altitude, speed_mmps: speed)
  }

  private let start = UTCTime(microseconds: 1_000_000_000_000_000)

  @Test("position, altitude and speed are interpolated linearly between two points")
  func interpolation() {
    let track = Track(
      start: start,
      points: [point(0, 50, 10, 1_000, 2_000), point(8, 50.0008, 10.0004, 3_000, 6_000)])
    var reader = TrackReader(track)
    let state = reader.state(at: start + .seconds(2))
    #expect(
      state.coordinate == Coordinate(latitude_e9: 50_000_200_000, longitude_e9: 10_000_100_000))
    #expect(state.altitude_mm == 1_500)
    #expect(state.speed == 3)
    #expect(abs(state.climb - 0.25) < 1e-12)
    #expect(!state.isGap)
    let (east, north) = track.points[0].coordinate.localOffset(to: track.points[1].coordinate)
    #expect(abs(state.east / state.north - east / north) < 1e-12)
    #expect(abs(state.east * state.east + state.north * state.north - 1) < 1e-12)
  }

  @Test("the points are returned exactly, in ascending, descending and random order")
  func points() {
    let points = (0..<200).map { (i: Int) -> TrackPoint in
      let x = Double(i)
      return point(x * 3, 40 + x * x * 1e-6, -70 + x * 1e-5, Int32(i), nil)
    }
    let track = Track(start: start, points: points)
    var reader = TrackReader(track)
    var order = Array(0..<200)
    order += (0..<200).reversed()
    order += (0..<200).map { (i: Int) -> Int in i * 77 % 200 }
    for i in order {
      let state = reader.state(at: start + points[i].offset)
      #expect(state.coordinate == points[i].coordinate)
      #expect(state.altitude_mm == Int32(i))
    }
  }

  @Test("speed and course are derived from the points if no speed is given")
  func derived() {
    let a = Coordinate(latitude_e9: 10_000_000_000, longitude_e9: 20_000_000_000)
    let b = a.moved(east: -30, north: 40)
    var reader = TrackReader(
      Track(
        start: start,
        points: [
          TrackPoint(offset: .zero, coordinate: a), TrackPoint(offset: .seconds(10), coordinate: b),
          TrackPoint(offset: .seconds(20), coordinate: b),
        ]))
    let moving = reader.state(at: start + .seconds(5))
    #expect(abs(moving.speed - 5) < 1e-6)
    #expect(abs(moving.east + 0.6) < 1e-6 && abs(moving.north - 0.8) < 1e-6)
    let standing = reader.state(at: start + .seconds(15))
    #expect(standing.speed == 0)
    #expect(abs(standing.east + 0.6) < 1e-6, "the last known course is kept")
  }

  @Test("LOC-7: interpolation across the antimeridian uses the short path", arguments: [1.0, -1.0])
  func antimeridian(_ side: Double) {
    var reader = TrackReader(
      Track(start: start, points: [point(0, 0, side * 179.9), point(4, 0, -side * 179.9)]))
    #expect(reader.state(at: start + .seconds(1)).coordinate.longitude == side * 179.95)
    #expect(reader.state(at: start + .seconds(3)).coordinate.longitude == -side * 179.95)
    #expect(reader.state(at: start + .seconds(1)).speed < 6_000)
    #expect(reader.state(at: start + .seconds(1)).east * side > 0.99)
  }

  @Test("outside the track the position is that of its first or last point, as a gap")
  func outside() {
    let track = Track(start: start, points: [point(1, 5, 5), point(2, 6, 6)])
    var reader = TrackReader(track)
    let before = reader.state(at: start)
    #expect(before.coordinate == track.points[0].coordinate && before.isGap && before.speed == 0)
    let end = reader.state(at: start + .seconds(2))
    #expect(end.coordinate == track.points[1].coordinate && !end.isGap)
    let after = reader.state(at: start + .seconds(90))
    #expect(after.coordinate == track.points[1].coordinate && after.isGap && after.speed == 0)
  }

  @Test("an interval longer than the limit is a gap; its end points are not")
  func gaps() {
    let track = Track(
      start: start,
      points: [point(0, 5, 5), point(60, 5, 5.1), point(121, 5, 5.2), point(122, 5, 5.3)])
    var reader = TrackReader(track)
    #expect(!reader.state(at: start + .seconds(30)).isGap)
    #expect(!reader.state(at: start + .seconds(60)).isGap)
    #expect(reader.state(at: start + .seconds(61)).isGap)
    #expect(!reader.state(at: start + .seconds(121)).isGap)
  }

  @Test("a single point is a track")
  func single() {
    var reader = TrackReader(Track(start: start, points: [point(0, 5, 5)]))
    #expect(reader.state(at: start).coordinate.latitude == 5)
    #expect(reader.state(at: start + .seconds(5)).isGap)
  }
}

@Suite("Tracks in CSV") struct TrackCSVTests {
  private func problem(_ text: String) -> TrackError? {
    do {
      _ = try Track(csv: text)
      return nil
    } catch { return error }
  }

  @Test("empty values, CR LF, empty lines and a byte order mark are accepted")
  func good() throws {
    let text =
      "\u{FEFF}unix_time,lat,lon,alt,speed\r\n1309123527,43.6743283,-79.4092059,112.6,8.64\r\n"
      + "\r\n1309123533.25,-43.6740567,79.4097230,,\r\n"
    let track = try Track(csv: text)
    #expect(track.start.microseconds == 1_309_123_527_000_000)
    #expect(
      track.points == [
        TrackPoint(
          offset: .zero,
          coordinate: Coordinate(latitude_e9: 43_674_328_300, longitude_e9: -79_409_205_900),
          altitude_mm: 112_600, speed_mmps: 8_640),
        TrackPoint(
          offset: .milliseconds(6_250),
          coordinate: Coordinate(latitude_e9: -43_674_056_700, longitude_e9: 79_409_723_000)),
      ])
  }

  private static let header = "unix_time,lat,lon,alt,speed\n"

  @Test("an error is reported with its line")
  func bad() {
    let h = Self.header
    let p = "100,1,2,3,4\n"
    let cases: [(String, Int, TrackError.Problem)] = [
      ("", 1, .empty),
      (h, 1, .empty),
      ("time,lat,lon\n" + p, 1, .badHeader(found: "time,lat,lon")),
      (h + p + "101,1,2,3\n", 3, .fieldCount(found: 4, expected: 5)),
      (h + p + "101,1,2,3,4,5\n", 3, .fieldCount(found: 6, expected: 5)),
      (h + p + "\n101,x,2,3,4", 4, .notANumber(field: "lat", found: "x")),
      (h + "101,nan,2,3,4", 2, .notANumber(field: "lat", found: "nan")),
      (h + "101,1,inf,3,4", 2, .notANumber(field: "lon", found: "inf")),
      (h + "101,1,1e999,3,4", 2, .notANumber(field: "lon", found: "1e999")),
      (h + "0x10,1,2,3,4", 2, .notANumber(field: "unix_time", found: "0x10")),
      (h + "101,,2,3,4", 2, .notANumber(field: "lat", found: "")),
      (
        h + "101,90.1,2,3,4", 2,
        .outOfRange(field: "lat", found: "90.1", allowed: "-90.0 to 90.0")
      ),
      (
        h + "101,1,-180.5,3,4", 2,
        .outOfRange(field: "lon", found: "-180.5", allowed: "-180.0 to 180.0")
      ),
      (
        h + "101,1,2,3,-1", 2,
        .outOfRange(field: "speed", found: "-1", allowed: "0.0 to 16777.0")
      ),
      (h + p + "99,1,2,3,4", 3, .timeDecreases(found: "99")),
      ("unix_time,lat,lon,alt,speedy\n" + p, 1, .badHeader(found: "unix_time,lat,lon,alt,speedy")),
      ("unix_time,lat,lon,alt,speed,mode\n" + p, 2, .fieldCount(found: 5, expected: 6)),
      (h + "100,,,,\n,1,2,3,4\n", 3, .empty),
    ]
    for (text, line, expected) in cases {
      #expect(problem(text) == TrackError(line: line, problem: expected))
    }
    #expect(throws: TrackError(line: 2, problem: .notUTF8)) {
      _ = try Track(csv: Array(h.utf8) + [0x31, 0xFF, 0x0A])
    }
  }

  @Test("further columns, lines without time or position, and repeated times are skipped")
  func wide() throws {
    let text =
      "unix_time,lat,lon,alt,speed,time,mode\n100,,,,,x,no_fix\n,1,2,,,,3d\n101,1,2,3,4,x,3d\n"
      + "101,8,9,3,4,x,3d\n102,,,,,,no_fix\n103,1.5,2.5,,,x,2d\n"
    let track = try Track(csv: text)
    #expect(track.start == UTCTime(microseconds: 101_000_000))
    #expect(
      track.points == [
        TrackPoint(
          offset: .zero,
          coordinate: Coordinate(latitude_e9: 1_000_000_000, longitude_e9: 2_000_000_000),
          altitude_mm: 3_000, speed_mmps: 4_000),
        TrackPoint(
          offset: .seconds(2),
          coordinate: Coordinate(latitude_e9: 1_500_000_000, longitude_e9: 2_500_000_000)),
      ])
    // Skipped lines count for the line number.
    #expect(problem(text + "104,1,x,,,x,2d")?.line == 8)
  }

  @Test("a track over its limit is reported with the line of its largest step")
  func tooLong() throws {
    let text = Self.header + "0,1,2,,\n10,1,2,,\n\n1000,1,2,,\n1001,1,2,,\n"
    #expect(
      try Track(csv: Array(text.utf8), maximumDuration: .seconds(1_001)).duration == .seconds(1_001)
    )
    let expected = TrackError(
      line: 5,
      problem: .tooLong(span: .seconds(1_001), step: .seconds(990), maximum: .seconds(1_000)))
    #expect(throws: expected) {
      _ = try Track(csv: Array(text.utf8), maximumDuration: .seconds(1_000))
    }
  }

  @Test("every error message contains the line")
  func messages() {
    for found in ["", Self.header, "x\n", Self.header + "1,2\n", Self.header + "1,a,2,3,4\n"] {
      #expect(problem(found)?.description.hasPrefix("line ") == true)
    }
  }
}

@Suite("Scenarios") struct ScenarioTests {
  @Test("equal seeds give equal tracks", arguments: Scenario.allCases)
  func seeds(_ scenario: Scenario) {
    let one = scenario.track(seed: 7)
    #expect(one == scenario.track(seed: 7))
    let differs = one != scenario.track(seed: 8)
    #expect(differs == (scenario != .still))
  }

  @Test(
    "a scenario starts at home on 2026-03-01 and has the requested duration",
    arguments: Scenario.allCases)
  func duration(_ scenario: Scenario) {
    for length in [
      scenario.defaultDuration, .seconds(1), .milliseconds(90_500), .seconds(3 * 86_400 + 17),
    ] {
      let track = scenario.track(seed: 3, duration: length)
      #expect(track.firstTime == Scenario.start)
      #expect(track.duration == length)
      #expect(track.points[0].coordinate == Scenario.home)
    }
    #expect(Scenario.start.date == CalendarDate(year: 2026, month: 3, day: 1))
  }

  @Test(
    "a scenario has no jumps, and realistic speeds and accelerations",
    arguments: Scenario.allCases)
  func motion(_ scenario: Scenario) {
    for seed: UInt64 in 1...4 {
      let track = scenario.track(seed: seed)
      var reader = TrackReader(track)
      var last: TrackState?
      for second in 0..<(track.duration.microseconds / 1_000_000) {
        let state = reader.state(at: track.start + .seconds(second))
        #expect(!state.isGap)
        if let last {
          let step = last.coordinate.localDistance(to: state.coordinate)
          #expect(step <= 36, "\(scenario) \(seed) at \(second) s")
          #expect(abs(state.speed - last.speed) <= 5, "\(scenario) \(seed) at \(second) s")
          let mean = (state.speed + last.speed) / 2
          #expect(abs(step - mean) <= 4, "\(scenario) \(seed) at \(second) s")
        }
        last = state
      }
    }
  }

  @Test("each scenario has the expected length and shape")
  func shape() {
    func length(_ scenario: Scenario) -> Double { scenario.track(seed: 5).length_m }
    #expect(length(.still) == 0)
    #expect((2_500...6_000).contains(length(.walk)))
    #expect((8_000...11_000).contains(length(.loop)))
    #expect((6_000...14_000).contains(length(.commute)))
    #expect((80_000...220_000).contains(length(.drive)))
    #expect((17_000...40_000).contains(length(.day)))
    let loop = Scenario.loop.track(seed: 5)
    #expect(loop.points.allSatisfy { Scenario.home.localDistance(to: $0.coordinate) < 200 })
  }

  @Test("a day is spent at home at night and at the same work every day")
  func days() {
    let track = Scenario.day.track(seed: 9, duration: .seconds(2 * 86_400))
    var reader = TrackReader(track)
    func position(_ hour: Double) -> Coordinate {
      reader.state(at: track.start + Interval(seconds: hour * 3_600)).coordinate
    }
    #expect(position(3).localDistance(to: Scenario.home) < 1)
    #expect(position(23.9).localDistance(to: Scenario.home) < 1)
    #expect(position(11).localDistance(to: Scenario.home) > 1_000)
    #expect(position(11).localDistance(to: position(16)) < 1)
    #expect(position(11).localDistance(to: position(35)) < 1)
    #expect(position(27).localDistance(to: Scenario.home) < 1)
  }
}
