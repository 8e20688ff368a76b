import GNSSProtocols
import LinuxHAL
import LocationTypes

/// Detects the speed of a receiver on a serial line, and polls its identity where sending is permitted.
struct ReceiverScan {
  /// Line speeds of receivers, baud, most common first.
  static let speeds: [UInt32] = {
    let common: [UInt32] = [9_600, 115_200, 38_400, 57_600, 19_200]
    return common + BaudRate.all.indices.map { BaudRate.all[$0] }.filter { !common.contains($0) }
  }()

  /// Durations for which the line is read.
  struct Timeouts {
    /// At an expected speed; includes the time that a receiver may need to wake.
    var expected = Interval.seconds(4)
    /// At any other speed: a little more than two intervals of one second between fixes.
    var other = Interval.milliseconds(2_300)
    /// For a response to a query.
    var response = Interval.seconds(2)
  }

  /// A detected receiver.
  struct Detected {
    var speed: UInt32
    var probe: BaudProbe
    /// Whether its identity was queried.
    var wasQueried: Bool
  }

  /// When the scan may send queries.
  enum QueryPolicy {
    /// Always: the line was specified as that of the receiver.
    case always
    /// After the output contained fixes: a line that was not specified may belong to another device, such as a modem.
    case afterDetection
  }

  /// Result of a scan.
  enum Result {
    case detected(Detected)
    /// Bytes arrived, but no valid message at any speed.
    case unrecognised(bytes: Int)
    case silence
    /// The device was disconnected.
    case disconnected
    /// The caller requested a stop.
    case stopped
  }

  let line: ReceiverLine
  let timeouts: Timeouts
  private let queryPolicy: QueryPolicy
  private let isStopped: () -> Bool
  private let clock = SystemClock()
  /// Maximum delay until a requested stop takes effect.
  private static let pollInterval = Interval.milliseconds(200)

  /// - Parameters:
  ///   - queryPolicy: When queries may be sent.
  ///   - isStopped: Whether the scan should stop.
  init(
    _ line: ReceiverLine, _ timeouts: Timeouts, _ queryPolicy: QueryPolicy = .always,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.line = line
    self.timeouts = timeouts
    self.queryPolicy = queryPolicy
    self.isStopped = isStopped
  }

  /// Reads the line at the expected speeds, then at all others, until a receiver is detected.
  ///
  /// The time per speed is bounded by ``Timeouts``.
  func run(expecting expected: [UInt32]) -> Result {
    var tried: Set<UInt32> = []
    var unrecognisedBytes = 0
    for speed in expected + ReceiverScan.speeds where tried.insert(speed).inserted {
      guard line.setSpeed(speed) else { continue }
      let input = probe(for: expected.contains(speed) ? timeouts.expected : timeouts.other)
      if isStopped() { return .stopped }
      if line.isDisconnected { return .disconnected }
      if input.isRecognised { return .detected(identify(input, at: speed)) }
      unrecognisedBytes = max(unrecognisedBytes, input.byteCount)
    }
    return unrecognisedBytes > 0 ? .unrecognised(bytes: unrecognisedBytes) : .silence
  }

  /// Reads until the input is recognised. If it is not, and sending is permitted, sends queries: the receiver may be
  /// asleep or send only responses.
  private func probe(for time: Interval) -> BaudProbe {
    var probe = BaudProbe()
    let end = clock.now + time
    // A receiver that streams is detected in the first half. The first byte of the queries wakes one that is asleep.
    let half = queryPolicy == .always ? time / 2 : .zero
    read(into: &probe, until: end - half) { $0.isRecognised }
    if queryPolicy == .always, !probe.isRecognised {
      line.write(ReceiverIdentity.queries)
      read(into: &probe, until: end) { $0.isRecognised }
    }
    return probe
  }

  /// Queries the identity; a busy receiver may need a second query.
  private func identify(_ detected: BaudProbe, at speed: UInt32) -> Detected {
    var probe = detected
    if queryPolicy == .afterDetection {
      read(into: &probe, until: clock.now + timeouts.response) { $0.hasFix != nil }
      // Other instruments send valid sentences, too.
      if probe.hasFix == nil { return Detected(speed: speed, probe: probe, wasQueried: false) }
    }
    for _ in 0..<2 where probe.identity == nil {
      line.write(ReceiverIdentity.queries)
      read(into: &probe, until: clock.now + timeouts.response) { $0.identity != nil }
    }
    if probe.hasFix == nil {
      read(into: &probe, until: clock.now + timeouts.response) { $0.hasFix != nil }
    }
    return Detected(speed: speed, probe: probe, wasQueried: true)
  }

  /// Reads into the probe until `isEnough` returns true, until `end`, or until a requested stop.
  func read(
    into probe: inout BaudProbe, until end: Instant, _ isEnough: (BaudProbe) -> Bool
  ) {
    while !isEnough(probe), !line.isDisconnected, !isStopped() {
      let remaining = end - clock.now
      guard remaining > .zero else { return }
      probe.decode(line.read(within: min(remaining, ReceiverScan.pollInterval)))
    }
  }
}
