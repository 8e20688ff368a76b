import BoardHardware
import LocationTypes

/// A mutable profile with storage for every table, whether or not the profile contains it.
struct ProfileDraft: Sendable {
  var name = ""
  var summary = ""
  var board = BoardProfile.Board()
  var suspended = BoardSleepState(wakeSources: [])
  var off = BoardSleepState(wakeSources: .alarm)
  var receiver = BoardProfile.Receiver()
  var batch = BoardProfile.Batch()
  /// Power of the receiver while it batches, milliwatts.
  var batchPower_mw = 0.0
  var motion = BoardProfile.Motion()
  var battery = BoardProfile.Battery()
  var cache = BoardProfile.Cache()
  var policy = BoardProfile.Policy()
  /// Paths of the tables that the profile contains.
  var tables: Set<String> = []

  init() {}

  /// Creates the draft that corresponds to `profile`.
  init(_ profile: BoardProfile) {
    name = profile.name
    summary = profile.summary
    board = profile.board
    cache = profile.cache
    policy = profile.policy
    tables = ["", "board", "board.awake", "board.idle", "cache", "policy"]
    if let state = profile.board.suspended {
      suspended = state
      tables.insert("board.suspended")
    }
    if let state = profile.board.off {
      off = state
      tables.insert("board.off")
    }
    if let motion = profile.motion {
      self.motion = motion
      tables.insert("motion")
    }
    if let battery = profile.battery {
      self.battery = battery
      tables.insert("battery")
    }
    guard let receiver = profile.receiver else { return }
    self.receiver = receiver
    tables.formUnion(["receiver", "receiver.power", "receiver.time_to_fix"])
    guard let batch = receiver.batch else { return }
    self.batch = batch
    batchPower_mw = receiver.power.batching_mw ?? 0
    tables.insert("receiver.batch")
  }

  /// The profile, with only the tables in ``tables``.
  var profile: BoardProfile {
    var board = board
    board.suspended = tables.contains("board.suspended") ? suspended : nil
    board.off = tables.contains("board.off") ? off : nil
    var receiver: BoardProfile.Receiver?
    if tables.contains("receiver") {
      receiver = self.receiver
      let canBatch = tables.contains("receiver.batch")
      receiver?.batch = canBatch ? batch : nil
      receiver?.power.batching_mw = canBatch ? batchPower_mw : nil
    }
    return BoardProfile(
      name: name, summary: summary, board: board, receiver: receiver,
      motion: tables.contains("motion") ? motion : nil,
      battery: tables.contains("battery") ? battery : nil, cache: cache, policy: policy)
  }
}

/// A key that names a GPIO line.
struct LineKey: Sendable {
  /// Path of the key.
  let path: String
  /// Display name.
  let name: String
  /// Reads the line, whether or not the draft contains the key's table.
  let line: @Sendable (ProfileDraft) -> String?

  static let all = [
    LineKey(path: "receiver.wake_line", name: "wake_line") { $0.receiver.wakeLine },
    LineKey(path: "receiver.supply_line", name: "supply_line") { $0.receiver.supplyLine },
    LineKey(path: "receiver.pulse_line", name: "pulse_line") { $0.receiver.pulseLine },
    LineKey(path: "receiver.batch.line", name: "batch line") { $0.batch.line },
    LineKey(path: "motion.line", name: "motion line") { $0.motion.line },
    LineKey(path: "battery.low_line", name: "low_line") { $0.battery.lowLine },
    LineKey(path: "board.session_light_line", name: "session_light_line") {
      $0.board.sessionLightLine
    },
  ]
}

extension ProfileDraft {
  /// The wired GPIO lines: display name, path of the profile key, and value of the key.
  var lines: [(name: String, path: String, text: String)] {
    LineKey.all.filter { hasTable(for: $0.path) }
      .compactMap { key in key.line(self).map { (key.name, key.path, $0) } }
  }

  /// Whether the profile contains this table, or the table of this key.
  func hasTable(for path: String) -> Bool {
    let isKey = ProfileSchema.key(path) != nil
    return tables.contains(isKey ? ProfileSchema.parentPath(of: path) : path)
  }
}
