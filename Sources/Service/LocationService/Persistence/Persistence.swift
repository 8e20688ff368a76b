import CLinux
import LinuxHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import ServiceState

/// The durable state of the service: what is not on the disk yet, when it is written, and whether that fails.
///
/// # Problem
///
/// A durable call is answered only after its effect is on the disk, an event for an absent client must survive a power
/// cut, and each flush costs energy and flash wear (BKG-20, RNG-3). Fixes are acknowledged every second, so these
/// acknowledgements alone cause no flush. The reasons to flush are collected here, and ``LocationServer`` flushes at
/// most once per turn.
///
/// # States
///
/// ``unsaved`` is empty or contains reasons; the rows themselves are in ``StateStore``. Independently, the disk is
/// working or failing (``hasFailed``):
///
///     WORKING ──flush fails: logged──▶ FAILING ──flush succeeds: logged──▶ WORKING
///                                       │    ▲
///                                       └────┘ flush fails: not logged again
///
/// While FAILING, durable answers become errors (``WireReply/notDurable``), and changes stay in memory.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. Single rows are changed through the functions of this type, so that a full table is
///   logged; whole clients are added and removed with those of ``StateStore`` when a slot is allocated or freed. The
///   counters of boot and ring belong to `LocationService`.
/// - A flush for a reason in ``unsaved`` resets that reason, also if it fails: the rows stay changed, and the next
///   flush writes them.
///
/// Bounded: the tables of ``StateStore`` have capacities; a row beyond one is logged and lost at a restart.
struct Persistence {
  /// Reasons why the disk is not up to date.
  struct Unsaved: OptionSet {
    let rawValue: UInt8
    /// An absent client has an event that is not on the disk. It must be there before the program is started.
    static let event = Unsaved(rawValue: 1)
    /// A client has started or stopped updates. Without a flush, fixes delivered from now on would not count as
    /// undelivered after a kill (RNG-4).
    static let updatesChange = Unsaved(rawValue: 2)
    /// A client has acknowledged fixes, and its row is not updated. Requires no flush: the next sync saves it.
    static let acknowledgement = Unsaved(rawValue: 4)
    /// The receiver's flash was written. The next run must not write it again.
    static let flash = Unsaved(rawValue: 8)
    /// The reasons that require a flush at the end of the turn.
    static let urgent: Unsaved = [.event, .updatesChange, .flash]
  }

  /// After a loss of rows, an unknown client may be a lost one until that many fixes were stored: one day at 1 Hz.
  private static let lostClientFixes: UInt64 = 86_400

  /// The rows, and the file on the disk.
  let store: StateStore
  private(set) var unsaved: Unsaved = []
  /// Whether rows of clients were lost. A client without a row may then have had undelivered fixes.
  private(set) var mayHaveLostClients = false
  /// Whether the last flush failed.
  private(set) var hasFailed = false
  /// The engine's last record of writes to the receiver's flash.
  private var flash = FlashRecord()
  private let log: ServiceLog
  private let wallTimeAtBoot_ns: @Sendable () -> Int64

  /// - Parameters:
  ///   - log: Receives failures of the disk, and rows that exceed a table's capacity.
  ///   - wallTimeAtBoot_ns: Reads the wall clock at zero of the boot clock, for the names of damaged files.
  init(
    _ store: StateStore, _ log: ServiceLog,
    wallTimeAtBoot_ns: @escaping @Sendable () -> Int64 = { SystemClock().wallTimeAtBoot_ns }
  ) {
    self.store = store
    self.log = log
    self.wallTimeAtBoot_ns = wallTimeAtBoot_ns
  }

  private var wallTime: UTCTime {
    UTCTime(microseconds: wallTimeAtBoot_ns() / 1_000) + (SystemClock().now - .boot)
  }

  // MARK: Flush

  /// Records a reason why the disk is not up to date.
  mutating func note(_ reason: Unsaved) { unsaved.insert(reason) }

  /// Whether the end of the turn must flush, apart from pending answers.
  var requiresFlush: Bool { !unsaved.isDisjoint(with: .urgent) }

  /// Whether any change is not on the disk.
  var hasChanges: Bool { store.hasChanges || unsaved.contains(.acknowledgement) }

  /// Records that the rows of all clients are up to date. The next flush writes them.
  mutating func didUpdateAllRows() { unsaved.remove(.acknowledgement) }

  /// Writes all changes. A failure is logged once; the next flush retries.
  ///
  /// - Parameter forAnswer: Whether an answer waits for it.
  mutating func flush(forAnswer: Bool) {
    unsaved.subtract(.urgent)
    let isWriting = store.hasChanges
    // Release SQLite's code, which is not needed until the next flush; reading it again costs less than the disk
    // access. A flush for a waiting answer may follow each fix, so only the other flushes release all code.
    defer { if isWriting { unsafe clinux_release_code(forAnswer ? "libsqlite3" : nil) } }
    do {
      try store.flush(at: wallTime)
      if hasFailed { log.write(.notice, "the durable state is saved again") }
      hasFailed = false
    } catch {
      if !hasFailed {
        log.write(
          .error,
          "the durable state cannot be saved, and changes would be lost at a restart: \(error)")
      }
      hasFailed = true
    }
  }

  /// Flushes and closes the file, at the end of the service.
  func close() {
    do {
      try store.close(at: wallTime)
    } catch {
      log.write(.error, "the durable state could not be saved: \(error)")
    }
  }

  // MARK: Rows

  /// Whether the engine's record of writes to the receiver's flash has changed since the last call.
  mutating func needsRecord(_ record: FlashRecord) -> Bool {
    guard record != flash else { return false }
    flash = record
    return true
  }

  /// Adds or replaces a row.
  func put<Row>(
    _ row: Row, in table: WritableKeyPath<StateRows, StateTable<Row>>, at now: Instant
  ) {
    guard !store.rows[keyPath: table].put(row) else { return }
    log.write(
      .error, of: nil, at: now,
      "a table of the durable state is full, and a change is lost at a restart: \(Row.self)")
  }

  /// Determines whether clients with undelivered fixes may have been lost, in this run or shortly before it (RNG-4).
  ///
  /// - Parameter head: Sequence number of the next fix.
  mutating func noteLostClients(head: UInt64) {
    var until = store.counter(.clientsLostUntil)
    if until == .max || (store.repairs.isNew && head > 0) {
      until = Int64(head + Persistence.lostClientFixes)
    }
    mayHaveLostClients = head < UInt64(until)
    if !mayHaveLostClients { until = 0 }
    if until != store.counter(.clientsLostUntil) { store.setCounter(.clientsLostUntil, until) }
  }
}
