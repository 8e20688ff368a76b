import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The input stage of ``Engine``: bytes from the receiver's line in, messages and epochs with their arrival times out.
///
/// **Problem.** Bytes arrive in chunks that do not end where messages do. A step stops after one epoch or one message
/// that the driver answers, so the rest of a chunk waits for the next step. The board may also leave bytes in the
/// input buffer of the line while it sleeps, or delay reading them: their arrival times are then unknown, but the times
/// of the fixes depend on them. This type owns the bytes, the decoder, the assembler, and the rules that give each
/// message its arrival time.
///
/// **States.** Two independent ones, each set by the plan of a step:
///
/// ```
/// reading      immediate <-- setReadDelayed --> delayed   (an epoch is in progress; the next read is late)
/// buffering    off <-- setBuffering --> on                (messages stay in the line's buffer while sleeping)
///              The bytes read after it, and those that follow without a pause, count as buffered: only their order
///              is known, and one message per fix interval is assumed.
/// ```
///
/// **Invariants.** `offset` is at most the number of bytes in `chunk`. New bytes are accepted only when all previous
/// ones are processed. Arrival times never lie in the future, and an epoch never begins before the previous one ended.
///
/// **Who changes what.** Only this type writes its properties. `Engine` passes bytes and time, takes epochs, and sets
/// reading and buffering with each plan. **Bounds.** One chunk, one open frame, one open epoch; O(bytes).
struct InputStage: ~Copyable {
  private(set) var decoder: GNSSDecoder
  private(set) var assembler: EpochAssembler
  private let fixInterval: Interval
  private let readDelay: Interval
  private var chunk = ByteChunk()
  private var offset = 0
  /// Time of the last received byte.
  private(set) var lastByteTime = Instant.boot
  /// Time at which the last live epoch was complete: the next ones follow at multiples of the fix interval.
  private(set) var lastEpochTime = Instant.boot
  /// When input was last discarded unread, or may have been.
  private(set) var discardTime = Instant.boot
  /// End of the wait for the message after the one that ended a suspend, whose bytes are lost.
  private var listeningEnd = Instant.boot
  /// Lower bound for the start of the epoch that is being assembled.
  private var earliestEpochStart = Instant.boot
  /// Time of the last step that read buffered messages; nil before the first such step.
  private var bufferedReadTime: Instant?
  /// Whether the last plan delayed reading: the arrival times of the next bytes are unknown.
  private var isReadDelayed = false
  /// Whether the last plan leaves messages in the line's buffer.
  private var isBuffering = false
  /// Time of the receiver's last pulse per second.
  private var pulse: Instant?
  /// Arrival of the first byte after the last silence on the line; nil once its epoch is complete.
  private var inputStart: Instant?
  /// Last received entry of the receiver's navigation database.
  private var aidingEntry: UBXAidingEntry?
  /// Satellites in view, while they are watched.
  private var satellites = SatelliteCollector()
  private(set) var isWatchingSatellites = false
  /// Whether messages about satellites alone are kept away from the assembler.
  private var separatesSatellites = false
  /// Whether NAV-DOP contributes nothing to an epoch, because NAV-PVT contains it.
  private let hasWholeEpochs: Bool
  /// Age from which satellites in view are no longer reported.
  private let satelliteLifetime: Interval

  init(_ setup: EngineSetup) {
    decoder = GNSSDecoder(setup.decoding)
    assembler = EpochAssembler(setup.epochs)
    fixInterval = setup.parameters.fixInterval
    readDelay = setup.readDelay
    hasWholeEpochs = setup.receiver.map { $0.family.isUBlox && $0.output == .ubx } ?? false
    satelliteLifetime = .seconds(10) + (setup.receiver?.satelliteInterval ?? .zero) * 2
  }

  // MARK: Bytes and messages

  /// Accepts bytes that were read at `now`.
  ///
  /// - Precondition: The previous bytes are processed.
  mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    precondition(offset == chunk.count, "send .proceed until the previous bytes are processed")
    if bytes.count > 0 {
      if isBuffering || continuesBufferedInput(at: now) { bufferedReadTime = now }
      lastByteTime = now
      assembler.noteInput(at: now, isBuffered: isReadDelayed)
    }
    chunk.removeAll()
    chunk.append(bytes)
    offset = 0
  }

  /// The next message; nil when the bytes end.
  mutating func nextMessage() -> GNSSMessage? { decoder.next(chunk.span, &offset) }

  /// The next epoch that was completed together with another one.
  mutating func nextPendingEpoch() -> Epoch? { assembler.hasNext ? assembler.next() : nil }

  /// Adds a message to the open epoch. Writes the epoch that it completes; false if it completes none.
  mutating func add(
    _ message: GNSSMessage, at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    listeningEnd = .boot
    if separatesSatellites, collectSatellites(message, at: now) { return false }
    if case .aidingEntry(let entry) = message { aidingEntry = entry }
    return assembler.add(message, at: arrivalTime(at: now), into: &epoch)
  }

  /// Collects the satellites of a message. Returns whether the message must not be added to an epoch.
  ///
  /// An epoch does not end with its satellites: they are sent after its fix, or with every nth fix only, so its end would
  /// be late or lost.
  @inline(never)
  private mutating func collectSatellites(_ message: GNSSMessage, at now: Instant) -> Bool {
    let isSeparate: Bool
    switch message {
    case .navigation(.dilutions): isSeparate = hasWholeEpochs
    case .gsv, .navigation(.satellites), .navigation(.channels): isSeparate = true
    case _: isSeparate = false
    }
    if isWatchingSatellites { satellites.collect(message, from: decoder, at: now) }
    return isSeparate
  }

  /// The message of a frame that ends with a silence; nil if none does or the silence is still short.
  mutating func finishMessage(at now: Instant) -> GNSSMessage? {
    now - lastByteTime >= EpochAssembler.messageTimeout ? decoder.finish() : nil
  }

  /// Closes the open epoch after a silence, and returns it.
  mutating func closeEpoch() -> Epoch? { assembler.close() }

  /// Sets the time of an epoch that goes to the driver.
  mutating func setArrival(of epoch: inout Epoch, at now: Instant) {
    guard epoch.origin == .live else { return }
    lastEpochTime = arrivalTime(at: now)
    // Pulse and start belong to this epoch, unless the message that completed it has begun the next one.
    if epoch.fix?.utc == nil, !assembler.isOpen { (pulse, inputStart) = (nil, nil) }
    if let acquired = epoch.fix?.acquired {
      epoch.fix?.acquired = max(acquired, earliestEpochStart)
    }
  }

  /// Records that a message completed a live epoch: the next one begins with this message, one interval after the
  /// previous one.
  mutating func beginNextEpoch(at now: Instant) { earliestEpochStart = arrivalTime(at: now) }

  /// The arrival time of the current message. Of buffered messages only the order is known; one per fix interval is
  /// assumed.
  private func arrivalTime(at now: Instant) -> Instant {
    isBuffered(at: now) ? min(now, lastEpochTime + fixInterval) : now
  }

  /// Whether the bytes read at `now` were buffered.
  private func isBuffered(at now: Instant) -> Bool { bufferedReadTime == now }

  /// Whether new bytes were buffered together with the previous ones: they are read at the same time, or right after a
  /// full chunk.
  private func continuesBufferedInput(at now: Instant) -> Bool {
    guard let bufferedReadTime, bufferedReadTime == lastByteTime else { return false }
    return now == lastByteTime || (chunk.isFull && now - lastByteTime < readDelay)
  }

  // MARK: Pulse, navigation database

  /// Records the receiver's last pulse per second.
  mutating func recordPulse(at pulse: Instant) { self.pulse = pulse }

  /// The pulse of a live fix; nil without one. A pulse belongs to one epoch only, and not to buffered messages, whose
  /// arrival times are estimated.
  ///
  /// A fix of the second half of a second may arrive after the pulse that ends this second, which is then kept for the
  /// next fix.
  mutating func takePulse(
    of utc: UTCTime, received: Instant, at now: Instant
  ) -> EpochTime.Pulse? {
    guard let time = pulse, time <= received else { return nil }
    let own = isBuffered(at: now) ? nil : FixClock.pulse(at: time, of: utc, received: received)
    if own != nil || isBuffered(at: now) || utc.microseconds % 1_000_000 < 500_000 { pulse = nil }
    return own
  }

  /// Records the arrival of the first byte after a silence.
  mutating func recordInputStart(at start: Instant) { inputStart = start }

  /// The arrival of the first byte of an epoch whose first message was read at `arrival`; nil if unknown. A silence
  /// belongs to one epoch only, and not to buffered messages.
  mutating func takeInputStart(before arrival: Instant, at now: Instant) -> Instant? {
    guard let start = inputStart, start <= arrival else { return nil }
    inputStart = nil
    return isBuffered(at: now) || arrival - start > FixClock.maximumPulseAge ? nil : start
  }

  /// The frame of the last received entry of the navigation database; empty if none was received.
  var aidingFrame: ByteChunk { aidingEntry.map { decoder.frame(of: $0) } ?? ByteChunk() }

  // MARK: Satellites

  /// Sets whether satellites in view are collected.
  ///
  /// Epochs are assembled without them from the first time on: if they were again part of an epoch, the detection of its
  /// end would have to start again.
  mutating func setWatchingSatellites(_ isWatching: Bool) {
    if isWatching && !isWatchingSatellites { satellites.removeAll() }
    isWatchingSatellites = isWatching
    if isWatching { separatesSatellites = true }
  }

  /// The newest satellites in view; nil without any, or if they are old.
  func satelliteView(at now: Instant) -> SatelliteView? {
    guard isWatchingSatellites, let view = satellites.view(at: now) else { return nil }
    return now - view.time <= satelliteLifetime ? view : nil
  }

  // MARK: Waiting

  /// Whether an unfinished frame or an open epoch waits for more bytes.
  var isMidEpoch: Bool { assembler.isOpen || decoder.isMidFrame }

  /// Time at which the open frame or epoch is closed if no byte arrives before; nil when neither is open.
  var closeTime: Instant? {
    let timeout = assembler.idleTimeout(
      isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
    return timeout.map { lastByteTime + $0 }
  }

  /// Records that input was discarded unread, or may have been, up to `now`.
  mutating func noteDiscarded(at now: Instant) { discardTime = now }

  /// Records that the board was suspended until `now`, so that input was lost. If it was `byInput` that the suspend
  /// ended, the board must wait for the next message.
  mutating func noteResume(byInput: Bool, at now: Instant) {
    discardTime = now
    isBuffering = false
    if byInput { listeningEnd = now + fixInterval * 2 }
  }

  /// End of the wait for a message of the receiver that woke the board; nil if none is awaited.
  func listeningEnd(at now: Instant) -> Instant? { now < listeningEnd ? listeningEnd : nil }

  /// Sets whether reading is delayed from now on.
  mutating func setReadDelayed(_ isDelayed: Bool) { isReadDelayed = isDelayed }

  /// Sets whether messages are buffered from now on.
  ///
  /// Arrival times of buffered messages are computed from that of the last epoch. If that is older than one interval,
  /// they are computed from `now`, which is late by less than one interval, except while messages that were buffered
  /// before are still being read.
  mutating func setBuffering(_ willBuffer: Bool, at now: Instant) {
    if willBuffer && !isBuffering && !isBuffered(at: now) && now - lastEpochTime > fixInterval {
      lastEpochTime = now
    }
    isBuffering = willBuffer
  }
}
