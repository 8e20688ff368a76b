import LinuxHAL
import LocationTypes

/// Looks at which speed a receiver talks, and asks it what it is, where it may.
struct ReceiverHunt {
  /// Speeds that receivers come with, or are set to, the usual ones first.
  static let speeds: [UInt32] = [
    9_600, 115_200, 38_400, 57_600, 19_200, 4_800, 230_400, 460_800, 921_600,
  ]

  /// How long is listened.
  struct Pace {
    /// At the speed that is expected: a receiver may need that long to wake.
    var expected = Interval.seconds(4)
    /// At any other: a little more than twice the usual second between two fixes.
    var other = Interval.milliseconds(2_300)
    /// For an answer.
    var answer = Interval.seconds(2)
  }

  /// A receiver that was heard.
  struct Heard {
    var speed: UInt32
    var ear: ReceiverEar
    /// Whether it was asked what it is.
    var wasAsked: Bool
  }

  /// Where something may be said.
  enum Asking {
    /// On this line: somebody said that the receiver is there.
    case atOnce
    /// Once a receiver was heard to tell of fixes: behind a line that nobody named may be a modem.
    case onceHeard
  }

  /// What came of it.
  enum Result {
    case heard(Heard)
    /// Bytes came, which are no message at any speed.
    case rubbish(bytes: Int)
    case silence
    /// The device went away meanwhile.
    case gone
    /// Somebody does not want to wait any longer.
    case stopped
  }

  let line: ReceiverLine
  let pace: Pace
  private let asking: Asking
  private let isStopped: () -> Bool
  private let clock = SystemClock()
  /// The longest that it takes until somebody who wants it to stop is heeded.
  private static let look = Interval.milliseconds(200)

  /// - Parameters:
  ///   - asking: Where something may be said.
  ///   - isStopped: Whether somebody wants it to end.
  init(
    _ line: ReceiverLine, _ pace: Pace, _ asking: Asking = .atOnce,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.line = line
    self.pace = pace
    self.asking = asking
    self.isStopped = isStopped
  }

  /// Listens at the speeds that are expected, then at all others.
  ///
  /// Bounded: as long as ``Pace`` says for each speed.
  func run(expecting expected: [UInt32]) -> Result {
    var tried: Set<UInt32> = []
    var rubbish = 0
    for speed in expected + ReceiverHunt.speeds where tried.insert(speed).inserted {
      guard line.setSpeed(speed) else { continue }
      let ear = listen(for: expected.contains(speed) ? pace.expected : pace.other)
      if isStopped() { return .stopped }
      if line.isGone { return .gone }
      if ear.isUnderstood { return .heard(identify(ear, at: speed)) }
      rubbish = max(rubbish, ear.byteCount)
    }
    return rubbish > 0 ? .rubbish(bytes: rubbish) : .silence
  }

  /// Listens until something is understood, and asks when nothing is, where it may: a receiver may
  /// sleep, or only answer.
  private func listen(for time: Interval) -> ReceiverEar {
    var ear = ReceiverEar()
    let end = clock.now + time
    // A receiver that talks is heard in the first half; the first byte of what is said wakes the others.
    let half = asking == .atOnce ? time / 2 : .zero
    hear(into: &ear, until: end - half) { $0.isUnderstood }
    if asking == .atOnce, !ear.isUnderstood {
      line.write(ReceiverIdentity.questions)
      hear(into: &ear, until: end) { $0.isUnderstood }
    }
    return ear
  }

  /// Asks what it is; one that is busy may need to be asked twice.
  private func identify(_ heard: ReceiverEar, at speed: UInt32) -> Heard {
    var ear = heard
    if asking == .onceHeard {
      hear(into: &ear, until: clock.now + pace.answer) { $0.hasFix != nil }
      // Two sentences alone come of other instruments too.
      if ear.hasFix == nil { return Heard(speed: speed, ear: ear, wasAsked: false) }
    }
    for _ in 0..<2 where ear.identity == nil {
      line.write(ReceiverIdentity.questions)
      hear(into: &ear, until: clock.now + pace.answer) { $0.identity != nil }
    }
    if ear.hasFix == nil {
      hear(into: &ear, until: clock.now + pace.answer) { $0.hasFix != nil }
    }
    return Heard(speed: speed, ear: ear, wasAsked: true)
  }

  /// Hears until `isEnough`, the moment, or somebody wants it to end.
  func hear(
    into ear: inout ReceiverEar, until end: Instant, _ isEnough: (ReceiverEar) -> Bool
  ) {
    while !isEnough(ear), !line.isGone, !isStopped() {
      let left = end - clock.now
      guard left > .zero else { return }
      ear.hear(line.read(within: min(left, ReceiverHunt.look)))
    }
  }
}
