import LocationHAL
import LocationTypes

/// Battery of a simulated board. Its remaining energy is the energy at the start of the run minus the total of the
/// ledger. Temperature, age and current have no effect on the capacity.
public struct SimulatedBattery: Equatable, Sendable {
  /// Energy of the full battery, joules; greater than 0.
  public var capacity_J: Double
  /// Charge at the start of the run, percent, 0 to 100.
  public var charge: Double

  /// Creates a battery.
  ///
  /// - Precondition: `capacity_J` is positive and `charge` is 0 to 100.
  public init(capacity_J: Double, charge: Double = 100) {
    precondition(
      capacity_J > 0 && (0...100).contains(charge),
      "the capacity is positive, the charge 0 to 100 percent")
    self.capacity_J = capacity_J
    self.charge = charge
  }

  /// Returns the remaining energy after a consumption of `used_mJ`, mJ; at least 0.
  func remaining_mJ(after used_mJ: Double) -> Double { max(0, charge * capacity_J * 10 - used_mJ) }

  /// Returns the charge that the gauge reports after a consumption of `used_mJ`: rounded to whole percent, so that a
  /// battery that starts at 30 % is not reported as 29 % in the first milliseconds.
  func percent(after used_mJ: Double) -> UInt8 {
    UInt8((remaining_mJ(after: used_mJ) / capacity_J / 10).rounded())
  }
}

extension SimulatedBoard {
  /// Returns the gauge's charge if a reading is due and the charge has changed.
  mutating func readGauge() -> UInt8? {
    guard setup.battery != nil || !setup.faults.gaugeFaults.isEmpty, gauge.isDue(at: now) else {
      return nil
    }
    guard let reading = gauge.update(gaugeCharge, at: now) else { return nil }
    record(.battery(reading), at: now)
    return reading
  }

  /// Charge that the gauge reports now; nil without a gauge.
  private var gaugeCharge: UInt8? {
    if let fault = setup.faults.gaugeFaults.last(where: { $0.time <= now }) { return fault.charge }
    guard let battery = setup.battery else { return nil }
    return battery.percent(after: ledger.total_mJ)
  }

  /// Returns the time at which the battery becomes empty at the present power, which ends a wait; `.distantFuture` if
  /// it is empty already or does not exist.
  mutating func estimatedEmptyTime(board_mW: Double) -> Instant {
    guard let battery = setup.battery, !isBatteryEmpty else { return .distantFuture }
    let power_mW = board_mW + setup.receiver.power.mW(in: receiverState)
    let left_s = battery.remaining_mJ(after: ledger.total_mJ) / power_mW
    guard left_s < 1e9 else { return .distantFuture }
    // The receiver's later power is unknown, so the empty time is recomputed at each wake.
    batteryEmptyTime = now + max(.milliseconds(1), Interval(seconds: left_s))
    return batteryEmptyTime
  }

  /// Updates ``isBatteryEmpty`` if the estimated empty time has passed.
  mutating func checkBattery() {
    guard now >= batteryEmptyTime, let battery = setup.battery else { return }
    let isEmpty = battery.remaining_mJ(after: ledger.total_mJ) == 0
    if isEmpty, !isBatteryEmpty { record(.batteryEmpty, at: now) }
    isBatteryEmpty = isEmpty
  }
}
