import LocationTypes
import SimulatedHAL

/// True motion of the device: stays and straight paths of random length, bounded around the home coordinate.
struct Wearer {
  private(set) var place = Scenario.home
  private(set) var speed = (east: 0.0, north: 0.0)
  private var random: SimulationRandom
  /// Seconds until the next stay or path begins.
  private var left = 0

  init(seed: UInt64) { random = SimulationRandom(seed: seed, stream: 13) }

  var isMoving: Bool { speed.east != 0 || speed.north != 0 }
  /// Speed in m/s.
  var pace: Double { (speed.east * speed.east + speed.north * speed.north).squareRoot() }

  /// The position that the receiver reports, with a normally distributed error of `error` metres per axis.
  mutating func seen(error: Double) -> Coordinate {
    place.moved(east: error * random.normal(), north: error * random.normal())
  }

  /// Advances by one second.
  mutating func step() {
    if left == 0 { turn() }
    left -= 1
    if isMoving { place = place.moved(east: speed.east, north: speed.north) }
  }

  private mutating func turn() {
    if isMoving {
      speed = (0, 0)
      // Some stays are too short for a visit or a pause, others are long enough.
      left = Int(random.next() % 4 == 0 ? random.uniform(600, 2_400) : random.uniform(5, 400))
      return
    }
    let pace = [1.3, 1.3, 4, 15, 40][Int(random.next() % 5)]
    left = Int(random.uniform(30, 600))
    let home = place.localOffset(to: Scenario.home)
    let way = (home.east * home.east + home.north * home.north).squareRoot()
    if way > 3_000 {
      // Return home, to stay away from the poles.
      speed = (pace * home.east / way, pace * home.north / way)
    } else {
      speed = (pace * random.uniform(-1, 1), pace * random.uniform(-1, 1))
    }
  }
}
