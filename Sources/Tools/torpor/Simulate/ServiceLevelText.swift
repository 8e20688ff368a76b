import LocationPolicy
import LocationTypes

extension ServiceLevelSet {
  /// The members, in the order of ``ServiceLevel``.
  var levels: [ServiceLevel] {
    (0..<UInt8(UInt8.bitWidth)).compactMap { ServiceLevel(rawValue: $0) }.filter(contains)
  }

  /// Whether a service stops completely when these levels are shed, instead of becoming less accurate.
  var stopsServices: Bool {
    [ServiceLevel.updates, .visits, .regions, .significantChange].contains(where: contains)
  }
}

extension TraceText {
  /// Text for the service levels that are shed.
  static func text(_ givenUp: ServiceLevelSet) -> String {
    if givenUp.isEmpty { return "full service" }
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
