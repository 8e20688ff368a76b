import GNSSProtocols
import LocationTypes

// What a u-blox receiver knows of the sky, handed out and taken back (UBX-MGA).

/// What the simulated receiver's navigation database holds, as its entries carry it.
struct SkyKnowledge: Equatable, Sendable {
  /// Last moment with a fix.
  var lastFix: Instant
  /// Last moment at which the ephemeris was up to date.
  var ephemeris: Instant
}

/// How handing out and taking back goes.
struct AidingExchange: Sendable {
  /// Entries that have been taken back since it started, by their number.
  var taken: Set<UInt8> = []
  /// Which entry is sent next; nil while none is.
  var next: UInt8?
  /// When it is sent.
  var due = Instant.distantFuture
}

extension SimulatedReceiver {
  /// Bytes of an entry's payload; 12 of them are reserved.
  private static let entryLength = 100

  /// Sends the database, entry by entry, then how many there were.
  mutating func sendDatabase(at now: Instant) {
    guard acquisition.knowledge(at: now) != nil else {
      // As M10s say that they have none.
      return answerAiding(.mgaDBD, isAccepted: false, reason: 255, start: 0, at: now)
    }
    aiding.next = 0
    aiding.due = now
  }

  /// Sends a few entries, so that what is live comes between them.
  mutating func sendEntries(at now: Instant) {
    for _ in 0..<4 {
      guard let place = aiding.next,
        let knowledge = acquisition.knowledge(at: now)
      else { break }
      if place == figures.databaseEntries {
        aiding.next = nil
        answerAiding(.mgaDBD, start: UInt32(place), at: now)
        break
      }
      aiding.next = place + 1
      frame.removeAll()
      let payload = SimulatedReceiver.payload(place, knowledge)
      frame.appendUBX(.mgaDBD, payload: payload.span)
      transmit(at: now)
    }
    aiding.due = aiding.next == nil ? .distantFuture : max(now, line.freeAt)
  }

  private static func payload(_ place: UInt8, _ knowledge: SkyKnowledge) -> [UInt8] {
    var payload = [UInt8](repeating: place, count: entryLength)
    for (i, moment) in [knowledge.lastFix, knowledge.ephemeris].enumerated() {
      let bits = UInt64(bitPattern: moment.microseconds)
      for j in 0..<8 { payload[12 + 8 * i + j] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * j)) }
    }
    return payload
  }

  /// The host says what time it is.
  mutating func takeTime(at now: Instant) {
    acquisition.learnTime()
    answerAiding(.mgaINI, start: 0x8000_0010, at: now)
  }

  /// An entry comes back. Entries are of use one by one; a fix comes soon once most are there.
  mutating func takeEntry(_ bytes: [UInt8], at now: Instant) {
    guard bytes.count == SimulatedReceiver.entryLength + 8 else {
      return answerAiding(.mgaDBD, isAccepted: false, reason: 3, start: 0, at: now)
    }
    let payload = Array(bytes[6..<(6 + SimulatedReceiver.entryLength)])
    let start = UInt32(payload[0]) * 0x0101_0101
    guard acquisition.knowsTime else {
      return answerAiding(.mgaDBD, isAccepted: false, reason: 1, start: start, at: now)
    }
    func moment(_ place: Int) -> Instant {
      var bits: UInt64 = 0
      for j in 0..<8 { bits |= UInt64(payload[place + j]) << UInt64(8 * j) }
      return Instant(microseconds: Int64(bitPattern: bits))
    }
    aiding.taken.insert(payload[0])
    if aiding.taken.count * 4 >= Int(figures.databaseEntries) * 3 {
      acquisition.remember(SkyKnowledge(lastFix: moment(12), ephemeris: moment(20)), at: now)
    }
    answerAiding(.mgaDBD, start: start, at: now)
  }

  private mutating func answerAiding(
    _ message: UBXIdentity, isAccepted: Bool = true, reason: UInt8 = 0, start: UInt32,
    at now: Instant
  ) {
    guard configuration.isOn(ConfigurationKey.acknowledgesAiding), !losesAcknowledgement() else {
      return
    }
    frame.removeAll()
    frame.append(
      UBXAidingAnswer(
        to: message, isAccepted: isAccepted, reason: reason, payloadStart: start))
    transmit(at: now)
  }
}
