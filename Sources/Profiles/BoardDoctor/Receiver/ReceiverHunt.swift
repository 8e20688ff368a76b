import LinuxHAL
import LocationTypes

/// Detects the speed of a receiver on a serial line, and polls its identity where sending is permitted.
struct ReceiverHunt {
  /// Line speeds of receivers, baud, most common first.
  static let speeds: [UInt32] = [
    9_600, 115_200, 38_400, 57_600, 19_200, 4_800, 230_400, 460_800, 921_600,
  ]

  /// Durations for which the line is read.
  struct Pace {
    /// At an expected speed; includes the time that a receiver may need to wake.
    var expected = Interval.seconds(4)
    /// At any other speed: a little more than two intervals of one second between fixes.
    var other = Interval.milliseconds(2_300)
    /// For a response to a query.
    var answer = Interval.seconds(2)
  }

  /// A detected receiver.
  struct Heard {
    var speed: UInt32
    var ear: ReceiverEar
    /// Whether its identity was queried.
    var wasAsked: Bool
  }

  /// When the scan may send queries.
  enum Asking {
    /// Always: the line was specified as that of the receiver.
    case atOnce
    /// After the output contained fixes: a line that was not specified may belong to another device, such as a modem.
    case onceHeard
  }

  /// Result of a scan.
  enum Result {
    case heard(Heard)
    /// Bytes arrived, but no valid message at any speed.
    case rubbish(bytes: Int)
    case silence
    /// The device was disconnected.
    case gone
    /// The caller requested a stop.
    case stopped
  }

  let line: ReceiverLine
  let pace: Pace
  private let asking: Asking
  private let isStopped: () -> Bool
  private let clock = SystemClock()
  /// Maximum delay until a requested stop takes effect.
  private static let look = Interval.milliseconds(200)

  /// - Parameters:
  ///   - asking: When queries may be sent.
  ///   - isStopped: Whether the scan should stop.
  init(
    _ line: ReceiverLine, _ pace: Pace, _ asking: Asking = .atOnce,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.line = line
    self.pace = pace
    self.asking = asking
    self.isStopped = isStopped
  }

  /// Reads the line at the expected speeds, then at all others, until a receiver is detected.
  ///
  /// The time per speed is bounded by ``Timeouts``.
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

  /// Reads until the input is recognised. If it is not, and sending is permitted, sends queries: the receiver may be
  /// asleep or send only responses.
  private func listen(for time: Interval) -> ReceiverEar {
    var ear = ReceiverEar()
    let end = clock.now + time
    // A receiver that streams is detected in the first half. The first byte of the queries wakes one that is asleep.
    let half = asking == .atOnce ? time / 2 : .zero
    hear(into: &ear, until: end - half) { $0.isUnderstood }
    if asking == .atOnce, !ear.isUnderstood {
      line.write(ReceiverIdentity.questions)
      hear(into: &ear, until: end) { $0.isUnderstood }
    }
    return ear
  }

  /// Queries the identity; a busy receiver may need a second query.
  private func identify(_ heard: ReceiverEar, at speed: UInt32) -> Heard {
    var ear = heard
    if asking == .onceHeard {
      hear(into: &ear, until: clock.now + pace.answer) { $0.hasFix != nil }
      // Other instruments, too, send two valid sentences.
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

  /// Reads into the probe until `isEnough` returns true, until `end`, or until a requested stop.
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
