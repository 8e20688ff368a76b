import LocationTypes
import SimulatedHAL

/// True motion of the device: stays and straight paths of random length, bounded around the home coordinate.
struct MovingDevice {
  private(set) var coordinate = Scenario.home
  private(set) var velocity = (east: 0.0, north: 0.0)
  private var random: SimulationRandom
  /// Seconds until the next stay or path begins.
  private var remaining = 0

  init(seed: UInt64) { random = SimulationRandom(seed: seed, stream: 13) }

  var isMoving: Bool { velocity.east != 0 || velocity.north != 0 }
  /// Speed in m/s.
  var speed_mps: Double {
    (velocity.east * velocity.east + velocity.north * velocity.north).squareRoot()
  }

  /// The position that the receiver reports, with a normally distributed error of `error` metres per axis.
  mutating func measured(error: Double) -> Coordinate {
    coordinate.moved(east: error * random.normal(), north: error * random.normal())
  }

  /// Advances by one second.
  mutating func step() {
    if remaining == 0 { startNextPhase() }
    remaining -= 1
    if isMoving { coordinate = coordinate.moved(east: velocity.east, north: velocity.north) }
  }

  private mutating func startNextPhase() {
    if isMoving {
      velocity = (0, 0)
      // Some stays are too short for a visit or a pause, others are long enough.
      remaining = Int(random.next() % 4 == 0 ? random.uniform(600, 2_400) : random.uniform(5, 400))
      return
    }
    let speed = [1.3, 1.3, 4, 15, 40][Int(random.next() % 5)]
    remaining = Int(random.uniform(30, 600))
    let home = coordinate.localOffset(to: Scenario.home)
    let distance = (home.east * home.east + home.north * home.north).squareRoot()
    if distance > 3_000 {
      // Return home, to stay away from the poles.
      velocity = (speed * home.east / distance, speed * home.north / distance)
    } else {
      velocity = (speed * random.uniform(-1, 1), speed * random.uniform(-1, 1))
    }
  }
}
