import LocationTypes

/// Puts the messages of one epoch together, whatever their order.
///
/// An NMEA epoch is open from its first sentence until one comes that bears another time, or until
/// ``close()``. Sentences without a time of their own (GSA, GSV, VTG, Garmin's) belong to the open epoch, and
/// to the one that comes next when none is open. NAV-PVT and LOG-BATCH are whole epochs. An epoch
/// is given once: what comes late for the one just given, or again in the other protocol, is left
/// out.
public struct EpochAssembler: Sendable {
  let options: EpochOptions
  var calendar: EpochCalendar
  // No optionals: the draft is large, and is only ever changed in place.
  var draft = EpochDraft()
  var hasDraft = false
  var waiting = Epoch()
  var hasWaiting = false
  var held = Epoch()
  var isHolding = false
  var last: Given?
  var heardDate: ZDA?

  /// The epoch given last, to know it again.
  struct Given {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
  }

  /// Receivers round UBX and NMEA times of one epoch differently, by less than this.
  static let tolerance_us: Int64 = 15_000
  /// What comes with the same time of day much later is not late but another day's.
  static let lateness = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
  }

  /// Whether sentences of an unfinished epoch, or an epoch for ``next()``, are held.
  public var isOpen: Bool { hasDraft || hasWaiting || isHolding }

  /// Adds a message and gives the epoch that it closed or is.
  ///
  /// `now` is when the message came; a fix bears the moment of its first sentence. Where a UBX
  /// epoch closes an NMEA epoch, the NMEA one is given and the other by ``next()``, or by the next
  /// call of whatever kind: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    if !hasWaiting { return made(by: message, at: now) }
    let earlier = next()
    // An epoch waits only where none is open, so this message makes one at most.
    if let made = made(by: message, at: now) { wait(made) }
    return earlier
  }

  /// Gives the epoch that the last message completed beside the one that ``add(_:at:)`` gave.
  public mutating func next() -> Epoch? {
    if !hasWaiting { return nil }
    hasWaiting = false
    return waiting
  }

  mutating func wait(_ epoch: Epoch) {
    waiting = epoch
    hasWaiting = true
  }

  /// Closes the epoch in the making: the line has been silent, or the stream has ended.
  ///
  /// - Returns: nil when none is open, or when nothing told whether there is a position.
  public mutating func close() -> Epoch? {
    if hasWaiting { return next() }
    return closeDraft(at: draft.received)
  }

  mutating func made(by message: GNSSMessage, at now: Instant) -> Epoch? {
    switch message {
    case .rmc(let m):
      guard let closed = enter(0, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gga(let m):
      guard let closed = enter(1, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gll(let m):
      guard let closed = enter(2, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gst(let m):
      guard let closed = enter(3, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gns(let m):
      guard let closed = enter(4, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gbs(let m):
      guard let closed = enter(5, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .ubloxPosition(let m):
      guard let closed = enter(6, .ublox, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .zda(let m): take(m)
    case .gsa(let m):
      open(now)
      draft.take(m)
    case .gsv(let m):
      open(now)
      draft.take(m)
    case .vtg(let m):
      open(now)
      draft.take(m)
    case .garminErrors(let m):
      open(now)
      draft.take(m)
    case .garminAltitude(let m):
      open(now)
      draft.take(m)
    case .navPVT(let solution): return addLive(solution, at: now)
    case .batchEntry(let entry): return addStored(entry.solution, at: now)
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .commandResult, .other: break
    }
    return nil
  }
}
