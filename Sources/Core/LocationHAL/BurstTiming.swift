import LocationTypes

/// Measures how long the bytes of one epoch keep arriving, so that the board (`LinuxBoard`, `SimulatedBoard`) can read
/// them with one wake.
///
/// A receiver at 9600 baud sends an epoch in dozens of pieces. A wake for each piece costs energy, and the kernel has
/// no way to wait for the last one. Therefore the first ``measurementCount`` epochs are measured piece by piece. After
/// that, the first byte's wake is followed by a sleep of ``epochSpan`` until the last byte should have arrived, or by
/// none if epochs arrive in one piece. If more bytes follow, the span grows. One epoch in ``measurementPeriod`` is
/// measured again, so that the span can also shrink.
///
/// ```
/// MEASURING --- measurementCount epochs measured, or too many attempts failed ---> MEASURED
/// MEASURED  --- measurementPeriod epochs, or repeated late input ----------------> MEASURING (one epoch)
/// ```
public struct BurstTiming: Sendable {
  /// Silence that separates two epochs.
  public static let epochGap = Interval.milliseconds(30)
  /// Longest sleep within an epoch.
  public static let maximumSpan = Interval.milliseconds(900)
  /// Number of epochs measured before their length is used.
  public static let measurementCount = 3
  /// Number of failed measurements, because the board had other work, after which measuring ends.
  public static let maximumFailedMeasurements = 10
  /// Number of epochs after which one is measured again.
  public static let measurementPeriod = 600
  /// Time after a write in which received bytes are delivered immediately, because they may be replies.
  public static let replyTime = Interval.seconds(1)

  /// What to do with received bytes.
  public enum Step: Equatable {
    /// Deliver them.
    case deliver
    /// Let them stay in the input buffer until this time.
    case delay(until: Instant)
    /// Read them piece by piece until ``BurstTiming/epochGap`` has passed without a byte.
    case measure
  }

  /// Length of the sleep after the first byte; zero for none.
  public private(set) var epochSpan = Interval.zero
  private var measurementsLeft = BurstTiming.measurementCount
  private var failedMeasurements = 0
  private var longestMeasured = Interval.zero
  private var epochsSinceMeasurement = 0
  /// Time of the first byte of the present or last epoch; nil if unknown.
  private var epochStart: Instant?
  /// Last time at which bytes arrived, or may have arrived unread.
  private var lastInputTime = Instant.boot
  private var replyDeadline = Instant.boot
  /// Number of epochs that seemed to continue after delivery, and the number that triggers a new measurement.
  private var lateInputs = 0
  private var lateInputLimit = BurstTiming.initialLateInputLimit
  private static let initialLateInputLimit = 4
  private static let maximumLateInputLimit = 512

  /// Creates a state without measurements.
  public init() {}

  /// Records that bytes were sent to the receiver.
  public mutating func didWrite(at now: Instant) { replyDeadline = now + BurstTiming.replyTime }

  /// Records that input was buffered between two times, so that its arrival time is unknown.
  ///
  /// A short buffering right after an epoch means that the engine waits for the rest of the epoch, so the span may
  /// be too short. A measurement without effect doubles the number of such epochs that trigger the next one.
  public mutating func didBufferInput(from start: Instant, until end: Instant) {
    let isForRemainder =
      start - lastInputTime < BurstTiming.epochGap && end - start < .milliseconds(100)
    if isForRemainder, epochStart != nil, measurementsLeft == 0 {
      lateInputs += 1
      if lateInputs >= lateInputLimit {
        requestMeasurement()
        lateInputLimit = min(lateInputLimit * 2, BurstTiming.maximumLateInputLimit)
      }
    }
    lastInputTime = end
    epochStart = nil
  }

  private mutating func requestMeasurement() {
    measurementsLeft = 1
    longestMeasured = .zero
    lateInputs = 0
    failedMeasurements = 0
  }

  /// Whether bytes that arrive now begin an epoch: none have arrived for at least ``epochGap``.
  public func isEpochStart(at now: Instant) -> Bool { now - lastInputTime >= BurstTiming.epochGap }

  /// Records that bytes woke the board, and returns what to do with them.
  public mutating func didWake(at now: Instant) -> Step {
    let isNew = isEpochStart(at: now)
    lastInputTime = now
    if !isNew {
      if let epochStart { extendSpan(to: now - epochStart) }
      return .deliver
    }
    if now < replyDeadline {
      epochStart = nil
      return .deliver
    }
    epochStart = now
    epochsSinceMeasurement += 1
    if measurementsLeft == 0, epochsSinceMeasurement >= BurstTiming.measurementPeriod {
      requestMeasurement()
    }
    if measurementsLeft > 0 { return .measure }
    return epochSpan > .zero ? .delay(until: now + epochSpan) : .deliver
  }

  /// Records the end of a sleep for the rest of the epoch.
  public mutating func didDelay(until now: Instant) { lastInputTime = now }

  /// Records a measured epoch.
  ///
  /// - Parameter last: Arrival time of its last piece; nil if the measurement was interrupted.
  public mutating func didMeasure(until last: Instant?, at now: Instant) {
    lastInputTime = now
    guard let last, let epochStart else {
      failedMeasurements += 1
      if failedMeasurements >= BurstTiming.maximumFailedMeasurements {
        measurementsLeft = 0
        epochsSinceMeasurement = 0
      }
      return
    }
    lastInputTime = last
    longestMeasured = max(longestMeasured, last - epochStart)
    measurementsLeft -= 1
    guard measurementsLeft == 0 else { return }
    let previousSpan = epochSpan
    epochSpan = BurstTiming.sleepTime(for: longestMeasured)
    if epochSpan > previousSpan { lateInputLimit = BurstTiming.initialLateInputLimit }
    epochsSinceMeasurement = 0
  }

  /// Extends the span for an epoch that was longer than expected.
  private mutating func extendSpan(to length: Interval) {
    guard measurementsLeft == 0, length <= BurstTiming.maximumSpan else { return }
    epochSpan = max(epochSpan, BurstTiming.sleepTime(for: length))
  }

  /// The sleep for an epoch of `length`: zero up to 2 ms, which counts as one piece. The margin of 1/16, 2 to 20 ms,
  /// keeps the delivery within 50 ms of the last byte.
  private static func sleepTime(for length: Interval) -> Interval {
    guard length > .milliseconds(2) else { return .zero }
    let margin = max(.milliseconds(2), min(length / 16, .milliseconds(20)))
    return min(length + margin, maximumSpan)
  }
}
