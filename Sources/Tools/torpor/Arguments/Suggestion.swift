/// What somebody probably meant.
enum Suggestion {
  /// The candidate nearest to `word`, where one is near enough to be a slip of the finger.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let limit = max(1, word.count / 3)
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = self.distance(word.lowercased(), candidate.lowercased())
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    if let best { return best.name }
    // The beginning alone is no slip, but it tells as much.
    let beginning = candidates.filter { word.count >= 3 && $0.hasPrefix(word.lowercased()) }
    return beginning.count == 1 ? beginning[0] : nil
  }

  /// Insertions, deletions, replacements and swaps of neighbours that make `a` into `b`.
  ///
  /// O(length of `a` × length of `b`), both cut at 64 characters.
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a.prefix(64))
    let b = Array(b.prefix(64))
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
        row.append(cost)
      }
      before = last
      last = row
    }
    return last[b.count]
  }
}
