import LocationTypes

@testable import BoardProfiles

/// A profile with every table and every key, one key per line.
enum Sample {
  static let profile: BoardProfile = {
    var draft = ProfileDraft()
    draft.tables = Set(ProfileSchema.tables.map(\.path))
    draft.name = "sample"
    draft.summary = "A \"quoted\" back\\slash"
    draft.board.awake_mw = 1_000
    draft.off.minimumDuration = .seconds(120)
    draft.suspended.wakeSources = [.alarm, .bytes, .batchPin, .motion]
    draft.receiver.family = .ubloxM10
    draft.receiver.output = .ubx
    draft.receiver.model = "M10"
    draft.receiver.device = "/dev/ttyS0"
    draft.receiver.wakeLine = "WAKE"
    draft.receiver.supplyLine = "SUPPLY"
    draft.receiver.pulseLine = "PULSE"
    draft.receiver.power.powersave_mw = 0.5
    draft.batch.capacity = 300
    draft.batch.watermark = 250
    draft.batch.line = "BATCH"
    draft.batch.pio = 4
    draft.receiver.timeToFix.afterOff = [
      .init(off: .zero, fix: .seconds(1)), .init(off: .seconds(60), fix: .seconds(9)),
    ]
    draft.receiver.timeToFix.ephemerisLifetime = .seconds(7_200)
    draft.receiver.timeToFix.coldStart = .seconds(30)
    draft.motion.line = "MOTION"
    draft.battery.gauge = "battery"
    draft.battery.lowLine = "LOW"
    draft.board.sessionLightLine = "LIGHT"
    draft.battery.everyFix = 60
    draft.battery.accuracy = 50
    draft.battery.updates = 40
    draft.battery.visits = 30
    draft.battery.regions = 20
    draft.battery.significantChange = 10
    draft.cache.capacity = 100
    draft.cache.deferralLimit = 50
    return draft.profile
  }()

  static let lines = profile.text.split(separator: "\n", omittingEmptySubsequences: false)
    .map(String.init)

  /// The number of the line of the key at `path`, from 1.
  static func line(of path: String) -> Int? {
    var table = ""
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("[") { table = String(line.dropFirst().dropLast()) }
      let name = line.prefix { $0 != " " }
      if line.contains(" = "), ProfileSchema.joined(table, String(name)) == path {
        return index + 1
      }
    }
    return nil
  }

  /// The number of the line of the header `[table]`, from 1.
  static func header(of table: String) -> Int? {
    lines.firstIndex(of: "[\(table)]").map { $0 + 1 }
  }

  /// The text with the line of the key at `path` replaced by `line`.
  static func replacing(_ path: String, with line: String) -> String {
    var lines = lines
    if let number = Sample.line(of: path) { lines[number - 1] = line }
    return lines.joined(separator: "\n")
  }

  /// The text without the table and its subtables.
  static func without(table: String) -> String {
    var remaining: [String] = []
    var isRemoved = false
    for line in lines {
      if line.hasPrefix("[") {
        let name = String(line.dropFirst().dropLast())
        isRemoved = name == table || name.hasPrefix(table + ".")
      }
      if !isRemoved { remaining.append(line) }
    }
    return remaining.joined(separator: "\n")
  }
}

/// The problems of `text`; empty if it is a valid profile.
func problems(_ text: String) -> [ProfileError] {
  do throws(ProfileErrors) {
    _ = try BoardProfile.parse(text, file: "p.toml")
    return []
  } catch {
    return error.problems
  }
}

/// The printed errors of `text`; empty if it is a valid profile.
func report(_ text: String) -> String {
  do throws(ProfileErrors) {
    _ = try BoardProfile.parse(text, file: "p.toml")
    return ""
  } catch {
    return error.description
  }
}
