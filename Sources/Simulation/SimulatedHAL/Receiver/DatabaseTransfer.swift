import GNSSProtocols
import LocationTypes

// Transfer of the navigation database of a u-blox receiver to the host and back (UBX-MGA-DBD).

/// Contents of the simulated receiver's navigation database, as its entries encode them.
struct NavigationDatabase: Equatable, Sendable {
  /// Last time with a fix.
  var lastFix: Instant
  /// Last time at which the ephemeris was up to date.
  var ephemeris: Instant

  /// Length of an entry's payload, bytes; the first 12 are reserved.
  static let entryLength = 100
}

extension NavigationDatabase {
  /// Decodes an entry's payload, each of which encodes the whole contents.
  init(payload: [UInt8]) {
    func moment(_ offset: Int) -> Instant {
      var bits: UInt64 = 0
      for j in 0..<8 { bits |= UInt64(payload[offset + j]) << UInt64(8 * j) }
      return Instant(microseconds: Int64(bitPattern: bits))
    }
    self.init(lastFix: moment(12), ephemeris: moment(20))
  }

  /// The payload of an entry.
  func payload(_ number: UInt8) -> [UInt8] {
    var payload = [UInt8](repeating: number, count: NavigationDatabase.entryLength)
    for (i, moment) in [lastFix, ephemeris].enumerated() {
      let bits = UInt64(bitPattern: moment.microseconds)
      for j in 0..<8 { payload[12 + 8 * i + j] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * j)) }
    }
    return payload
  }
}

/// Progress of a transfer of the navigation database.
///
///     IDLE (nil) ──poll──▶ SENDING(next entry, due) ──all entries sent and acknowledged──▶ IDLE
///
/// Owner: ``SimulatedReceiver``, which sends the entries. Entries from the host are counted independently, since the
/// last start.
struct DatabaseTransfer: Sendable {
  /// The next entry to send, and when; nil if no transfer is in progress.
  private var sending: (next: UInt8, due: Instant)?
  /// Numbers of the entries received from the host.
  private var received: Set<UInt8> = []

  /// Time at which the next entries are sent; `.distantFuture` if no transfer is in progress.
  var due: Instant { sending?.due ?? .distantFuture }

  /// Number of the next entry to send, which is the number of entries after the last; nil if no transfer is in
  /// progress.
  var nextEntry: UInt8? { sending?.next }

  /// Starts to send all entries.
  mutating func begin(at now: Instant) { sending = (0, now) }

  /// Records that an entry was sent.
  mutating func didSendEntry() { sending?.next += 1 }

  /// Sets the time at which the next entries are sent.
  mutating func postpone(to due: Instant) { sending?.due = due }

  /// Ends sending.
  mutating func end() { sending = nil }

  /// Records an entry from the host. Returns whether three quarters of `count` entries have arrived.
  mutating func didReceive(_ number: UInt8, of count: UInt8) -> Bool {
    received.insert(number)
    return received.count * 4 >= Int(count) * 3
  }
}
