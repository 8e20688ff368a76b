import GNSSProtocols
import LocationTypes

// Timeouts of all drivers, and the observations that a `ReceiverLink` has not reported yet.

/// Timeouts, retry limits and back-off of the drivers.
enum DriverTimeouts {
  /// Maximum number of transmissions of a command before the receiver is declared lost.
  static let maximumSends: UInt8 = 3
  /// Maximum number of wake-ups before the receiver is declared lost.
  static let maximumWakeUps: UInt8 = 2
  /// Maximum back-off between two attempts to reach a lost receiver.
  static let maximumBackOff = Interval.seconds(60)
  /// Maximum back-off for a receiver that sends fixes but answers no command: each attempt interrupts its output.
  static let maximumStreamingBackOff = Interval.seconds(240)
  /// Number of losses after which a receiver with a supply switch is power-cycled.
  static let lossesBeforePowerCycle: UInt8 = 4
  /// Time within which a fault of the supply switch is reported. Power-off counts as reached only afterwards (PWR-4).
  static let switchFaultTime = Interval.milliseconds(1)
  /// Time within which a receiver falls asleep after the command, including its serial port.
  static let sleepEntryTime = Interval.milliseconds(500)
  /// Time for which a receiver that was silent after a standby command is trusted to fall asleep again, and time after a
  /// trusted standby in which its silence is observed (PWR-4).
  static let sleepTrustTime = Interval.seconds(3_600)
  /// Minimum time for which the supply stays off.
  static let minimumOffTime = Interval.seconds(1)
  /// Typical number of bytes of the satellites in view: NAV-SAT and NAV-DOP with 55 satellites, or ten GSV.
  static let satelliteBytes: Int64 = 700

  /// Transmission time of `bytes` bytes at `speed` baud, with ten bits per byte.
  static func transmissionTime(_ bytes: Int64, at speed: UInt32) -> Interval {
    Interval(microseconds: bytes * 10_000_000 / Int64(speed))
  }

  /// Back-off after this number of consecutive losses: 1, 2, 4 … 60 s, or up to 240 s for a receiver that sends fixes.
  static func backOff(after losses: UInt8, isStreaming: Bool) -> Interval {
    RetryBackoff.delay(
      after: Int64(losses), initial: .seconds(1),
      longest: isStreaming ? maximumStreamingBackOff : maximumBackOff)
  }
}

extension ReceiverSetup {
  /// Maximum number of bytes that precede an answer in the receiver's output queue: the sentences of an epoch, which a
  /// receiver with UBX output sends as well until it is configured.
  var outputQueueBytes: Int64 { Int64(family.epochLength(.nmea).most) }

  /// Duration of silence after the answer timeout that shows that a receiver with live output is asleep.
  var sleepSilence: Interval { .milliseconds(min(Int64(interval_ms), 2_000) + 100) }

  /// Time from the standby command until the driver switches the supply off, if the receiver is silent.
  public var powerOffTime: Interval {
    ackTimeout + DriverTimeouts.transmissionTime(outputQueueBytes, at: lineSpeed)
      + sleepSilence
  }

  /// Duration of silence after which the driver probes a tracking receiver.
  var lossSilence: Interval { .milliseconds(max(Int64(interval_ms) * 10, 10_000)) }
}

/// Observations that wait to be reported, one per step, in this order.
struct PendingObservations: Sendable {
  var lost = false
  var recovered = false
  var drained = false
  var reached = false

  var isEmpty: Bool { !lost && !recovered && !drained && !reached }

  /// Removes and returns the first observation; `goal` is the goal reached, `effective` what the receiver supports of it.
  mutating func removeFirst(_ goal: ReceiverMode?, effective: ReceiverMode?) -> DriverObservation {
    if lost {
      lost = false
      return .lost
    }
    if recovered {
      recovered = false
      return .recovered
    }
    if drained {
      drained = false
      return .drained
    }
    guard reached, let goal else { return .none }
    reached = false
    // Tracking replaces every goal that the receiver does not support.
    let isCompromise = goal != .tracking && effective == .tracking
    return isCompromise ? .refused(goal) : .reached(goal)
  }
}
