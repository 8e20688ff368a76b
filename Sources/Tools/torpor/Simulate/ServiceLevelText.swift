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
  static func text(_ shed: ServiceLevelSet) -> String {
    if shed.isEmpty { return "full service" }
    var words: [String] = []
    if shed.contains(.updates) {
      words.append("no updates")
    } else if shed.contains(.accuracy) {
      words.append("within 1 km at best")
    } else if shed.contains(.everyFix) {
      words.append("within 100 m at best")
    }
    if shed.contains(.visits) { words.append("no visits") }
    if shed.contains(.regions) { words.append("no regions") }
    if shed.contains(.significantChange) { words.append("no significant change") }
    return words.joined(separator: ", ")
  }
}
