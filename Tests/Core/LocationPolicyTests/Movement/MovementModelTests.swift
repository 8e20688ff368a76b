import CCore
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Off time of the movement model")
struct MovementModelTests {
  static let steps: [(Double, Double)] = [(0, 1), (5, 1), (5.0001, 3), (7_200, 3), (14_400, 28)]
  static let slopes: [(Double, Double)] = [
    (0, 1), (5, 1), (60, 3), (600, 10.5), (7_200, 10.5), (14_400, 29),
  ]

  static func receiver(_ points: [(Double, Double)]) -> ReceiverParameters {
    var table = TimeToFixTable(cold: .seconds(28))
    for (off, fix) in points {
      table.append(off: Interval(seconds: off), fix: Interval(seconds: fix))
    }
    var parameters = ReceiverParameters(timeToFix: table)
    parameters.acquire_mW = 27.6
    parameters.track_mW = 24.6
    parameters.standby_mW = 0.106
    parameters.startUp = .zero
    return parameters
  }

  @Test(
    "Off times match those of the training program",
    arguments: [
      (MovementVectors.cityAt100, 100.0, false, false),
      (MovementVectors.walkAt50, 50, false, true), (MovementVectors.dayAt500, 500, false, false),
      (MovementVectors.dayWithLineAt100, 100, true, false),
      (MovementVectors.deliveriesWithLineAt50, 50, true, true),
    ])
  func vectors(rows: String, bound: Double, hasLine: Bool, slow: Bool) {
    let parameters = Self.receiver(slow ? Self.slopes : Self.steps)
    var model = MovementModel(within: bound, hasMotionLine: hasLine)
    var count = 0
    var differing = 0
    for row in rows.split(separator: "\n") {
      let v = row.split(separator: " ").compactMap { Double($0) }
      guard v.count == 9 else { continue }
      let sample = MovementHistory.Sample(
        time: v[0], east: v[1], north: v[2], speed: v[3], accuracy: v[4], isMoving: v[5] == 1,
        motionSeconds: v[6], secondsSinceLineChange: v[7])
      let off = model.offTime(
        after: sample, parameters, TimeToFixPredictor(), MovementTuning(hasMotionLine: hasLine))
      count += 1
      if off != v[8] { differing += 1 }
    }
    #expect(count >= 77)
    #expect(differing == 0)
  }

  @Test(
    "The weights are those that training wrote",
    arguments: [
      (false, 1_638, 0xE319_8EC3_6BF6_52ED as UInt64), (true, 1_768, 0xCEE5_B296_72A6_E788),
    ])
  func weights(hasLine: Bool, count: Int, digest: UInt64) {
    let weights = unsafe UnsafeBufferPointer(
      start: torpor_exit_weights(hasLine ? 1 : 0), count: count)
    var hash = FNV1a()
    for byte in unsafe Array(UnsafeRawBufferPointer(weights)) { hash.add(byte) }
    #expect(hash.value == digest)
  }

  @Test("A fix before the predicted end of the acquisition costs only the time until it arrived")
  func earlyFix() {
    // A fix every 5 s, with predictions of 4 s and of 60 s.
    var models = [MovementModel(within: 500, hasMotionLine: false)]
    models.append(models[0])
    let receivers = [4.0, 60].map { Self.receiver([(0, $0), (7_200, $0)]) }
    var offTimes: [[Double]] = [[], []]
    for i in models.indices {
      for n in 0..<200 {
        let sample = MovementHistory.Sample(
          time: Double(n) * 5, east: 0, north: 0, speed: 0, accuracy: 3)
        offTimes[i].append(
          models[i].offTime(
            after: sample, receivers[i], TimeToFixPredictor(), MovementTuning(hasMotionLine: false))
        )
      }
      let last = MovementHistory.Sample(time: 1_000, east: 0, north: 0, speed: 0, accuracy: 3)
      _ = models[i].offTime(
        after: last, Self.receiver(Self.steps), TimeToFixPredictor(),
        MovementTuning(hasMotionLine: false))
    }
    #expect(offTimes.allSatisfy { $0.allSatisfy { $0 > 0 } }, "the receiver is switched off")
    #expect(models[0] == models[1])
  }
}
