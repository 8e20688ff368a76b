extension GPIOLine {
  /// All attributes of a line, as written in its text.
  static let attributes =
    [activeLow] + Bias.allCases.map(\.rawValue) + Drive.allCases.map(\.rawValue)

  /// The attribute that `word` probably means: misspelt, or written as in a device tree or another tool
  /// (`GPIO_ACTIVE_LOW`, `bias=pull-up`); nil if none is close.
  static func closestAttribute(to word: some StringProtocol) -> String? {
    let letters = normalized(word)
    // In a short word, two wrong letters make it a different word.
    let limit = letters.count > 7 ? 2 : 1
    let distances = attributes.map {
      (name: $0, distance: editDistance(normalized($0), letters, limit: limit))
    }
    let best = distances.min { $0.distance < $1.distance }
    return best.flatMap { $0.distance <= limit ? $0.name : nil }
  }

  /// The word in lower case without separators and without the prefixes of other tools.
  private static func normalized(_ word: some StringProtocol) -> String {
    var letters = word.lowercased().filter { !"-_ ".contains($0) }
    for prefix in ["gpio", "bias=", "drive="] where letters.hasPrefix(prefix) {
      letters.removeFirst(prefix.count)
    }
    return letters
  }
}
