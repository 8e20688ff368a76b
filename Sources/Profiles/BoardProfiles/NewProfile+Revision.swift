import LocationTypes
import TOMLFiles

// A new profile of one that there is, in which something turned out to be otherwise.

extension NewProfile {
  /// One that begins as `profile`: what it says is given, and what it leaves out stays out.
  public init(revising profile: BoardProfile) {
    draft = ProfileDraft(profile)
    given = Set(ProfileSchema.keys.filter { draft.tables.contains($0.table) }.map(\.path))
    settled = given.union(draft.tables)
    propose()
  }

  /// The receiver is another one than the figures are of: they are forgotten, and proposed where a
  /// profile must have them. How it is wired, supplied and how often it is to fix stays.
  ///
  /// - Parameter family: How the new one is spoken to.
  public mutating func replaceReceiver(family: BoardProfile.Receiver.Family) {
    let before = draft.receiver
    var receiver = BoardProfile.Receiver()
    receiver.family = family
    receiver.device = before.device
    receiver.wakeLine = family.takesCommands ? before.wakeLine : nil
    receiver.supplyLine = before.supplyLine
    receiver.pulseLine = before.pulseLine
    receiver.hasBackupSupply = before.hasBackupSupply
    receiver.fixInterval = before.fixInterval
    draft.receiver = receiver
    removeBatch()
    given = given.filter { !$0.hasPrefix("receiver.") }
    given.formUnion([
      "receiver.family", "receiver.device", "receiver.wake_line", "receiver.supply_line",
      "receiver.pulse_line", "receiver.backup_supply",
    ])
    if ProfileRules.intervalOfFamily.check(draft) == nil {
      given.insert("receiver.fix_interval_ms")
    }
    propose()
  }

  /// A line is not on this board: it is taken out, and what needs it.
  ///
  /// - Parameter path: The key that names it.
  public mutating func leaveOutLine(_ path: String) {
    switch path {
    case "receiver.wake_line": draft.receiver.wakeLine = nil
    case "receiver.supply_line": draft.receiver.supplyLine = nil
    case "receiver.pulse_line": draft.receiver.pulseLine = nil
    case "receiver.batch.line":
      draft.batch.line = nil
      draft.batch.pio = nil
      draft.suspended.wakesOn.subtract(.batchPin)
    case "motion.line":
      draft.tables.remove("motion")
      draft.suspended.wakesOn.subtract(.motion)
    case "battery.low_line": draft.battery.lowLine = nil
    case "board.session_light_line": draft.board.sessionLightLine = nil
    case _: preconditionFailure("\(path) is no key of a line")
    }
  }

  private mutating func removeBatch() {
    draft.tables.remove("receiver.batch")
    draft.batch = BoardProfile.Batch()
    draft.suspended.wakesOn.subtract(.batchPin)
  }

  /// Says something of a key or an optional table in the comment above it.
  ///
  /// - Parameter words: A sentence.
  public mutating func note(_ path: String, _ words: String) {
    notes[path] = printable(words, longest: 300)
  }
}
