import DeferralCache
import LinuxHAL
import LocationTypes

/// Log lines about an opened ring: what its file contains, and what was repaired.
struct RingReport {
  /// One line of the log.
  struct Line: Equatable {
    let priority: SystemLog.Priority
    let text: String
  }

  private(set) var lines: [Line] = []

  /// - Parameters:
  ///   - count: Number of fixes in the ring.
  ///   - path: Path of the file.
  ///   - hadRing: Whether the durable state records an earlier ring.
  ///   - hasState: Whether the durable state existed before.
  init(
    _ recovery: RingRecovery, count: UInt64, path: String, hadRing: Bool = false,
    hasState: Bool = true
  ) {
    if recovery.isNew, hadRing {
      add(
        .warning,
        "'\(path)': the existing ring of fixes was removed or erased, with all undelivered fixes; "
          + "a new ring was created")
      return
    }
    if recovery.isNew {
      add(.notice, "a new ring of fixes was created: '\(path)'")
      return
    }
    let content = count == 1 ? "it contains 1 fix" : "it contains \(count) fixes"
    if recovery.wasClosed {
      add(.info, "'\(path)': \(content)")
    } else {
      add(
        .warning,
        "'\(path)': the previous run did not stop normally; \(content). Only if the power was cut, "
          + "fixes that were not on the disk yet are lost")
    }
    if !hasState, count > 0 {
      add(
        .warning,
        "the durable state is missing, but the ring contains fixes: earlier clients, permissions and regions are lost"
      )
    }
    if recovery.lostHeaders > 0 {
      add(.warning, "'\(path)': a damaged header was rebuilt from the intact data")
    }
    if recovery.missing > 0 {
      let fixes = recovery.missing == 1 ? "1 fix" : "\(recovery.missing) fixes"
      add(
        .warning,
        "'\(path)': \(fixes) in it cannot be read; they are skipped and reported as a gap")
    }
  }

  private mutating func add(_ priority: SystemLog.Priority, _ text: String) {
    lines.append(Line(priority: priority, text: text))
  }
}
