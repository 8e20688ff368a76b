import DeferralCache
import LinuxHAL
import LocationTypes

/// What an opened ring has to tell people: what was found in its file, and what was repaired.
struct RingNews {
  /// One line of the log.
  struct Line: Equatable {
    var priority: SystemLog.Priority
    var text: String
  }

  private(set) var lines: [Line] = []

  /// - Parameters:
  ///   - count: How many fixes are there.
  ///   - path: The file.
  ///   - hadOne: The durable state knows of a ring before.
  ///   - hasState: There is a durable state of before.
  init(
    _ recovery: RingRecovery, count: UInt64, path: String, hadOne: Bool = false,
    hasState: Bool = true
  ) {
    if recovery.isNew, hadOne {
      add(
        .warning,
        "'\(path)': the ring of fixes that was here is gone or was erased, with all that clients were owed; "
          + "a new one was made")
      return
    }
    if recovery.isNew {
      add(.notice, "a new ring of fixes was made: '\(path)'")
      return
    }
    let there = count == 1 ? "1 fix is there" : "\(count) fixes are there"
    if recovery.wasClosed {
      add(.info, "'\(path)': \(there)")
    } else {
      add(
        .warning,
        "'\(path)': the service before did not end in order; \(there). If the power was cut, and only then, "
          + "what was not on the disk yet is lost")
    }
    if !hasState, count > 0 {
      add(
        .warning,
        "the durable state is gone though there are fixes: no client, permission or circle of before is known"
      )
    }
    if recovery.lostHeaders > 0 {
      add(.warning, "'\(path)': a damaged header was repaired from what else there is")
    }
    if recovery.missing > 0 {
      let fixes = recovery.missing == 1 ? "1 fix" : "\(recovery.missing) fixes"
      add(.warning, "'\(path)': \(fixes) among them cannot be read and are passed over, as a gap")
    }
  }

  private mutating func add(_ priority: SystemLog.Priority, _ text: String) {
    lines.append(Line(priority: priority, text: text))
  }
}
