import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes

/// The fix pipeline of ``Engine``: the fix of an epoch gets its measurement time and accuracy, may be held back for a
/// better one, and is appended to the ring.
///
/// **States.**
///
/// ```
/// held fix   none -- hold(_:): a better fix is expected ------------------> held
///            held -- hold(_:): the fix that follows is expected to improve --> held (replaced)
///            held -- best(of:), takeHeld(): a fix is delivered ------------> none
/// ```
///
/// **Invariants.** Measurement times never decrease, even if UTC steps. A stored fix has a horizontal accuracy.
///
/// **Who changes what.** Only this type writes its properties. `Engine` decides whether a fix is held, delivered and
/// stored, because that depends on schedule and clients. **Bounds.** One held fix; O(1) for each function.
struct FixPipeline: ~Copyable {
  /// The deferral cache.
  private(set) var ring: FixRing
  /// Newest fix in the ring.
  private(set) var newest: StoredFix?
  /// Measurement time of the newest valid fix, stored or not.
  private(set) var newestTime = Instant.boot
  /// Fix that is held back while its accuracy improves.
  private(set) var held: Fix?
  /// Upper estimate of the device's speed.
  private(set) var plausibleSpeed: PlausibleSpeed
  /// Times of the newest live fix with a date; nil before the first.
  private(set) var epochTime: EpochTime?
  private(set) var clock = FixClock()
  private let isAccessory: Bool
  private let assumedAccuracy_mm: Int32

  init(_ setup: EngineSetup, ring: consuming FixRing) {
    self.ring = ring
    plausibleSpeed = PlausibleSpeed(limit: setup.parameters.plausibleSpeed)
    isAccessory = setup.isAccessory
    assumedAccuracy_mm = setup.assumedAccuracy_mm
  }

  // MARK: Time and accuracy

  /// Updates the offset of UTC from a live fix; `pulse` as for `FixClock.update(_:received:pulse:)`.
  mutating func updateClock(_ utc: UTCTime, received: Instant, pulse: EpochTime.Pulse?) {
    clock.update(utc, received: received, pulse: pulse)
  }

  /// Records the times of a live fix. `pulse` as for ``updateClock(_:received:pulse:)``; `start`: arrival of the first
  /// byte of its epoch, if known.
  mutating func recordEpochTime(
    _ fix: Fix, _ utc: UTCTime, start: Instant?, pulse: EpochTime.Pulse?, leapChange: Int8
  ) {
    let isFromSatellites =
      !fix.isSimulated && fix.quality != .simulated && fix.quality != .deadReckoning
    epochTime = EpochTime(
      number: (epochTime?.number ?? 0) + 1, utc: utc,
      isDateUncertain: fix.isDateUncertain || !isFromSatellites,
      arrival: start, pulse: pulse, leapChange: leapChange)
  }

  /// Updates the offset of UTC from a fix of the receiver's buffer.
  mutating func updateClockFromBatch(_ utc: UTCTime, received: Instant) {
    clock.updateFromBatch(utc, received: received)
  }

  /// Completes a received fix: measurement time, source, accuracy.
  mutating func complete(_ received: Fix, _ origin: EpochOrigin) -> Fix {
    var fix = received
    fix.acquired = clock.instant(of: fix.utc, at: fix.acquired, isLive: origin == .live)
    fix.acquired = max(fix.acquired, newestTime)
    newestTime = fix.acquired
    fix.isFromAccessory = isAccessory
    if fix.horizontalAccuracy_mm == nil { fix.horizontalAccuracy_mm = assumedAccuracy_mm }
    return fix
  }

  /// Horizontal accuracy of a completed fix, metres.
  static func accuracy(of fix: Fix) -> Double {
    guard let accuracy = fix.horizontalAccuracy else {
      preconditionFailure("a fix without accuracy must get the assumed one before this")
    }
    return accuracy
  }

  // MARK: Held fix

  /// Holds a fix back.
  mutating func hold(_ fix: Fix) { held = fix }

  /// Removes and returns the held fix.
  mutating func takeHeld() -> Fix? {
    defer { held = nil }
    return held
  }

  /// The fix to deliver: `fix`, or the held one if that is more accurate. Nothing is held afterwards.
  mutating func best(of fix: Fix, mayReplace: Bool) -> Fix {
    defer { held = nil }
    guard let held, mayReplace, FixPipeline.accuracy(of: held) < FixPipeline.accuracy(of: fix)
    else { return fix }
    return held
  }

  // MARK: Ring

  /// Records a fix for the estimate of the device's speed, stored or not.
  mutating func noteDelivered(_ fix: Fix) { plausibleSpeed.accept(fix) }

  /// Continues the estimate of the device's speed after the board was off, with the newest fixes in the ring.
  mutating func resumeSpeed(after off: TimeOff) {
    let first = ring.head - min(ring.head - ring.tail, FixPipeline.resumedFixes)
    for sequence in first..<ring.head {
      if let fix = off.earlierFix(at: sequence, in: ring) { noteDelivered(fix) }
    }
  }

  /// Number of fixes for that: the estimate forgets older ones.
  private static let resumedFixes: UInt64 = 8

  /// Whether the next append overwrites the oldest fix.
  var isFull: Bool { ring.head - ring.tail >= UInt64(ring.capacity) }

  /// Appends a fix; with reduced accuracy unless a client may receive it with full accuracy (RNG-6).
  mutating func append(_ fix: Fix, isPrecise: Bool) -> StoredFix {
    let stored = StoredFix(
      name: ring.append(isPrecise ? fix : AccuracyReduction.stored(fix)), fix: fix)
    newest = stored
    return stored
  }

  /// Zeroes the fixes below `first`; see `FixRing.erase(_:)`. O(erased fixes).
  mutating func erase(below first: UInt64) { ring.erase(0..<first) }

  /// See `FixRing.markSynced(_:)`.
  mutating func markSynced(_ bytes: UnsyncedBytes) { ring.markSynced(bytes) }

  /// See `FixRing.close()`.
  mutating func closeRing() { ring.close() }
}
