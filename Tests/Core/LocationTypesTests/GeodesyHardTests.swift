import TestSupport
import Testing

@testable import LocationTypes

extension SplitMix64 {
  mutating func anywhere() -> Coordinate {
    Coordinate(
      latitude_e9: Int64.random(in: -90_000_000_000...90_000_000_000, using: &self),
      longitude_e9: Int64.random(in: -180_000_000_000...180_000_000_000, using: &self))
  }

  /// A random shift of up to one degree, with a logarithmic distribution.
  mutating func shift() -> Int64 {
    var size: Int64 = 1
    for _ in 0..<Int.random(in: 0...9, using: &self) { size *= 10 }
    return Int64.random(in: -size...size, using: &self)
  }

  /// Two points that are difficult for a solver.
  mutating func pair() -> (Coordinate, Coordinate) {
    let a = anywhere()
    let pole: Int64 = Bool.random(using: &self) ? 90_000_000_000 : -90_000_000_000
    switch Int.random(in: 0..<7, using: &self) {
    case 0: return (a, anywhere())
    case 1: return (a, a.shifted(shift(), shift()))
    case 2: return (a, a.antipode.shifted(shift(), shift()))
    case 3: return (a, a.antipode.shifted(0, shift()))
    case 4:
      return (a.at(latitude: shift()), a.antipode.at(latitude: shift()).shifted(0, shift()))
    case 5: return (a.at(latitude: pole).shifted(shift(), 0), anywhere().at(latitude: -pole))
    default: return (a.at(latitude: pole).shifted(shift(), 0), a.at(latitude: pole))
    }
  }
}

extension Coordinate {
  var antipode: Coordinate {
    Coordinate(latitude_e9: -latitude_e9, longitude_e9: longitude_e9).shifted(0, 180_000_000_000)
  }

  func at(latitude: Int64) -> Coordinate {
    Coordinate(latitude_e9: latitude, longitude_e9: longitude_e9)
  }

  /// Latitude clamped to ±90°, longitude wrapped to ±180°.
  func shifted(_ north: Int64, _ east: Int64) -> Coordinate {
    var longitude = longitude_e9 + east
    if longitude > 180_000_000_000 { longitude -= 360_000_000_000 }
    if longitude < -180_000_000_000 { longitude += 360_000_000_000 }
    return Coordinate(
      latitude_e9: max(-90_000_000_000, min(90_000_000_000, latitude_e9 + north)),
      longitude_e9: longitude)
  }
}

@Suite("Difficult geodesics")
struct GeodesyHardTests {
  /// Distance from pole to pole, metres: the largest distance of two points.
  static let halfMeridian = 20_003_931.458_625_446

  /// Computed for this test with 34 digits, without series: integrals of Karney (2013), (7), (8),
  /// by quadrature, the azimuth by bisection. Each row: coordinates in 1e-9°, metres, two bearings,
  /// and the uncertainty of the bearings for coordinates rounded to a double.
  @Test(
    "LOC-6, LOC-7: antipodes, poles, the equator and points millimetres apart are solved to 12 nm")
  func hard() {
    let numbers = Self.cases.split(whereSeparator: \.isWhitespace).map { Double($0)! }
    #expect(numbers.count == 45 * 8)
    for i in stride(from: 0, to: numbers.count, by: 8) {
      let r = Array(numbers[i..<i + 8])
      let a = Coordinate(latitude_e9: Int64(r[0]), longitude_e9: Int64(r[1]))
      let b = Coordinate(latitude_e9: Int64(r[2]), longitude_e9: Int64(r[3]))
      let line = Geodesic(from: a, to: b)
      #expect(abs(line.length - r[4]) < 12e-9, "\(a) \(b)")
      #expect(GeodesyPublishedTests.turn(line.initialBearing, r[5]) <= r[7], "\(a) \(b)")
      #expect(GeodesyPublishedTests.turn(line.finalBearing, r[6]) <= r[7], "\(a) \(b)")
      #expect(a.distance(to: b) == line.length)
      #expect(a.bearing(to: b) == line.initialBearing)
    }
  }

  @Test("LOC-6, LOC-7: any two points have a finite, symmetric distance, found in few iterations")
  func everyPair() {
    var random = SplitMix64(seed: 2013)
    for _ in 0..<20_000 {
      let (a, b) = random.pair()
      let line = Geodesic(from: a, to: b)
      let back = Geodesic(from: b, to: a)
      #expect(line.length >= 0 && line.length < Self.halfMeridian + 1e-8, "\(a) \(b)")
      #expect(line.length == back.length, "\(a) \(b)")
      for bearing in [line.initialBearing, line.finalBearing] {
        #expect(bearing >= 0 && bearing < 360, "\(a) \(b)")
      }
      #expect(GeodesicSolution(from: a, to: b).trials <= 8, "\(a) \(b)")
      #expect((line.length == 0) == (a == b || a.isSamePole(as: b)), "\(a) \(b)")
      // The same points mirrored at the equator, and rotated about the axis.
      let mirrored = (a.at(latitude: -a.latitude_e9), b.at(latitude: -b.latitude_e9))
      #expect(mirrored.0.distance(to: mirrored.1) == line.length)
      let turned = (a.shifted(0, 77_123_456_789), b.shifted(0, 77_123_456_789))
      #expect(turned.0.distance(to: turned.1) == line.length)
    }
  }

  @Test("LOC-6: the reverse geodesic has opposite bearings")
  func reverseBearings() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<3_000 {
      let (a, b) = random.pair()
      // Exact antipodes, and mirrored ends on one meridian, have two shortest lines.
      let isOpposite = abs(a.longitude_e9 - b.longitude_e9) == 180_000_000_000
      guard a != b, !isOpposite, !a.isSamePole(as: b) else { continue }
      let line = Geodesic(from: a, to: b)
      let back = Geodesic(from: b, to: a)
      // Mirrored latitudes may be connected over the north or over the south.
      guard abs(a.latitude_e9) != abs(b.latitude_e9) else { continue }
      #expect(GeodesyPublishedTests.turn(line.initialBearing, back.finalBearing + 180) < 1e-12)
      #expect(GeodesyPublishedTests.turn(line.finalBearing, back.initialBearing + 180) < 1e-12)
    }
  }

  @Test("LOC-6: the triangle inequality holds")
  func triangles() {
    var random = SplitMix64(seed: 1736)
    for _ in 0..<10_000 {
      let (a, b) = random.pair()
      let c = random.anywhere()
      #expect(a.distance(to: b) <= a.distance(to: c) + c.distance(to: b) + 2e-8, "\(a) \(b) \(c)")
      // On the line itself the two parts add up, within the rounding of the midpoint.
      let line = Geodesic(from: a, to: b)
      let middle = a.destination(bearing: line.initialBearing, distance: line.length / 2)
      let parts = a.distance(to: middle) + middle.distance(to: b)
      #expect(abs(parts - line.length) < 2.5e-4, "\(a) \(b)")
    }
  }

  @Test("LOC-6, LOC-7: the direct solution reaches the end point of the inverse solution")
  func directAndInverse() {
    var random = SplitMix64(seed: 99)
    for _ in 0..<5_000 {
      let (a, b) = random.pair()
      let line = Geodesic(from: a, to: b)
      let end = a.destination(bearing: line.initialBearing, distance: line.length)
      #expect(end.isValid)
      #expect(end.distance(to: b) < 1.2e-4, "\(a) \(b)")
      let start = b.destination(bearing: line.finalBearing, distance: -line.length)
      #expect(start.distance(to: a) < 1.2e-4, "\(a) \(b)")
    }
  }

  @Test("LOC-7: the iteration converges from any first guess, within its limit")
  func firstGuesses() {
    var random = SplitMix64(seed: 7)
    var most = 0
    for _ in 0..<2_000 {
      let a = random.anywhere()
      let b =
        Bool.random(using: &random)
        ? random.anywhere()
        : a.antipode.shifted(
          Int64.random(in: -2_000_000_000...2_000_000_000, using: &random),
          Int64.random(in: -2_000_000_000...2_000_000_000, using: &random))
      let isSwapped = abs(a.latitude_e9) < abs(b.latitude_e9)
      let (far, near) = isSwapped ? (b, a) : (a, b)
      let mirror: Double = far.latitude >= 0 ? -1 : 1
      let longitude = abs((b.longitude - a.longitude).remainder(dividingBy: 360))
      let problem = GeodesicProblem(
        latitude1: far.latitude * mirror, latitude2: near.latitude * mirror, longitude: longitude)
      guard !problem.isMeridional, !problem.isEquatorial else { continue }
      for guess in [0.01, 30, 90, 135, 179.99] {
        let found = problem.search(from: Angle(degrees: guess))
        #expect(abs(found.length - a.distance(to: b)) < 2e-8, "\(a) \(b) \(guess)")
        most = max(most, found.trials)
      }
    }
    #expect(most > 8, "no guess was poor enough")
    #expect(most < GeodesicProblem.trials)
  }

  @Test("LOC-7: length and bearing are continuous where the equator stops being the shortest path")
  func equatorLimit() {
    // 180° (1 − f), rounded: the last longitude up to which the equator is the shortest path.
    var longitude = 179.396_494_080_345_43
    let before = GeodesicSolution(latitude1: 0, latitude2: 0, longitude: longitude)
    #expect(before.initial.bearing == 90)
    #expect(before.trials == 0)
    var last = before.length
    for _ in 0..<300 {
      longitude = longitude.nextUp
      let line = GeodesicSolution(latitude1: 0, latitude2: 0, longitude: longitude)
      #expect(abs(line.length - last) < 1e-8)
      #expect(abs(line.initial.bearing - 90) < 1e-3)
      #expect(abs(line.initial.bearing + line.final.bearing - 180) < 1e-9)
      #expect(line.trials <= 8)
      last = line.length
    }
    let poleward = GeodesicSolution(latitude1: 0, latitude2: 0, longitude: 180)
    #expect(abs(poleward.length - Self.halfMeridian) < 5e-9)
  }

  @Test("LOC-6, LOC-7: equal points have distance 0 and bearing 0")
  func equalPositions() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<1_000 {
      let a = random.anywhere()
      #expect(Geodesic(from: a, to: a) == Geodesic(from: point(90, 0), to: point(90, 123)))
      #expect(a.distance(to: a) == 0)
      #expect(a.bearing(to: a) == 0)
    }
    let (west, east) = (point(12, -180), point(12, 180))
    #expect(west.distance(to: east) == 0)
    #expect(point(-90, 3).distance(to: point(-90, -170)) == 0)
  }

  @Test("LOC-7: geodesics cross the antimeridian")
  func antimeridian() {
    let line = Geodesic(from: point(-17, 179.5), to: point(-16, -179.25))
    #expect(line == Geodesic(from: point(-17, 0), to: point(-16, 1.25)))
    #expect(line.initialBearing < 90)
    let end = point(-17, 179.5).destination(bearing: 90, distance: 200_000)
    #expect(end.longitude < -178)
    #expect(point(5, -179.9).destination(bearing: 270, distance: 50_000).longitude > 179)
    #expect(point(5, 170).destination(bearing: 90, distance: -2e7).isValid)
  }

  @Test("LOC-7: coordinates beyond the globe are clamped or wrapped to valid ones")
  func beyondTheGlobe() {
    let wild = [Int64.min, -400_000_000_000, -90_000_000_001, 0, 361_000_000_000, Int64.max]
    for latitude in wild {
      for longitude in wild {
        let a = Coordinate(latitude_e9: latitude, longitude_e9: longitude)
        for b in [a, point(10, 20), point(-90, 0)] {
          let line = Geodesic(from: a, to: b)
          #expect(line.length >= 0 && line.length <= Self.halfMeridian + 1e-8)
          #expect(line.initialBearing >= 0 && line.initialBearing < 360)
        }
      }
    }
    let beyond = Coordinate(latitude_e9: 91_000_000_000, longitude_e9: 0)
    #expect(beyond.distance(to: point(0, 0)) == point(90, 0).distance(to: point(0, 0)))
    let round = Coordinate(latitude_e9: 0, longitude_e9: 361_000_000_000)
    #expect(round.distance(to: point(0, 0)) == point(0, 1).distance(to: point(0, 0)))
    #expect(point(0, 350).bearing(to: point(0, 5)) == 90)
    #expect(point(0, -350).bearing(to: point(0, 350)) == 270)
  }

  @Test("LOC-6: a quarter meridian, one degree of the equator, and the error of a sphere")
  func known() {
    // The length of a quarter meridian is a constant of WGS 84: 10 001 965.729 m.
    #expect(abs(point(0, 7).distance(to: point(90, 0)) - 10_001_965.729) < 0.5e-3)
    #expect(abs(point(0, 0).distance(to: point(0, 1)) - 6_378_137 * Double.pi / 180) < 1e-9)
    #expect(point(0, 0).bearing(to: point(0, -1)) == 270)
    #expect(point(10, 0).bearing(to: point(-10, 0)) == 180)
    // LOC-6: a sphere of the mean radius deviates by up to 0.56 %.
    let (a, b) = (point(0, 0), point(0.001, 0))
    let sphere = 6_371_008.8 * 0.001 * Double.pi / 180
    #expect(abs(sphere / a.distance(to: b) - 1.0056) < 0.0001)
  }
}

extension Coordinate {
  func isSamePole(as other: Coordinate) -> Bool {
    abs(latitude_e9) == 90_000_000_000 && latitude_e9 == other.latitude_e9
  }
}

extension GeodesyHardTests {
  static let cases = """
    -33868800000 151209300000 33868800001 -28790700001
      20003931.458514526 1.14316862410586e-07 179.999999885683 1e-11
    33868800000 151209300000 -33868800000 -28790699999
      20003931.458625446 359.999999885683 180.000000114317 1e-11
    72927 0 -72926 179400000000
      19970715.516584106 83.8262823797515 96.1737176202485 1e-10
    1 0 -2 179396493684
      19970326.327001515 90.0685992996362 89.9314007003638 1e-09
    89999999999 0 -89999999998 123456789012
      20003931.458438721 86.4808535071529 150.062357480837 0.001
    -1 0 0 90000000000
      10018754.171394622 90.0000000000053 89.9999999990033 1e-12
    12345 0 -54321 179999999000
      20003926.817159551 179.999904988636 9.50113643603884e-05 1e-12
    40000000000 -179999999999 -39999999000 1
      20003931.347590813 0 180 1e-12
    51500000000 -100000000 51500000001 -100000003
      2.361697984653328e-04 298.105240005933 298.105240003586 0.001
    -90000000000 123 51500000000 -100000000
      15709677.980983193 359.899999877 0 1e-12
    0 0 0 180000000000
      20003931.458625446 0 180 1e-12
    1 0 1 180000000000
      20003931.458404297 0 180 1e-12
    1 0 -1 179999999999
      20003931.458625446 9.50179340135746e-08 179.999999904982 1e-11
    1 0 0 179999999999
      20003931.458514871 9.50179338570541e-08 179.999999904982 1e-11
    0 0 0 179999999999
      20003931.458625446 9.50179340135746e-08 179.999999904982 1e-11
    0 0 0 179396494080
      19970326.371084117 90 90 1e-12
    0 0 0 179396494081
      19970326.371195436 89.9973337419431 90.0026662580569 1e-07
    1 0 -1 179396493684
      19970326.327001599 90 90 1e-12
    45000000000 0 -45000000000 179999999999
      20003931.458625446 1.34150572030098e-07 179.999999865849 1e-11
    45000000000 0 -44999999999 179999999999
      20003931.458514314 1.34150571587391e-07 179.999999865849 1e-11
    89999999999 0 -89999999999 179999999999
      20003931.458625446 90.0000000004947 90.0000000004947 1e-12
    89999999999 0 89999999999 179999999999
      2.233879591182550e-04 5e-10 179.9999999995 1e-12
    90000000000 0 -90000000000 77
      20003931.458625446 179.999999923 180 1e-12
    30000000000 0 -30000000000 180000000000
      20003931.458625446 0 180 1e-12
    30000000000 0 30000000001 1
      1.469621253378134e-04 41.0364036140467 41.0364036145467 0.001
    0 0 1 1
      1.569034719308140e-04 45.192423215982 45.192423215982 1e-12
    0 0 0 1
      1.113194907932736e-04 90 90 1e-12
    89999999999 0 89999999998 90000000000
      2.497553309716811e-04 63.434948822922 153.434948822922 0.001
    60000000000 179999999999 60000000000 -179999999999
      1.116000031448723e-04 89.999999999134 90.000000000866 1e-12
    -41316666667 174816666667 40966666667 -5500000000
      19960543.857170097 160.391376476482 19.500429271801 1e-11
    16531751782 0 -16531751783 180000000000
      20003931.458514781 180 0 1e-12
    -58076342090 0 58076348605 179999990779
      20003930.732983453 0.00165285550830436 179.998347144191 1e-12
    -61419060132 0 61419060108 179999999933
      20003931.45595098 179.99998672711 1.32728896339863e-05 1e-11
    38524065121 0 -38524065121 179999999994
      20003931.458625446 7.27768010950375e-07 179.999999272232 1e-11
    -20252404011 0 20252404011 179999999210
      20003931.458625388 179.999920021413 7.99785866382316e-05 1e-12
    -85064407143 0 85064407143 180000000000
      20003931.458625446 180 0 1e-12
    79528623367 0 79528622971 107
      4.426935705494672e-02 177.187970979539 177.187971084757 1e-06
    68992394411 0 68992393555 -927
      1.024409581516895e-01 201.234278020523 201.234277155138 1e-06
    -31973295914 0 -31973374134 11454
      8.74083647310976 172.885092190362 172.885086125188 1e-09
    89999958711 0 -89999963162 179448833271
      20003930.959712671 175.449762506737 5.10140418767359 1e-07
    -89999998708 0 89999998311 99375086364
      20003931.240577701 58.6083268705265 40.7667595051197 1e-06
    -89999997364 0 -89999999010 84621020256
      3.046467309720016e-01 158.815660645186 74.194640389186 1e-06
    -1641 0 -4284 24345833685
      2710165.808751939 90.0000067236721 90.0000054454407 1e-12
    7 0 8 87284346248
      9716448.9785511387 89.9999999923148 90.0000000066455 1e-12
    426 0 -803 179304976791
      19960138.713073771 90.0002344469262 89.9997655540553 1e-12
    """
}
