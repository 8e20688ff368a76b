import LocationTypes

/// Measures how long the bytes of one epoch keep arriving, so that the board can read them with one wake.
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
  public static let silence = Interval.milliseconds(30)
  /// Longest sleep within an epoch.
  public static let longest = Interval.milliseconds(900)
  /// Number of epochs measured before their length is used.
  public static let lessons = 3
  /// Number of failed measurements, because the board had other work, after which measuring ends.
  public static let attempts = 10
  /// Number of epochs after which one is measured again.
  public static let lessonEvery = 600
  /// Time after a write in which received bytes are delivered immediately, because they may be replies.
  public static let answerTime = Interval.seconds(1)

  /// What to do with received bytes.
  public enum Step: Equatable {
    /// Deliver them.
    case handOn
    /// Let them stay in the input buffer until this time.
    case hold(until: Instant)
    /// Read them piece by piece until ``BurstTiming/epochGap`` has passed without a byte.
    case watch
  }

  /// Length of the sleep after the first byte; zero for none.
  public private(set) var span = Interval.zero
  private var lessonsLeft = BurstTiming.lessons
  private var vain = 0
  private var longestSeen = Interval.zero
  private var sinceLesson = 0
  /// Time of the first byte of the present or last epoch; nil if unknown.
  private var began: Instant?
  /// Last time at which bytes arrived, or may have arrived unread.
  private var lastHeard = Instant.boot
  private var writtenUntil = Instant.boot
  /// Number of epochs that seemed to continue after delivery, and the number that triggers a new measurement.
  private var doubts = 0
  private var doubtsNeeded = BurstTiming.firstDoubts
  private static let firstDoubts = 4
  private static let mostDoubts = 512

  /// Creates a state without measurements.
  public init() {}

  /// Records that bytes were sent to the receiver.
  public mutating func wrote(at now: Instant) { writtenUntil = now + BurstTiming.answerTime }

  /// Records that input was buffered between two times, so that its arrival time is unknown.
  ///
  /// A short buffering right after an epoch means that the engine waits for the rest of it, so the span may be too
  /// short. A measurement without effect doubles the number of such epochs that trigger the next one.
  public mutating func wasDeaf(from start: Instant, until end: Instant) {
    let isForRest = start - lastHeard < BurstTiming.silence && end - start < .milliseconds(100)
    if isForRest, began != nil, lessonsLeft == 0 {
      doubts += 1
      if doubts >= doubtsNeeded {
        askLesson()
        doubtsNeeded = min(doubtsNeeded * 2, BurstTiming.mostDoubts)
      }
    }
    lastHeard = end
    began = nil
  }

  private mutating func askLesson() {
    lessonsLeft = 1
    longestSeen = .zero
    doubts = 0
    vain = 0
  }

  /// Whether bytes that arrive now begin an epoch: none have arrived for at least ``epochGap``.
  public func isNew(at now: Instant) -> Bool { now - lastHeard >= BurstTiming.silence }

  /// Records that bytes woke the board, and returns what to do with them.
  public mutating func woke(at now: Instant) -> Step {
    let isNew = isNew(at: now)
    lastHeard = now
    if !isNew {
      if let began { stretch(to: now - began) }
      return .handOn
    }
    if now < writtenUntil {
      began = nil
      return .handOn
    }
    began = now
    sinceLesson += 1
    if lessonsLeft == 0, sinceLesson >= BurstTiming.lessonEvery {
      askLesson()
    }
    if lessonsLeft > 0 { return .watch }
    return span > .zero ? .hold(until: now + span) : .handOn
  }

  /// Records the end of a sleep for the rest of the epoch.
  public mutating func held(until now: Instant) { lastHeard = now }

  /// Records a measured epoch.
  ///
  /// - Parameter last: Arrival time of its last piece; nil if the measurement was interrupted.
  public mutating func watched(until last: Instant?, at now: Instant) {
    lastHeard = now
    guard let last, let began else {
      vain += 1
      if vain >= BurstTiming.attempts {
        lessonsLeft = 0
        sinceLesson = 0
      }
      return
    }
    lastHeard = last
    longestSeen = max(longestSeen, last - began)
    lessonsLeft -= 1
    guard lessonsLeft == 0 else { return }
    let before = span
    span = BurstTiming.sleep(for: longestSeen)
    if span > before { doubtsNeeded = BurstTiming.firstDoubts }
    sinceLesson = 0
  }

  /// Extends the span for an epoch that was longer than expected.
  private mutating func stretch(to length: Interval) {
    guard lessonsLeft == 0, length <= BurstTiming.longest else { return }
    span = max(span, BurstTiming.sleep(for: length))
  }

  /// The sleep for an epoch of `length`: zero up to 2 ms, which counts as one piece. The margin of 1/16, 2 to 20 ms,
  /// keeps the delivery within 50 ms of the last byte.
  private static func sleep(for length: Interval) -> Interval {
    guard length > .milliseconds(2) else { return .zero }
    let margin = max(.milliseconds(2), min(length / 16, .milliseconds(20)))
    return min(length + margin, longest)
  }
}
