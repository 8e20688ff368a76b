import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("Data of the HTML report")
struct ReportPartsTests {
  @Test("a curve in buckets keeps minimum, maximum and area of each bucket", arguments: 1...40)
  func curve(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    var curve = StepCurve(width: Interval(microseconds: Int64(draw(1..<20_000))))
    // The expected value of each microsecond.
    var expected: [Double?] = []
    for _ in 0..<draw(1..<60) {
      let value = draw(0..<5) == 0 ? nil : Double(draw(-50..<1_000))
      curve.set(value, at: Instant(microseconds: Int64(expected.count)))
      expected += Array(repeating: value, count: draw(0..<3) == 0 ? 1 : draw(0..<4_000))
    }
    let end = Instant(microseconds: Int64(expected.count))
    curve.close(at: end)
    curve.close(at: .boot)
    let merge = draw(1..<6)
    let merged = curve.merged(by: merge)
    #expect(merged.width == curve.width * Int64(merge))
    for curve in [curve, merged] {
      for (index, bucket) in curve.buckets.enumerated() {
        let from = index * Int(curve.width)
        let part = expected[from..<min(from + Int(curve.width), expected.count)].compactMap { $0 }
        #expect(bucket.time == Int64(part.count) && bucket.isEmpty == part.isEmpty)
        #expect(bucket.low == part.min() ?? .infinity && bucket.high == part.max() ?? -.infinity)
        #expect(abs(bucket.area - part.reduce(0, +)) < 1e-3)
      }
      let last = expected.lastIndex { $0 != nil } ?? -1
      #expect(curve.buckets.count * Int(curve.width) > last)
    }
  }

  @Test("a spike of a microsecond in a day is kept, and so are lasting values")
  func spike() {
    var curve = StepCurve(width: .seconds(90))
    curve.set(1, at: .boot)
    curve.set(900, at: .boot + .seconds(43_210))
    curve.set(1, at: .boot + .seconds(43_210) + Interval(microseconds: 1))
    curve.close(at: .boot + .seconds(86_402))
    #expect(curve.buckets.count == 961)
    #expect(curve.buckets.filter { $0.high == 900 && $0.low == 1 }.count == 1)
    #expect(curve.buckets.filter { $0.high == 1 }.count == curve.buckets.count - 1)
  }

  @Test("a partial last bucket is left out of the drawn means")
  func partialLast() {
    var curve = StepCurve(width: .seconds(10))
    curve.set(1, at: .boot)
    curve.set(9, at: .boot + .seconds(20))
    curve.close(at: .boot + .milliseconds(20_499))
    #expect(
      curve.buckets[2].mean == 9 && curve.withoutPartialLast.buckets.map(\.mean) == [1, 1, 1])
    curve.close(at: .boot + .milliseconds(20_500))
    #expect(curve.withoutPartialLast.buckets.map(\.mean) == [1, 1, 9])
  }

  @Test(
    "each position is kept up to the size of a cell, and cells grow", arguments: [1, 5, 90_001])
  func positions(_ count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    var samples = PositionSamples(cell_m: 2)
    var all: [PlanePoint] = []
    for _ in 0..<count {
      let point = PlanePoint(
        east: Double.random(in: -1e4..<1e4, using: &random),
        north: Double.random(in: -1e4..<1e4, using: &random))
      samples.add(point)
      all.append(point)
    }
    let points = samples.points
    #expect(samples.count == count && points.count <= PositionSamples.capacity)
    // 90,001 positions are at most 5,000 cells when the cells have a width of 512 m.
    let cell = count > 5 ? 512.0 : 2
    for point in all {
      let centre = PlanePoint(
        east: ((point.east / cell).rounded(.down) + 0.5) * cell,
        north: ((point.north / cell).rounded(.down) + 0.5) * cell)
      #expect(points.contains(centre))
    }
    if count <= 5 { #expect(points.count == count) }
  }

  @Test("ticks of the time axis are round and few for any length")
  func timeAxis() {
    for length in [1, 59, 60, 3_600, 13_380, 86_400, 86_402, 2_678_400] {
      let axis = Axis.time(.seconds(Int64(length)))
      #expect((1...7).contains(axis.ticks.count), "\(length)")
      #expect(axis.ticks[0].value == 0 && axis.ticks.allSatisfy { $0.value <= axis.high })
    }
    #expect(Axis.time(.seconds(86_402)).ticks.map(\.label).last == "24:00")
    #expect(Axis.time(.seconds(90)).ticks.map(\.label).dropFirst().first == "0:15")
    #expect(Axis.time(.seconds(2_678_400)).ticks.map(\.label).last == "28 d")
    #expect(Axis.timeStep(for: .seconds(86_402), atMost: 48) == 1_800)
  }

  @Test("ticks of a value axis reach from 0 to a round number at or above the maximum")
  func valueAxis() {
    for greatest in [1e-4, 0.3, 1, 30, 99, 100, 110.5, 733, 1_000, 3_838, 123_456] {
      let axis = Axis.linear(to: greatest)
      #expect(axis.high >= greatest * (1 - 1e-9) && axis.high < greatest * 2.5, "\(greatest)")
      #expect((3...5).contains(axis.ticks.count), "\(greatest)")
      #expect(Set(axis.ticks.map(\.label)).count == axis.ticks.count, "\(greatest)")
    }
    #expect(Axis.linear(to: 0).high == 1)
    #expect(Axis.linear(to: 30).ticks.map(\.value) == [0, 10, 20, 30])
    #expect(Axis.round(down: 0.7) == 0.5 && Axis.round(down: 1_000) == 1_000)
    #expect(Axis.round(up: 0.7) == 1 && Axis.round(up: 500) == 500)
  }

  @Test("a logarithmic axis has powers of ten as ticks and ends; a narrow range is linear")
  func logarithmicAxis() {
    let axis = Axis.power(from: 15, to: 900)
    #expect(axis.isLogarithmic && axis.ticks.map(\.label) == ["10", "100", "1,000"])
    #expect(axis.position(10) == 0 && axis.position(1_000) == 1 && axis.position(0) == 0)
    #expect(abs(axis.position(100) - 0.5) < 1e-9 && axis.position(5_000) == 1)
    #expect(Axis.power(from: 0.02, to: 5).ticks.map(\.label) == ["0.01", "0.1", "1", "10"])
    #expect(
      !Axis.power(from: 40, to: 1_000).isLogarithmic
        && Axis.power(from: 30, to: 1_000).isLogarithmic)
    // 0 is at the lower end.
    #expect(Axis.power(from: 0, to: 1_000).low == 0.01 && !Axis.power(from: 0, to: 0).isLogarithmic)
  }

  @Test("a battery's capacity is parsed as printed on batteries")
  func batteries() throws {
    for text in ["3000mAh@3.7V", "3Ah@3700mV", "11.1Wh", "11100mWh", " 3000 mAh @ 3.7 V "] {
      #expect(abs(try Battery(text).energy_J - 39_960) < 1e-6, "\(text)")
    }
    #expect(try Battery("11.1Wh").text == "11.10 Wh")
    #expect(try Battery("500mWh").text == "0.500 Wh")
    #expect(try Battery("1Wh").life(at: 1_000) == .seconds(3_600))
    #expect(try Battery("1Wh").life(at: 1_000, charge: 25) == .seconds(900))
    #expect(try Battery("1Wh").text(100) == "1.00 Wh")
    #expect(try Battery("1Wh").text(12.5) == "1.00 Wh, 12.5 % full")
    #expect(try Battery("100000Wh").life(at: 1) == nil)
    #expect(try Battery("1Wh").life(at: 0) == nil)
    for (text, message) in [
      ("3000mAh", "needs a voltage too"), ("3.7V", "unit is missing or wrong"),
      ("3000", "unit is missing or wrong"), ("10", "write for example 10Wh or 3000mAh@3.7V"),
      ("10wh", "unit is missing or wrong"), ("3000mAh@3.7", "unit is missing or wrong"),
      ("", "it should be charge"), ("xWh", "it should be charge"),
      ("3Ah@3.7", "unit is missing or wrong"), ("3Ah@3.7V@1V", "it should be charge"),
      ("3Wh@3.7V", "unit is missing or wrong"), ("0Wh", "more than 0"), ("-1Wh", "negative"),
      ("100001Wh", "at most 100 kWh"), ("1e400Wh", "too large"), ("nanWh", "it should be charge"),
      ("3Ah@-1V", "negative"), ("0x10Wh", "it should be charge"),
    ] {
      do {
        _ = try Battery(text)
        Issue.record("\(text) was accepted")
      } catch { #expect("\(error)".contains(message), "\(text): \(error)") }
    }
  }
}
