import BoardProfiles
import TextFormats

/// Prints a board profile as TOML or JSON, and the problems of a profile as JSON.
enum ProfilePrinter {
  /// The profile as TOML, each value below a comment with its meaning; lines of at most 80 columns unless a value is
  /// longer.
  static func text(_ profile: BoardProfile) -> [UInt8] {
    var text = TextBuffer()
    var table: String?
    for setting in profile.settings {
      if setting.key.table != table {
        if table != nil { text.add("\n") }
        table = setting.key.table
        writeTable(setting.key.table, to: &text)
      }
      write(setting, to: &text)
    }
    return text.bytes
  }

  private static func writeTable(_ path: String, to text: inout TextBuffer) {
    if let meaning = ProfileSchema.tables.first(where: { $0.path == path })?.meaning {
      text.add(ProfileTemplate.comment(meaning))
    }
    if !path.isEmpty { text.add("[\(path)]\n") }
  }

  private static func write(_ setting: ProfileSetting, to text: inout TextBuffer) {
    var remark = setting.key.meaning
    let unit = setting.key.unit
    if !unit.isEmpty { remark += " Unit: \(unit)." }
    if setting.isDefault, setting.value != nil { remark += " (default)" }
    text.add(ProfileTemplate.comment(remark))
    if let value = setting.value {
      text.add("\(setting.key.name) = \(value)\n")
    } else {
      text.add("# \(setting.key.name) is not set; expected: \(setting.key.expectation)\n")
    }
  }

  /// The profile as one JSON object on a line.
  static func json(_ profile: BoardProfile) -> [UInt8] {
    var writer = JSONOutput()
    writer.line { writer in
      writer.member("name", profile.name)
      writer.list("settings") { list in
        for setting in profile.settings {
          list.element { element in
            element.member("key", setting.key.path)
            if let value = profile.json(of: setting) { element.member("value", json: value) }
            if !setting.key.unit.isEmpty { element.member("unit", setting.key.unit) }
            element.member("default", setting.isDefault)
            element.member("takes", setting.key.expectation)
            element.member("meaning", setting.key.meaning)
          }
        }
      }
    }
    return writer.text.bytes
  }

  /// Adds a JSON line for each problem of a profile, and one for the profile.
  static func write(
    _ board: String, file: String? = nil, _ errors: ProfileErrors?, to writer: inout JSONOutput
  ) {
    for problem in errors?.problems ?? [] {
      writer.line { writer in
        writer.member("kind", "problem")
        writer.member("file", problem.file)
        if problem.line > 0 {
          writer.member("line", Int64(problem.line))
          writer.member("column", Int64(problem.column))
        }
        if !problem.key.isEmpty { writer.member("key", problem.key) }
        writer.member("message", problem.message)
      }
    }
    writer.line { writer in
      writer.member("kind", "profile")
      writer.member("board", board)
      if let file { writer.member("file", file) }
      writer.member("problems", Int64(errors.map { $0.problems.count + $0.unlistedCount } ?? 0))
    }
  }
}
