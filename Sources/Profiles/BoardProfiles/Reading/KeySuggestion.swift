import BoardHardware
import TOMLFiles

/// The key or table that an unknown name probably refers to.
struct KeySuggestion: Equatable {
  /// Path of the key or table.
  var path: String
  /// Suggestion for the user.
  var text: String
}

extension ProfileSchema {
  /// The key or table that the unknown `name` in `table` probably refers to; nil if none is similar.
  static func suggestion(for name: String, in table: String) -> KeySuggestion? {
    let tableKeys = keys(of: table)
    let inner = tables(in: table).map { lastComponent(of: $0.path) }
    if let match = closestMatch(to: name, among: tableKeys.map(\.name) + inner) {
      return unitSuggestion(name, match, table)
        ?? KeySuggestion(path: joined(table, match), text: didYouMean(match))
    }
    let stem = Unit.stem(of: name.lowercased())
    if let match = closestMatch(to: stem, among: tableKeys.map { Unit.stem(of: $0.name) }),
      let key = tableKeys.first(where: { Unit.stem(of: $0.name) == match })
    {
      return unitSuggestion(name, key.name, table)
        ?? KeySuggestion(path: key.path, text: didYouMean(key.name))
    }
    return suggestionElsewhere(name, notIn: table)
  }

  /// A suggestion for a name that differs from a known key only in its unit.
  private static func unitSuggestion(_ name: String, _ match: String, _ table: String)
    -> KeySuggestion?
  {
    guard let unit = Unit.of(match), Unit.of(name.lowercased()) != unit,
      Unit.stem(of: match) == Unit.stem(of: name.lowercased())
    else { return nil }
    return KeySuggestion(
      path: joined(table, match),
      text: "write the value in \(unit.word) as `\(match)`")
  }

  /// A key of the same name in another table, or one that consists of the same words.
  private static func suggestionElsewhere(_ name: String, notIn table: String) -> KeySuggestion? {
    let lower = name.lowercased()
    if let key = keys.first(where: { $0.name == lower && $0.table != table }) {
      return KeySuggestion(path: key.path, text: "`\(key.name)` belongs in [\(key.table)]")
    }
    if let other = tables.first(where: { $0.path == lower || lastComponent(of: $0.path) == lower })
    {
      return KeySuggestion(path: other.path, text: "the table is [\(other.path)]")
    }
    let words = Set(lower.split(whereSeparator: { $0 == "_" || $0 == "-" || $0 == "." }))
    var best: (key: ProfileKey, share: Double)?
    for key in keys {
      let others = Set(key.path.split(whereSeparator: { $0 == "_" || $0 == "." }))
      let share = Double(words.intersection(others).count) / Double(max(words.count, 1))
      let minimumShare = key.table == table ? 0.5 : 0.99
      if words.count > 1, share >= minimumShare, share > best?.share ?? 0 { best = (key, share) }
    }
    guard let key = best?.key else { return nil }
    return KeySuggestion(
      path: key.path,
      text: key.table == table
        ? didYouMean(key.name)
        : "did you mean `\(key.name)` in [\(key.table)]?")
  }

  private static func didYouMean(_ name: String) -> String { "did you mean `\(name)`?" }

  static func joined(_ table: String, _ name: String) -> String {
    table.isEmpty ? name : table + "." + name
  }
}
