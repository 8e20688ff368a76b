import LocationEngine
import ReceiverDrivers
import ServiceState

// Writes to the receiver's flash outlive the service, so that a board that is off between fixes does not wear it out.

extension StateStore {
  /// The writes to the receiver's flash that were recorded last.
  var flashRecord: FlashRecord {
    FlashRecord(
      target: UInt32(clamping: counter(.receiverFlashTarget)),
      writes: UInt8(clamping: counter(.receiverFlashWrites)),
      kept: UInt32(clamping: counter(.receiverFlashKept)))
  }

  /// Records the writes to the receiver's flash. Returns false, and changes nothing, if they are recorded.
  func record(_ flash: FlashRecord) -> Bool {
    guard flash.writes > 0, flash != flashRecord else { return false }
    setCounter(.receiverFlashTarget, Int64(flash.target))
    setCounter(.receiverFlashWrites, Int64(flash.writes))
    setCounter(.receiverFlashKept, Int64(flash.kept))
    return true
  }
}

extension LocationServer {
  /// Records the writes to the receiver's flash, and logs when the configuration is not written again.
  mutating func saveFlashRecord(_ engine: borrowing Engine) {
    let flash = engine.flashRecord
    guard persistence.needsRecord(flash) else { return }
    let last = persistence.store.flashRecord
    guard persistence.store.record(flash) else { return }
    persistence.note(.flash)
    if flash.kept != 0, flash.kept != last.kept {
      logLine(
        of: nil, .notice,
        "the receiver keeps other values than those written to its flash: it is used with them, and they are not "
          + "written again; set `fix_interval_ms` to an interval that it supports")
    } else if flash.isExhausted {
      logLine(
        of: nil, .warning,
        "the configuration was written to the receiver's flash \(flash.writes) times and is not written again: the "
          + "receiver is used as it is; if it was replaced, delete the counters receiver_flash_* in state.db"
      )
    }
  }
}
