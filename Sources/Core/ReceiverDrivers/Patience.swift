import LocationTypes

/// How long, and how often, drivers wait and try.
enum Patience {
  /// Times a command is sent before the receiver counts as lost.
  static let tries: UInt8 = 3
  /// Times the receiver is woken before it counts as lost.
  static let wakes: UInt8 = 2
  /// Longest time between two tries to reach a lost receiver.
  static let longestBackOff = Interval.seconds(60)
  /// The same for one that sends fixes and answers nothing: each try interrupts what it sends.
  static let longestStreamingBackOff = Interval.seconds(240)
  /// Failed tries after which a receiver with a supply switch is cut off and started anew.
  static let lossesBeforePowerCycle: UInt8 = 4
  /// The time in which a switch that fails is told; only then does the supply count as cut (PWR-4).
  static let switchTime = Interval.milliseconds(1)
  /// The time in which a receiver that was sent to sleep has fallen asleep, its line included.
  static let sleepEntry = Interval.milliseconds(500)
  /// How long the supply stays cut at least.
  static let supplyRest = Interval.seconds(1)
  /// Bytes that may stand before an answer in the receiver's output: an epoch's sentences.
  static let queuedBytes: Int64 = 700

  /// How long `bytes` take on a line of `speed` baud; ten bits a byte.
  static func transmission(_ bytes: Int64, at speed: UInt32) -> Interval {
    Interval(microseconds: bytes * 10_000_000 / Int64(speed))
  }

  /// How long a receiver that did not answer is left alone after so many losses: 1, 2, 4 … 60 s; to 240 s
  /// where it sends fixes all the same.
  static func backOff(after losses: UInt8, isStreaming: Bool) -> Interval {
    let exponent = Int64(min(max(losses, 1), 9)) - 1
    return min(.seconds(1 << exponent), isStreaming ? longestStreamingBackOff : longestBackOff)
  }
}

extension ReceiverSetup {
  /// Silence that proves that a receiver with live output sleeps, counted from the answer's time.
  var silenceOfSleep: Interval { .milliseconds(min(Int64(interval_ms), 2_000) + 100) }

  /// Silence after which a tracking receiver is asked whether it is there.
  var silenceOfLoss: Interval { .milliseconds(max(Int64(interval_ms) * 10, 10_000)) }
}

/// What waits to be told, one a step, in this order.
struct Pending: Sendable {
  var lost = false
  var recovered = false
  var drained = false
  var settled = false

  var isEmpty: Bool { !lost && !recovered && !drained && !settled }
}
