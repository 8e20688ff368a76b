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
    let capacity = 2 * draw(1..<20)
    var curve = StepCurve(.milliseconds(Int64(draw(1..<2_000))), capacity: capacity)
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
    #expect(curve.buckets.count <= capacity)
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

  @Test("a spike of a microsecond in a day is kept, and so are lasting values")
  func spike() {
    var curve = StepCurve(.seconds(86_400))
    curve.set(1, at: .boot)
    curve.set(900, at: .boot + .seconds(43_210))
    curve.set(1, at: .boot + .seconds(43_210) + Interval(microseconds: 1))
    curve.close(at: .boot + .seconds(86_402))
    #expect(curve.buckets.count > 500 && curve.buckets.count <= 1_000)
    #expect(curve.buckets.filter { $0.high == 900 && $0.low == 1 }.count == 1)
    #expect(curve.buckets.filter { $0.high == 1 }.count == curve.buckets.count - 1)
  }

  @Test("a partial last bucket is left out of the drawn means")
  func partialLast() {
    var curve = StepCurve(buckets: .seconds(10), capacity: 8)
    curve.set(1, at: .boot)
    curve.set(9, at: .boot + .seconds(20))
    curve.close(at: .boot + .milliseconds(20_499))
    #expect(
      curve.buckets[2].mean == 9 && curve.withoutPartialLast.buckets.map(\.mean) == [1, 1, 1])
    curve.close(at: .boot + .milliseconds(20_500))
    #expect(curve.withoutPartialLast.buckets.map(\.mean) == [1, 1, 9])
  }

  @Test("counts are kept when buckets are merged")
  func counts() {
    var counts = CountCurve(buckets: .seconds(1), capacity: 4)
    for second in 0..<100 { counts.add(second, at: .boot + .seconds(Int64(second))) }
    #expect(counts.counts.reduce(0, +) == 4_950 && counts.counts.count <= 4)
    #expect(counts.width == 32_000_000 && counts.counts[0] == 31 * 32 / 2)
  }

  @Test(
    "the first, the last and the extreme positions are kept", arguments: [1, 5, 4_799, 90_001])
  func positions(_ count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    var samples = PositionSamples()
    var all: [PlanePoint] = []
    for _ in 0..<count {
      let point = PlanePoint(
        east: Double.random(in: -1e4..<1e4, using: &random),
        north: Double.random(in: -1e4..<1e4, using: &random))
      samples.add(point)
      all.append(point)
    }
    let points = samples.points
    #expect(samples.count == count && points.count <= 4_800)
    #expect(points.first == all.first && points.last == all.last)
    #expect(points.map(\.east).min() == all.map(\.east).min())
    #expect(points.map(\.east).max() == all.map(\.east).max())
    #expect(points.map(\.north).min() == all.map(\.north).min())
    #expect(points.map(\.north).max() == all.map(\.north).max())
    if count <= 800 { #expect(points == all) }
  }

  @Test("ticks of the time axis are round and few for any length")
  func timeAxis() {
    for length in [1, 59, 60, 3_600, 13_380, 86_400, 86_402, 2_678_400] {
      let axis = TimeAxis(.seconds(Int64(length)), atMost: 8)
      #expect((1...9).contains(axis.ticks.count), "\(length)")
      #expect(axis.ticks[0].fraction == 0 && axis.ticks.allSatisfy { $0.fraction <= 1 })
    }
    #expect(TimeAxis(.seconds(86_402), atMost: 8).ticks.map(\.label).last == "24:00")
    #expect(TimeAxis(.seconds(90), atMost: 8).ticks.map(\.label).dropFirst().first == "0:15")
    #expect(TimeAxis(.seconds(2_678_400), atMost: 8).ticks.map(\.label).last == "30 d")
  }

  @Test("ticks of a value axis reach from 0 to a round number at or above the maximum")
  func valueAxis() {
    for greatest in [1e-4, 0.3, 1, 30, 99, 100, 110.5, 733, 1_000, 3_838, 123_456] {
      let axis = ValueAxis(to: greatest)
      #expect(axis.top >= greatest * (1 - 1e-9) && axis.top < greatest * 2.5, "\(greatest)")
      #expect((3...5).contains(axis.ticks.count), "\(greatest)")
      #expect(Set(axis.ticks.map(axis.label)).count == axis.ticks.count, "\(greatest)")
    }
    #expect(ValueAxis(to: 0).top == 1)
    #expect(ValueAxis(to: 30).ticks == [0, 10, 20, 30])
    #expect(ValueAxis.round(down: 0.7) == 0.5 && ValueAxis.round(down: 1_000) == 1_000)
    #expect(ValueAxis.round(up: 0.7) == 1 && ValueAxis.round(up: 500) == 500)
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
      ("3000mAh", "needs a voltage too"), ("3.7V", "it should be charge and voltage"),
      ("3000", "it should be charge"), ("", "it should be charge"), ("xWh", "it should be charge"),
      ("3Ah@3.7", "it should be charge"), ("3Ah@3.7V@1V", "it should be charge"),
      ("3Wh@3.7V", "it should be charge"), ("0Wh", "more than 0"), ("-1Wh", "negative"),
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
