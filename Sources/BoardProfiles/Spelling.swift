// What was probably meant by a name that nobody knows.

/// How many letters must be put in, taken out, changed or swapped with their neighbour to make `b`
/// of `a` (optimal string alignment); `limit` + 1 when it is more than `limit`.
///
/// O(length²); names longer than 64 are compared by their beginning.
func editDistance(_ a: String, _ b: String, limit: Int) -> Int {
  let a = Array(a.unicodeScalars.prefix(64)), b = Array(b.unicodeScalars.prefix(64))
  guard abs(a.count - b.count) <= limit else { return limit + 1 }
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1] + Array(repeating: 0, count: b.count)
    for j in 0..<b.count {
      let change = last[j] + (a[i] == b[j] ? 0 : 1)
      row[j + 1] = min(change, last[j + 1] + 1, row[j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
      }
    }
    beforeLast = last
    last = row
  }
  return min(last[b.count], limit + 1)
}

/// The candidate nearest to `name`, if it is near enough to be a slip of the fingers.
func nearest(_ name: String, among candidates: [String]) -> String? {
  let limit = max(1, min(name.unicodeScalars.count / 3, 4))
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(name.lowercased(), candidate, limit: limit)
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.name
}

/// A guess at the key that was meant.
struct Guess: Equatable {
  /// The path of the key or table.
  var path: String
  /// For people.
  var text: String
}

extension ProfileSchema {
  /// What was probably meant by the unknown `name` in `table`.
  static func guess(_ name: String, in table: String) -> Guess? {
    let here = keys(of: table)
    let inner = tables(in: table).map { last($0.path) }
    if let near = nearest(name, among: here.map(\.name) + inner) {
      return sameStem(name, near, table) ?? Guess(path: joined(table, near), text: meant(near))
    }
    let stem = Unit.stem(of: name.lowercased())
    if let near = nearest(stem, among: here.map { Unit.stem(of: $0.name) }),
      let key = here.first(where: { Unit.stem(of: $0.name) == near })
    {
      return sameStem(name, key.name, table) ?? Guess(path: key.path, text: meant(key.name))
    }
    return elsewhere(name, notIn: table)
  }

  /// The same name with another unit: say which unit is wanted.
  private static func sameStem(_ name: String, _ near: String, _ table: String) -> Guess? {
    guard let unit = Unit.of(near), Unit.of(name.lowercased()) != unit,
      Unit.stem(of: near) == Unit.stem(of: name.lowercased())
    else { return nil }
    return Guess(path: joined(table, near), text: "give \(unit.word) as `\(near)`")
  }

  /// The name in another table, or one made of the same words.
  private static func elsewhere(_ name: String, notIn table: String) -> Guess? {
    let lower = name.lowercased()
    if let key = keys.first(where: { $0.name == lower && $0.table != table }) {
      return Guess(path: key.path, text: "`\(key.name)` belongs in [\(key.table)]")
    }
    if let other = tables.first(where: { $0.path == lower || last($0.path) == lower }) {
      return Guess(path: other.path, text: "the table is [\(other.path)]")
    }
    let words = Set(lower.split(whereSeparator: { $0 == "_" || $0 == "-" || $0 == "." }))
    var best: (key: ProfileKey, share: Double)?
    for key in keys {
      let others = Set(key.path.split(whereSeparator: { $0 == "_" || $0 == "." }))
      let share = Double(words.intersection(others).count) / Double(max(words.count, 1))
      let least = key.table == table ? 0.5 : 0.99
      if words.count > 1, share >= least, share > best?.share ?? 0 { best = (key, share) }
    }
    guard let key = best?.key else { return nil }
    return Guess(
      path: key.path,
      text: key.table == table ? meant(key.name) : "did you mean `\(key.name)` in [\(key.table)]?")
  }

  private static func meant(_ name: String) -> String { "did you mean `\(name)`?" }

  static func joined(_ table: String, _ name: String) -> String {
    table.isEmpty ? name : table + "." + name
  }
}
