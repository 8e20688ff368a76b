import LocationTypes

/// What the board pays for the receiver's schedule, from its profile: idling while the receiver is on, and resuming for
/// each start.
///
/// All energies are above the power of the board's deepest sleep between two fixes, which is the same for every
/// schedule. ``MovementModel`` and ``ReceiverParameters`` add them to the receiver's energy, so that receiver and board
/// are planned together (Docs/Explanation/planner.md).
public struct BoardParameters: Equatable, Sendable {
  /// Power while the board waits for the receiver, above that of its sleep, mW; 0 for a board that cannot be suspended.
  public private(set) var idle_mW = 0.0
  /// Energy to resume from sleep, mJ.
  public private(set) var resume_mJ = 0.0
  /// Shortest time asleep.
  public private(set) var shortestSleep = Interval.zero
  /// How long before the end of a wait the alarm is set.
  public private(set) var alarmLead = Interval.zero

  /// Creates the parameters of a board that costs nothing, so that the receiver alone is planned.
  public init() {}

  /// Creates the parameters of a board with these powers in mW; `deep` is its deepest sleep between two fixes, nil if it
  /// only idles.
  public init(awake_mW: Double, idle_mW: Double, sleep_mW: Double, _ deep: SleepParameters?) {
    guard let deep, sleep_mW < idle_mW else { return }
    self.idle_mW = idle_mW - sleep_mW
    resume_mJ = max(awake_mW - sleep_mW, 0) * deep.resumeTime.seconds
    shortestSleep = deep.minimumDuration
    alarmLead = deep.alarmLead
  }

  /// Energy of idling for `time`, mJ.
  func idle_mJ(_ time: Interval) -> Double { idle_mW * time.seconds }

  /// Energy of a wait of `time` while the receiver is off, mJ: asleep if the wait is long enough, else idle.
  func wait_mJ(_ time: Interval) -> Double {
    time >= shortestSleep + alarmLead ? resume_mJ : idle_mJ(time)
  }

  /// Whether the board sleeps while the receiver searches, for a fix that is expected after `time`: that saves more than
  /// another resume costs.
  func sleepsThroughSearch(of time: Interval) -> Bool {
    time >= shortestSleep + alarmLead && idle_mJ(time - alarmLead) > resume_mJ
  }

  /// Energy while the receiver searches for `time`, mJ.
  func search_mJ(_ time: Interval) -> Double {
    sleepsThroughSearch(of: time) ? resume_mJ + idle_mJ(alarmLead) : idle_mJ(time)
  }
}
