import LocationPolicy
import LocationTypes

extension PromiseSet {
  /// What is in it, in the order of ``Promise``.
  var promises: [Promise] {
    (0..<UInt8(UInt8.bitWidth)).compactMap { Promise(rawValue: $0) }.filter(contains)
  }

  /// Whether who loses these gets nothing any more, not merely something coarser.
  var leavesNothing: Bool {
    [Promise.updates, .visits, .regions, .significantChange].contains(where: contains)
  }
}

extension TraceText {
  /// What somebody does not get, in a few words.
  static func words(_ givenUp: PromiseSet) -> String {
    if givenUp.isEmpty { return "all as it was" }
    var words: [String] = []
    if givenUp.contains(.updates) {
      words.append("no updates")
    } else if givenUp.contains(.accuracy) {
      words.append("within 1 km at best")
    } else if givenUp.contains(.everyFix) {
      words.append("within 100 m at best")
    }
    if givenUp.contains(.visits) { words.append("no visits") }
    if givenUp.contains(.regions) { words.append("no regions") }
    if givenUp.contains(.significantChange) { words.append("no significant change") }
    return words.joined(separator: ", ")
  }
}
