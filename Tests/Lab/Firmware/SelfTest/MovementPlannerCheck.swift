import CFirmware
import LocationPolicy
import LocationTypes

/// Checks that the exit network decides as in the program that trained it, for the first fixes of a
/// ride through a city (like `MovementVectors.cityAt100` of the tests, with the same receiver).
func checkMovementPlanner(_ report: inout Report) {
  var table = TimeToFixTable(cold: .seconds(28))
  table.append(off: .zero, fix: .seconds(1))
  table.append(off: .seconds(5), fix: .seconds(1))
  table.append(off: Interval(seconds: 5.0001), fix: .seconds(3))
  table.append(off: .seconds(7_200), fix: .seconds(3))
  table.append(off: .seconds(14_400), fix: .seconds(28))
  var receiver = ReceiverParameters(timeToFix: table)
  receiver.acquire_mW = 27.6
  receiver.track_mW = 24.6
  receiver.standby_mW = 0.106
  receiver.startUp = .zero
  // Time in s, metres east and north, mm/s, accuracy in metres, and the off time decided, in s.
  let ride: InlineArray<6, (Int64, Double, Double, Int32, Double, Int64)> = [
    (0, -0.10, -1.63, 40, 5.4, 5), (7, 30.57, -18.81, 8_690, 2.1, 5),
    (14, 88.02, -63.38, 7_260, 5.2, 5), (21, 95.84, -70.31, 210, 5.9, 17),
    (42, 161.16, -120.99, 140, 6.0, 15), (61, 156.00, -121.91, 20, 4.8, 16),
  ]
  let home = Coordinate(latitude_e9: 48_118_000_000, longitude_e9: 11_520_000_000)
  let begin = Instant.boot + .seconds(100)
  var planner = MovementPlanner()
  var instructions: UInt64 = 0
  for i in ride.indices {
    let (seconds, east, north, speed, accuracy, off) = ride[i]
    let now = begin + .seconds(seconds)
    var fix = Fix(acquired: now, coordinate: home.moved(east: east, north: north))
    fix.speed_mmps = speed
    let before = firmware_instructions()
    planner.accept(fix, within: 100, accuracy: accuracy, receiver, TimeToFixPredictor(), at: now)
    instructions += firmware_instructions() - before
    let decided = planner.startTime(within: 100, at: now) - now
    report.result("off_us", decided.microseconds)
    report.check(decided == .seconds(off), "the exit network decides as trained")
  }
  report.cost("movement-decision", instructions / UInt64(ride.count))
}
