// Finds the known name that is most similar to a misspelt one.

/// Edit distance of `a` and `b`: the least number of insertions, deletions, substitutions and transpositions of
/// adjacent characters (optimal string alignment). `limit` + 1 if the distance exceeds `limit`.
///
/// - Complexity: O(length²); only the first 64 characters are compared.
package func editDistance(_ a: String, _ b: String, limit: Int) -> Int {
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

/// The candidate with the smallest edit distance to `name`; nil if the distance is too large for a typing error.
package func closestMatch(to name: String, among candidates: [String]) -> String? {
  let limit = max(1, min(name.unicodeScalars.count / 3, 4))
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(name.lowercased(), candidate, limit: limit)
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.name
}

/// The candidate that `word` probably means: the most similar one, else the only one that begins with `word`, if
/// `word` has 3 characters or more.
package func nearestName(to word: String, among candidates: [String]) -> String? {
  if let match = closestMatch(to: word, among: candidates) { return match }
  let beginning = candidates.filter { word.count >= 3 && $0.hasPrefix(word.lowercased()) }
  return beginning.count == 1 ? beginning[0] : nil
}
