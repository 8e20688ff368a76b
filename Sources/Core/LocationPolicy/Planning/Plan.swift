import LocationTypes

/// What the receiver is to do. The engine translates it for the driver of the day.
public enum PlannedReceiver: Equatable, Sendable {
  /// Supply cut.
  case off
  /// Asleep, what makes the next start short is kept.
  case standby
  /// A fix each interval, told at once.
  case tracking
  /// The same in the receiver's own duty cycle: cheaper, and less accurate.
  case powersave
  /// A fix each interval, kept in the receiver's own buffer until `watermark` have gathered.
  case batching(watermark: UInt16)
}

/// What the hardware is to do until something happens.
public struct Plan: Equatable, Sendable {
  /// The receiver's part.
  public var receiver: PlannedReceiver
  /// How deeply the board may sleep: ``BoardState/idle`` at the least, for code that waits does not run.
  public var board: BoardState
  /// When the board must be awake again at the latest; `.distantFuture` for no alarm.
  public var wake: Instant
  /// Whether bytes of the receiver end the sleep; when not they gather until ``wake``.
  public var listens: Bool

  /// Creates a plan.
  public init(receiver: PlannedReceiver, board: BoardState, wake: Instant, listens: Bool) {
    self.receiver = receiver
    self.board = board
    self.wake = wake
    self.listens = listens
  }
}

/// One of the board's ways to sleep.
public struct SleepFigures: Equatable, Sendable {
  /// Which.
  public var state: BoardState
  /// From the waking event to running code.
  public var resume: Interval
  /// The grain of its alarm: it may come this much late.
  public var alarmResolution: Interval
  /// The shortest sleep it is good for.
  public var minimum: Interval
  /// Whether the receiver's batch pin wakes it.
  public var wakesOnPin: Bool
  /// Whether bytes wake it and survive it.
  public var wakesOnBytes: Bool
  /// Whether the motion sensor's line wakes it.
  public var wakesOnMotion = true

  /// Creates the figures of a state.
  public init(
    state: BoardState, resume: Interval, alarmResolution: Interval, minimum: Interval,
    wakesOnPin: Bool, wakesOnBytes: Bool
  ) {
    self.state = state
    self.resume = resume
    self.alarmResolution = alarmResolution
    self.minimum = minimum
    self.wakesOnPin = wakesOnPin
    self.wakesOnBytes = wakesOnBytes
  }

  /// How long before a promised moment the alarm must be set (DEF-18).
  var lead: Interval { resume + alarmResolution }
}

/// How the receiver batches, if it does.
public struct BatchFigures: Equatable, Sendable {
  /// Fixes its buffer holds.
  public var capacity: UInt16
  /// W: how many may gather before it is drained; below ``capacity`` (DEF-33).
  public var watermark: UInt16
  /// Whether a pin tells the board that the watermark was reached.
  public var hasPin: Bool

  /// Creates the figures of a buffer.
  ///
  /// - Precondition: 0 < watermark < capacity.
  public init(capacity: UInt16, watermark: UInt16, hasPin: Bool) {
    precondition(watermark > 0 && watermark < capacity, "DEF-33: watermark below capacity")
    self.capacity = capacity
    self.watermark = watermark
    self.hasPin = hasPin
  }
}

/// Time to first fix by time off, as a profile gives it.
public struct TimeToFixTable: Equatable, Sendable {
  /// The most points a table has.
  public static let capacity = 8

  struct Point: Equatable, Sendable {
    var off: Interval
    var fix: Interval
  }
  var points: InlineArray<8, Point>
  /// How many points there are.
  public private(set) var count: Int
  /// After a supply cut, or with nothing known.
  public var cold: Interval

  /// Creates a table that knows the cold start alone.
  public init(cold: Interval) {
    points = InlineArray(repeating: Point(off: .zero, fix: .zero))
    count = 0
    self.cold = cold
  }

  /// Adds the point "after `off` in backup, the first fix takes `fix`"; in rising order of `off`;
  /// two points with the same `off` make a step, at which the first one holds.
  ///
  /// - Precondition: there is room, and `off` is past that of the point before.
  public mutating func append(off: Interval, fix: Interval) {
    precondition(count < TimeToFixTable.capacity, "a table holds 8 points")
    precondition(count == 0 || points[count - 1].off <= off, "points rise")
    points[count] = Point(off: off, fix: fix)
    count += 1
  }

  /// The time to the first fix after `off` in backup; straight lines between the points, the last
  /// point's value beyond it. ``cold`` when the time off is unknown.
  public func expected(after off: Interval?) -> Interval {
    guard let off, count > 0 else { return cold }
    if off <= points[0].off { return points[0].fix }
    for i in 1..<max(count, 1) where off <= points[i].off {
      let (a, b) = (points[i - 1], points[i])
      let part = (off - a.off).seconds / (b.off - a.off).seconds
      return Interval(seconds: a.fix.seconds + part * (b.fix.seconds - a.fix.seconds))
    }
    return points[count - 1].fix
  }
}

extension TimeToFixTable {
  /// Two tables are equal when they say the same.
  public static func == (a: TimeToFixTable, b: TimeToFixTable) -> Bool {
    guard a.count == b.count, a.cold == b.cold else { return false }
    for i in 0..<a.count where a.points[i] != b.points[i] { return false }
    return true
  }
}
