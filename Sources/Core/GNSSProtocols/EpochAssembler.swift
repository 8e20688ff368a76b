import LocationTypes

/// Puts the messages of one epoch together, whatever their order.
///
/// An NMEA epoch is open from its first sentence until one comes that bears another time, or until
/// ``close()``; with ``EpochOptions/learnsEnd`` until the sentence that has ended the epochs before.
/// Sentences without a time of their own (GSA, GSV, VTG, Garmin's) belong to the open epoch, and
/// to the one that comes next when none is open. NAV-PVT and LOG-BATCH are whole epochs. An epoch
/// is given once: what comes late for the one just given, or again in the other protocol, is left
/// out; with ``EpochOptions/waitsForSentences`` both protocols make one epoch.
public struct EpochAssembler: Sendable {
  let options: EpochOptions
  var calendar: EpochCalendar
  // What of the following means something.
  @usableFromInline var about = EpochsAbout()
  // No optionals: the draft is large, and is only ever changed in place.
  var draft = EpochDraft()
  var waiting = Epoch()
  var held = Epoch()
  var last: Given?
  var pendingDate: ZDA?
  // The time of an epoch of which no other sentence tells one.
  var clock: ZDA?
  // What is looked at from other modules is inlinable: a call would copy the whole assembler.
  @usableFromInline var end: EpochEnd
  var landing = Landing.nowhere
  // Of the message that is being added: when it came, and its place in its epoch if it has one.
  @usableFromInline var arrival = Instant.boot
  var mark = EpochMark(kind: 0)
  // The parts of a UBX epoch: see EpochAssembler+Navigation.swift.
  var parts = UBXDraft()
  var awaited = Epoch()
  var awaitedTime_ms: UInt32?
  var precision = PrecisionHabit()
  var view = UBXSatellites(timeOfWeek_ms: 0)
  var leapSeconds: Int8?

  /// The epoch given last, to know it again.
  struct Given: Equatable {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
    var date: ShortDate?
    /// −1 where it was not told.
    var timeOfWeek_ms: Int64 = -1
    var utc_us = Int64.min
    var isHighRate = false
    /// The sentences that told its time.
    var timed = EpochMarks()
  }

  /// What became of the message that was added last.
  enum Landing {
    /// It is of no epoch in the making.
    case nowhere
    /// It opened an epoch.
    case opened
    /// It went into the open epoch.
    case joined
    /// The epoch to which it belongs had been given.
    case late
  }

  /// Receivers round UBX and NMEA times of one epoch differently, by less than this.
  static let tolerance_us: Int64 = 15_000
  /// What comes with the same time of day much later is not late but another day's.
  static let lateness = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
    end = EpochEnd(pause: options.pause)
    about[EpochsAbout.sentences] = options.waitsForSentences
  }

  /// The silence of the line that ends the open epoch: to be closed when so much has passed since the
  /// last byte. Learned, where the options say so; 40 to 400 ms.
  @inlinable public var pause: Interval { end.pause }

  /// Whether the message that ends this receiver's epochs is known, so that no silence is needed.
  @inlinable public var isEndKnown: Bool { end.isLearned }

  /// Tells that bytes have come, before what they make is added: how long a receiver is silent within
  /// an epoch is learned from it.
  ///
  /// - Parameter isGathered: They were not read at once: when they came, and so any silence before
  ///   them, is not known.
  public mutating func hear(at now: Instant, isGathered: Bool = false) {
    if options.learnsEnd { end.hear(at: now, isGathered: isGathered) }
  }

  /// Whether sentences of an unfinished epoch, or an epoch for ``next()``, are held.
  @inlinable public var isOpen: Bool { about.hasEpoch }

  /// Adds a message and gives the epoch that it closed or is.
  ///
  /// `now` is when the message came; a fix bears the moment of its first sentence. Where a UBX
  /// epoch closes an NMEA epoch, the NMEA one is given and the other by ``next()``, or by the next
  /// call of whatever kind: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    arrival = now
    var epoch = Epoch()
    return add(message, into: &epoch) ? epoch : nil
  }

  /// Adds a message that has come at ``arrival``; true where it closed an epoch or is one, which is
  /// written then.
  private mutating func add(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    if hasWaiting || isAwaiting { return addBehind(message, into: &epoch) }
    let isMade = made(by: message, into: &epoch)
    return options.learnsEnd ? closeIfOver(isMade, into: &epoch) : isMade
  }

  /// Whether ``next()`` may have something to give.
  @inlinable public var hasNext: Bool { about.mayHaveNext }

  /// Gives the epoch that the last message completed beside the one that ``add(_:at:)`` gave.
  public mutating func next() -> Epoch? {
    if hasWaiting {
      hasWaiting = false
      return waiting
    }
    return isAwaiting && awaitedTime_ms == nil ? takeAwaited() : nil
  }

  /// Closes the epoch in the making: the line has been silent, or the stream has ended.
  ///
  /// - Returns: nil when none is open, or when nothing told whether there is a position.
  public mutating func close() -> Epoch? {
    if hasWaiting { return next() }
    if isAwaiting { return takeAwaited() }
    if hasParts, let epoch = closeParts(at: parts.received, by: .silence) { return epoch }
    return closeDraft(at: draft.received, by: .silence)
  }

  mutating func made(by message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    landing = .nowhere
    let made: Epoch?
    switch message {
    case .rmc(let m): return take(m, into: &epoch)
    case .gga(let m): return take(m, into: &epoch)
    case .gsa(let m): return take(m, into: &epoch)
    case .gsv(let m): return take(m, into: &epoch)
    case .gll(let m): return take(m, into: &epoch)
    case .gst(let m): return take(m, into: &epoch)
    case .vtg(let m): return take(m, into: &epoch)
    case .gns, .gbs, .ubloxPosition, .zda, .garminErrors, .garminAltitude:
      return take(message, into: &epoch)
    case .navPVT(let solution): return addLive(solution, at: arrival, into: &epoch)
    case .hnrPVT(let solution): return addHighRate(solution, at: arrival, into: &epoch)
    case .navigation(let part): made = addPart(part, at: arrival)
    case .batchEntry(let entry): made = addStored(entry.solution, at: arrival)
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .aidingEntry, .aidingAnswer,
      .commandResult, .receiverNotice, .unread, .other:
      return false
    }
    guard let made else { return false }
    epoch = made
    return true
  }
}

// MARK: Without messages

extension EpochAssembler: FrameReader {
  @inline(__always)
  mutating func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into epoch: inout Epoch
  ) -> Bool {
    // The usual one first: it is on the way of every fix.
    if identity == .navPVT, !hasWaiting, !isAwaiting, UBXSolution.isNavPVT(payload) {
      return addLive(payload, into: &epoch)
    }
    return add(UBXDecoding.message(identity, payload, &counters), into: &epoch)
  }

  @inline(__always)
  mutating func sentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into epoch: inout Epoch
  ) -> Bool {
    if hasWaiting || isAwaiting { return addBehind(&fields, &counters, into: &epoch) }
    landing = .nowhere
    let isMade = NMEADecoding.read(&fields, &counters, for: &self, into: &epoch)
    return options.learnsEnd ? closeIfOver(isMade, into: &epoch) : isMade
  }

  /// Adds a sentence while an epoch waits, which is given first.
  @inline(never)
  private mutating func addBehind(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into epoch: inout Epoch
  ) -> Bool {
    var reader = MessageReader()
    var message: GNSSMessage?
    guard reader.sentence(&fields, &counters, into: &message), let message else { return false }
    return addBehind(message, into: &epoch)
  }
}

// MARK: The learned end

extension EpochAssembler {
  /// Closes the open epoch if the message that was just added is known to be the last of an epoch;
  /// `isMade` says whether it has made one already.
  private mutating func closeIfOver(_ isMade: Bool, into epoch: inout Epoch) -> Bool {
    switch landing {
    case .nowhere: return isMade
    case .late:
      end.comeLate()
      return isMade
    case .opened: end.begin(with: mark)
    case .joined: end.goOn(with: mark)
    }
    // With epochs of both protocols open, or waiting, it is left to the next message.
    guard end.isOver, !hasWaiting, !isAwaiting else { return isMade }
    if !isMade { return closeOver(into: &epoch) }
    var own = Epoch()
    if closeOver(into: &own) { wait(own) }
    return true
  }

  private mutating func closeOver(into epoch: inout Epoch) -> Bool {
    if hasParts, parts.isTold {
      guard !hasDraft, let own = closeParts(at: arrival, by: .lastMessage) else { return false }
      epoch = own
      return true
    }
    hasParts = false
    return closeDraft(at: arrival, by: .lastMessage, into: &epoch)
  }
}

// MARK: Silence

extension EpochAssembler {
  /// What falls silent inside a message was held up on its way, and is waited for so long.
  public static var messagePatience: Interval { .milliseconds(250) }

  /// The shortest silence that ends an epoch, however little its receiver pauses.
  public static var shortestPause: Interval { EpochEnd.shortestPause }
  /// The longest silence that is waited for within an epoch.
  public static var longestPause: Interval { EpochEnd.longestPause }

  /// How long the line must be silent until something is to be done; nil while nothing is held.
  ///
  /// The epoch is closed after ``pause``, but not inside a sentence, which may be one of its own.
  ///
  /// What the decoder holds is told and not the decoder, which is too large to be handed about.
  @inlinable public func patience(isMidFrame: Bool, isMidSentence: Bool) -> Interval? {
    if isOpen && !isMidSentence { return pause }
    return isOpen || isMidFrame ? EpochAssembler.messagePatience : nil
  }
}
