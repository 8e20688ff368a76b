import LocationTypes

/// How long the bytes of one epoch keep coming, so that they can be read as a whole.
///
/// A receiver at 9600 baud sends an epoch in dozens of pieces. Waking for each is dear, and the
/// kernel cannot be told to wait for the last one. So the first ``lessons`` epochs are watched piece
/// by piece. From then on the first byte's wake is followed by a sleep until the last byte should
/// be there, or by none where epochs come at once. When bytes follow all the same, the sleep grows;
/// every ``lessonEvery`` epochs one is watched again, so that it shrinks too.
public struct BurstTiming: Sendable {
  /// A silence that parts two epochs.
  public static let silence = Interval.milliseconds(30)
  /// No epoch is waited for longer.
  public static let longest = Interval.milliseconds(900)
  /// Epochs watched before their length is trusted.
  public static let lessons = 3
  /// Epochs watched in vain, because the board had to turn to something else, before it is given up.
  public static let attempts = 10
  /// Epochs after which one is watched again.
  public static let lessonEvery = 600
  /// How long after bytes to the receiver its answers are handed on at once.
  public static let answerTime = Interval.seconds(1)

  /// What to do when bytes are there.
  public enum Step: Equatable {
    /// Hand them on.
    case handOn
    /// Let them gather until then.
    case hold(until: Instant)
    /// Fetch them piece by piece, until ``BurstTiming/silence`` has passed without one.
    case watch
  }

  /// How long the sleep after the first byte is; zero for none.
  public private(set) var span = Interval.zero
  private var lessonsLeft = BurstTiming.lessons
  private var vain = 0
  private var longestSeen = Interval.zero
  private var sinceLesson = 0
  /// The first byte of the epoch that comes now, or came last.
  private var began: Instant?
  /// The last moment at which bytes were there, or may have been unseen.
  private var lastHeard = Instant.boot
  private var writtenUntil = Instant.boot
  /// How often an epoch seemed to go on after it was handed on, and how often makes a lesson due.
  private var doubts = 0
  private var doubtsNeeded = BurstTiming.firstDoubts
  private static let firstDoubts = 4
  private static let mostDoubts = 512

  /// No epoch was seen yet.
  public init() {}

  /// Bytes went to the receiver.
  public mutating func wrote(at now: Instant) { writtenUntil = now + BurstTiming.answerTime }

  /// Nobody listened between the two: what is there now came at a time nobody knows.
  ///
  /// A short while right after an epoch means that the engine misses the rest of it. A lesson that
  /// changes nothing doubles what the next one needs.
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

  /// Whether bytes that are heard now begin an epoch: there were none before, for long enough.
  public func isNew(at now: Instant) -> Bool { now - lastHeard >= BurstTiming.silence }

  /// Bytes woke the board.
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

  /// A sleep for the rest of the epoch is over.
  public mutating func held(until now: Instant) { lastHeard = now }

  /// An epoch was watched: its last piece came at `last`; nil if it was not seen to its end.
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

  /// The epoch was longer than thought.
  private mutating func stretch(to length: Interval) {
    guard lessonsLeft == 0, length <= BurstTiming.longest else { return }
    span = max(span, BurstTiming.sleep(for: length))
  }

  /// What comes within two milliseconds has come at once. The margin of a sixteenth, at most 20 ms,
  /// keeps the delivery within 50 ms of the last byte.
  private static func sleep(for length: Interval) -> Interval {
    guard length > .milliseconds(2) else { return .zero }
    let margin = max(.milliseconds(2), min(length / 16, .milliseconds(20)))
    return min(length + margin, longest)
  }
}
