// Converts a profile and the schema into text: for `torpor board show` and the reference page.

/// One line of `torpor board show`: a key with the value that applies to this board.
public struct ProfileSetting: Sendable {
  /// The key in the schema.
  public let key: ProfileKey
  /// The value in TOML syntax; nil for an optional key that is not set.
  public let value: String?
  /// Whether the value is the default of an optional key.
  public let isDefault: Bool
}

extension BoardProfile {
  /// All keys of the tables in the profile, in the order of the schema, including defaults.
  public var settings: [ProfileSetting] {
    let draft = ProfileDraft(self), blank = ProfileDraft()
    return ProfileSchema.keys.filter { draft.tables.contains($0.table) }.map { key in
      let value = key.get(draft)
      return ProfileSetting(
        key: key, value: value.map(\.text), isDefault: !key.isRequired && value == key.get(blank))
    }
  }

  /// The profile as TOML with explicit defaults; parsing it returns an equal profile.
  public var text: String {
    var lines: [String] = []
    var table = ""
    for setting in settings {
      guard let value = setting.value else { continue }
      if setting.key.table != table {
        table = setting.key.table
        lines += ["", "[\(table)]"]
      }
      lines.append("\(setting.key.name) = \(value)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension ProfileValue {
  /// The value in TOML syntax.
  var text: String {
    switch self {
    case .text(let text): quoted(text)
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let whole): "\(whole)"
    case .number(let number): decimalText(number)
    case .words(let words): "[" + words.map(quoted).joined(separator: ", ") + "]"
    case .points(let points):
      "["
        + points.map {
          "{ off_s = \(decimalText($0.off.seconds)), fix_s = \(decimalText($0.fix.seconds)) }"
        }.joined(separator: ", ") + "]"
    }
  }
}

/// `text` as a TOML basic string, with escaped control characters.
func quoted(_ text: String) -> String {
  var escaped = ""
  for character in text.unicodeScalars {
    if character.value < 0x20 || character.value == 0x7F {
      // A profile that was read contains none, but an answer that a user types may.
      let digits = String(character.value, radix: 16)
      escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      continue
    }
    if character == "\"" || character == "\\" { escaped += "\\" }
    escaped.unicodeScalars.append(character)
  }
  return "\"" + escaped + "\""
}

extension ProfileSchema {
  /// The tables and keys as Markdown: the generated part of `Docs/Reference/board-profile.md`.
  public static var reference: String {
    let blank = ProfileDraft()
    var text = ""
    for table in tables {
      let title = table.path.isEmpty ? "Top of the file" : "`[\(table.path)]`"
      let presence = table.path.isEmpty || table.isRequired ? "" : " Optional."
      text += "\n## \(title)\n\n\(table.meaning)\(presence)\n\n"
      let rows = keys(of: table.path)
      if rows.isEmpty { continue }
      text += "| key | takes | default | meaning |\n|---|---|---|---|\n"
      for key in rows {
        let value =
          key.isRequired ? "required" : key.get(blank).map { "`\($0.text)`" } ?? "not set"
        text += "| `\(key.name)` | \(key.expectation) | \(value) | \(key.meaning) |\n"
      }
    }
    return text
  }
}
