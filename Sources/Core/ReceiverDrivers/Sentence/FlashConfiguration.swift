import GNSSProtocols
import LocationTypes

/// Earlier writes of the configuration to a receiver's flash, which wears out. The driver's owner stores it beyond the
/// life of the driver and passes it to the next one (``ReceiverSetup/flash``).
public struct FlashRecord: Equatable, Sendable {
  /// Hash of the configuration that was written; 0 for none.
  public private(set) var target: UInt32
  /// Number of writes of that configuration.
  public fileprivate(set) var writes: UInt8
  /// Hash of the values that the receiver reported after such a write, if they differ from those written; 0 otherwise.
  public fileprivate(set) var kept: UInt32

  /// Creates a record, by default without a write.
  public init(target: UInt32 = 0, writes: UInt8 = 0, kept: UInt32 = 0) {
    self.target = target
    self.writes = writes
    self.kept = kept
  }

  /// Whether the configuration is not written again, whatever the receiver reports.
  public var isExhausted: Bool { writes >= FlashRecord.maximumWrites }

  /// Maximum number of writes of the same configuration.
  public static let maximumWrites: UInt8 = 8
}

/// Whether to write the configuration to the receiver's flash, for a family with
/// ``ReceiverCapabilities/configurationInFlash``.
///
/// Problem. The driver reads the configuration after each wake-up and writes it if it differs. A receiver that does not
/// keep a value (it was requested 5 Hz and keeps 3) differs each time, and a board that is off between fixes starts the
/// service, and with it the driver, many times a day.
///
/// ```
///            differs, record.kept == 0                       as written
///   reading ───────────────────────────▶ written ─▶ reading ────────────▶ accepted
///      │ differs, but is record.kept                   │ differs
///      ▼                                               ▼
///   accepted                                        record.kept = the values, accepted
/// ```
///
/// Invariants. Values that differ directly after a write are not written again unless the receiver reports still others,
/// as after a loss of its flash. The same configuration is written at most ``FlashRecord/maximumWrites`` times, in all
/// lives of the driver together. Another interval or baud rate in the profile starts a new record.
///
/// Ownership. Part of ``SentenceDriver``; only the methods write the properties.
struct FlashConfiguration: Sendable {
  private(set) var record: FlashRecord
  /// Whether the configuration was written and not read since.
  private var isUnverified = false
  /// Hash of the values reported in this reading.
  private var reported = FNV1a()
  /// Whether a value of this reading differs from the requested one.
  private var isDifferent = false
  /// Whether the receiver keeps another list of sentences, so that those that the requested list lacks mean nothing.
  private(set) var keepsOtherSentences = false

  init(_ setup: ReceiverSetup) {
    let target = FlashConfiguration.target(of: setup)
    record = setup.flash.target == target ? setup.flash : FlashRecord(target: target)
  }

  /// Starts to read the configuration.
  mutating func beginReading() {
    reported = FNV1a()
    isDifferent = false
    keepsOtherSentences = false
  }

  /// Records a value that the receiver reports: the list of sentences, and last the interval. Returns whether to write
  /// the configuration now; counts the write.
  mutating func mustWrite(_ value: UInt32?, expected: UInt32?, isLast: Bool) -> Bool {
    reported.add(UInt64(value ?? .max))
    if value != expected {
      isDifferent = true
      if !isLast { keepsOtherSentences = true }
    }
    guard isDifferent else {
      if isLast { isUnverified = false }
      return false
    }
    // The whole reading decides if it may equal what the receiver kept before.
    if !isLast, isUnverified || record.kept != 0 { return false }
    let values = UInt32(truncatingIfNeeded: reported.value) | 1
    if isUnverified {
      isUnverified = false
      record.kept = values
    }
    return record.kept != values && countWrite()
  }

  /// Records that the configuration was written and saved.
  mutating func markWritten() { isUnverified = true }

  /// Whether flash may be written again; counts the write.
  mutating func countWrite() -> Bool {
    guard !record.isExhausted else { return false }
    record.writes += 1
    return true
  }

  /// Hash of what the setup writes to flash, not 0.
  private static func target(of setup: ReceiverSetup) -> UInt32 {
    var hash = FNV1a()
    hash.add(setup.family.rawValue)
    hash.add(UInt64(setup.lineSpeed) << 32 | UInt64(setup.interval_ms))
    return UInt32(truncatingIfNeeded: hash.value) | 1
  }
}
