import LocationTypes

/// What the board pays for the receiver's schedule, from its profile: idling while the receiver is on, and resuming or
/// booting for each start.
///
/// All energies are above the power of the deepest state that the board may enter between two fixes, which is the same
/// for every schedule: its deepest sleep, or off while the service may switch it off. ``MovementModel`` and
/// ``ReceiverParameters`` add them to the receiver's energy, so that receiver and board are planned together
/// (Docs/Explanation/planner.md). ``PowerOffRule`` decides by the same energies.
public struct BoardParameters: Equatable, Sendable {
  /// Power while the board waits for the receiver, above that of its deepest state, mW; 0 for a board that can neither
  /// be suspended nor switched off.
  public private(set) var idle_mW = 0.0
  /// Power while suspended, above that of its deepest state, mW; that of idling for a board that cannot be suspended.
  public private(set) var sleep_mW = 0.0
  /// Energy to resume from sleep, mJ.
  public private(set) var resume_mJ = 0.0
  /// Shortest time asleep.
  public private(set) var shortestSleep = Interval.zero
  /// How long before the end of a wait the alarm is set.
  public private(set) var alarmLead = Interval.zero
  /// The off state; nil while the board may not be switched off.
  public private(set) var off: PowerOffParameters?

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

  /// The parameters of the same board while it may be switched off.
  ///
  /// - Parameters:
  ///   - saved_mW: Power that it saves while off, in comparison with its deepest sleep.
  ///   - boot_mJ: Energy of a shutdown and a boot, above the power while off.
  ///   - startupTime: Time from the alarm until the service runs, including the alarm's delay.
  ///   - shortest: Shortest time off.
  /// - Returns: nil if it saves nothing while off.
  public func whenUnattended(
    saved_mW: Double, boot_mJ: Double, startupTime: Interval, shortest: Interval
  ) -> BoardParameters? {
    guard saved_mW > 0 else { return nil }
    var board = self
    board.idle_mW += saved_mW
    board.sleep_mW += saved_mW
    let unattended_mJ = board.waitOn_mJ(PowerOffParameters.unattendedTime)
    board.off = PowerOffParameters(
      cycle_mJ: boot_mJ + unattended_mJ, startupTime: startupTime, shortest: shortest)
    return board
  }

  /// Energy of idling for `time`, mJ.
  func idle_mJ(_ time: Interval) -> Double { idle_mW * time.seconds }

  /// Energy of a suspend for `time`, mJ.
  private func suspend_mJ(_ time: Interval) -> Double { resume_mJ + sleep_mW * time.seconds }

  /// Energy of a wait of `time` in which the board stays on, mJ: asleep if the wait is long enough, else idle.
  private func waitOn_mJ(_ time: Interval) -> Double {
    time >= shortestSleep + alarmLead ? suspend_mJ(time) : idle_mJ(time)
  }

  /// Whether the board is best switched off now if the service must run again after `time`: the time is long enough,
  /// and what is saved exceeds the boot and the time on after it. False while it may not be switched off.
  package func isOffCheapest(for time: Interval) -> Bool {
    guard let off else { return false }
    return time >= off.startupTime + off.shortest && off.cycle_mJ < waitOn_mJ(time)
  }

  /// Energy of a wait of `time` while the receiver is off, mJ: that of the board's state in it. The board is switched
  /// off only after ``PowerOffParameters/unattendedTime``, whose energy is a part of the off state's.
  func wait_mJ(_ time: Interval) -> Double {
    if let off, isOffCheapest(for: time - PowerOffParameters.unattendedTime) { return off.cycle_mJ }
    return waitOn_mJ(time)
  }

  /// Energy of a start after a long wait, mJ.
  var start_mJ: Double { off?.cycle_mJ ?? resume_mJ }

  /// Whether the board sleeps while the receiver searches, for a fix that is expected after `time`: that saves more than
  /// another resume costs.
  func sleepsThroughSearch(of time: Interval) -> Bool {
    time >= shortestSleep + alarmLead
      && idle_mJ(time - alarmLead) > suspend_mJ(time - alarmLead)
  }

  /// Energy while the receiver searches for `time`, mJ.
  func search_mJ(_ time: Interval) -> Double {
    sleepsThroughSearch(of: time)
      ? suspend_mJ(time - alarmLead) + idle_mJ(alarmLead) : idle_mJ(time)
  }
}

/// The off state of a board, which its own alarm ends.
public struct PowerOffParameters: Equatable, Sendable {
  /// Time on without a program that is required after a start by the board's own alarm, when only programs that the
  /// system starts can be expected. Shorter than any profile's ``shortest``.
  package static let unattendedTime = Interval.seconds(30)
  /// Energy of switching off once, above the power while off, mJ: shutdown, boot, and ``unattendedTime``.
  public let cycle_mJ: Double
  /// Time from the alarm until the service runs, including the alarm's delay.
  public let startupTime: Interval
  /// Shortest time off. Also the time without programs that is required after a start by hand, so that a person can log
  /// in.
  public let shortest: Interval
}
