/// Suggestions for misspelled names.
enum Suggestion {
  /// The candidate with the smallest edit distance to `word`, if that is at most 1, or at most a third of the length of
  /// `word`; else the only candidate that begins with `word`, if `word` has 3 characters or more; else nil.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let limit = max(1, word.count / 3)
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = self.editDistance(word.lowercased(), candidate.lowercased())
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    if let best { return best.name }
    let beginning = candidates.filter { word.count >= 3 && $0.hasPrefix(word.lowercased()) }
    return beginning.count == 1 ? beginning[0] : nil
  }

  /// Edit distance (optimal string alignment): the least number of insertions, deletions, replacements and swaps of
  /// neighbours that turn `a` into `b`.
  ///
  /// O(length of `a` × length of `b`), both truncated to 64 characters.
  static func editDistance(_ a: String, _ b: String) -> Int {
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
