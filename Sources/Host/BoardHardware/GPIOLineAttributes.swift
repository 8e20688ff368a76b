extension GPIOLine {
  /// All attributes of a line, as written in its text.
  static let attributes =
    [activeLow] + Bias.allCases.map(\.rawValue) + Drive.allCases.map(\.rawValue)

  /// The attribute that `word` probably means: misspelt, or written as in a device tree or another tool
  /// (`GPIO_ACTIVE_LOW`, `bias=pull-up`); nil if none is close.
  static func closestAttribute(to word: some StringProtocol) -> String? {
    let letters = normalized(word)
    let distances = attributes.map { (name: $0, distance: editDistance(normalized($0), letters)) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    // In a short word, two wrong letters make it a different word.
    return best.distance <= (letters.count > 7 ? 2 : 1) ? best.name : nil
  }

  /// The word in lower case without separators and without the prefixes of other tools.
  private static func normalized(_ word: some StringProtocol) -> [UInt8] {
    var letters = word.lowercased().utf8.filter { $0 != 0x2D && $0 != 0x5F && $0 != 0x20 }
    for prefix in ["gpio", "bias=", "drive="] where letters.starts(with: prefix.utf8) {
      letters.removeFirst(prefix.utf8.count)
    }
    return letters
  }

  /// Levenshtein distance between two words.
  private static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var row = Array(0...second.count)
    for (index, letter) in first.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in second.indices {
        let substituted = diagonal + (letter == second[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substituted, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[second.count]
  }
}
