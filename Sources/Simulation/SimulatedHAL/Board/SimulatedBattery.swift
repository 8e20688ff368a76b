import LocationHAL
import LocationTypes

/// The battery of a simulated board: what the ledger counts is taken out of it. Neither cold nor age
/// nor the current of the moment changes what it holds.
public struct SimulatedBattery: Equatable, Sendable {
  /// What it holds when it is full, joules; above 0.
  public var capacity_J: Double
  /// How full it is when the run begins, percent, 0 to 100.
  public var charge: Double

  /// Creates a battery.
  public init(capacity_J: Double, charge: Double = 100) {
    precondition(capacity_J > 0 && (0...100).contains(charge), "a battery holds something")
    self.capacity_J = capacity_J
    self.charge = charge
  }

  /// What it holds when so much was taken, mJ; not below 0.
  func held_mJ(after used_mJ: Double) -> Double { max(0, charge * capacity_J * 10 - used_mJ) }

  /// What its gauge says when so much was taken, mJ: whole percents, to the nearest, so that the
  /// first milliseconds of a run leave 30 % at 30.
  func percent(after used_mJ: Double) -> UInt8 {
    UInt8((held_mJ(after: used_mJ) / capacity_J / 10).rounded())
  }
}

extension SimulatedBoard {
  /// What the gauge says, if it is time to read it and that is news.
  mutating func readGauge() -> UInt8? {
    guard setup.battery != nil || !setup.faults.gauge.isEmpty, gauge.isDue(at: now) else {
      return nil
    }
    guard let news = gauge.take(gaugeCharge, at: now) else { return nil }
    record(.battery(news), at: now)
    return news
  }

  /// What the gauge says now; nil where there is none.
  private var gaugeCharge: UInt8? {
    if let fault = setup.faults.gauge.last(where: { $0.time <= now }) { return fault.charge }
    guard let battery = setup.battery else { return nil }
    return battery.percent(after: ledger.total_mJ)
  }

  /// When the battery is empty if nothing changes, and a wait ends; `.distantFuture` when it is, or
  /// where none is.
  mutating func emptyMoment(board_mW: Double) -> Instant {
    guard let battery = setup.battery, !isBatteryEmpty else { return .distantFuture }
    let power_mW = board_mW + setup.receiver.power.mW(in: receiverState)
    let left_s = battery.held_mJ(after: ledger.total_mJ) / power_mW
    guard left_s < 1e9 else { return .distantFuture }
    // What the receiver takes later is not known: the last stretch comes in steps.
    emptyAt = now + max(.milliseconds(1), Interval(seconds: left_s))
    return emptyAt
  }

  /// Finds out whether the battery is empty, when it may be.
  mutating func lookAtBattery() {
    guard now >= emptyAt, let battery = setup.battery else { return }
    let isEmpty = battery.held_mJ(after: ledger.total_mJ) == 0
    if isEmpty, !isBatteryEmpty { record(.batteryEmpty, at: now) }
    isBatteryEmpty = isEmpty
  }
}
