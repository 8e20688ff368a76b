import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

/// A broker that keeps retained messages, and may refuse topics.
private struct RetainingBroker: BrokerConnection {
  var messages: [(topic: String, text: String)] = []
  var refused: Set<String> = []

  mutating func publish(
    _ bytes: [UInt8], to topic: String, isRetained: Bool
  ) throws(BrokerError) -> Bool {
    guard isRetained, !refused.contains(topic) else {
      throw BrokerError(description: "refused: \(topic)")
    }
    messages.append((topic, String(decoding: bytes, as: UTF8.self)))
    return true
  }

  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? { nil }
}

@Suite("Rounded positions")
struct PositionRoundingTests {
  @Test("positions are rounded to decimals of degrees, and the accuracy becomes worse by the error")
  func rounding() {
    func stored(_ latitude: Int64, _ longitude: Int64) -> StoredFix {
      var fix = Fix(
        acquired: .boot, coordinate: Coordinate(latitude_e9: latitude, longitude_e9: longitude))
      fix.horizontalAccuracy_mm = 2_000
      return StoredFix(name: FixName(generation: 1, sequence: 1), fix: fix)
    }
    let exact = stored(52_516_274_500, -179_999_600_000)
    #expect(PositionRounding(decimals: 9).rounded(exact) == exact)
    let rounded = PositionRounding(decimals: 3).rounded(exact).fix
    #expect(
      rounded.coordinate == Coordinate(latitude_e9: 52_516_000_000, longitude_e9: -180_000_000_000))
    #expect(rounded.horizontalAccuracy_mm == 81_001)
    let pole = PositionRounding(decimals: 1).rounded(stored(-89_950_000_000, 49_999_999)).fix
    #expect(pole.coordinate == Coordinate(latitude_e9: -90_000_000_000, longitude_e9: 0))
    // The error in degrees times the length of a degree is at most the added accuracy.
    for decimals in 1...8 {
      let unit = (decimals..<9).reduce(1.0) { unit, _ in unit * 10 }
      let added = PositionRounding(decimals: decimals).rounded(exact).fix.horizontalAccuracy_mm ?? 0
      let error_mm = unit / 2 / 1e9 * 111_700_000 * 2.0.squareRoot()
      #expect(Double(added) - 2_000 >= error_mm, "\(decimals) decimals")
    }
  }
}

@Suite("The newest position")
struct NewestPositionTests {
  private func settings(_ keys: String) throws -> UplinkSettings {
    try UplinkSettings(
      parsing: Array((keys + "\n[[destination]]\nhost = '::1'").utf8), file: "u.toml",
      defaultDevice: DeviceName("boat-7"), checkFile: { _, _ in nil })
  }

  private func stored(_ sequence: UInt64, utc: Int64? = 1_767_225_600_500_000) -> StoredFix {
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: 52_516_274_500, longitude_e9: -13_377_704_100))
    fix.utc = utc.map { UTCTime(microseconds: $0) }
    return StoredFix(name: FixName(generation: 1, sequence: sequence), fix: fix)
  }

  @Test("a location of OwnTracks: degrees, metres, km/h; unknown values are omitted")
  func json() throws {
    let device = try #require(DeviceName("boat-7"))
    var fix = stored(1).fix
    #expect(
      String(decoding: try #require(NewestPosition.json(fix, device: device)), as: UTF8.self)
        == #"{"_type":"location","tid":"-7","lat":52.5162745,"lon":-13.3777041,"tst":1767225601}"#)
    fix.horizontalAccuracy_mm = 2_001
    fix.altitude_mm = -1_501
    fix.speed_mmps = 10_000
    fix.course_e4 = 3_599_999
    #expect(
      String(decoding: try #require(NewestPosition.json(fix, device: device)), as: UTF8.self)
        == #"{"_type":"location","tid":"-7","lat":52.5162745,"lon":-13.3777041,"tst":1767225601,"#
        + #""acc":3,"alt":-2,"vel":36,"cog":0}"#)
    #expect(NewestPosition.json(stored(1, utc: nil).fix, device: device) == nil)
  }

  @Test("only with `newest`, and each fix once")
  func once() throws {
    #expect(NewestPublication(try settings("")) == nil)
    var publication = try #require(NewestPublication(try settings("newest = true")))
    var broker = RetainingBroker()
    publication.add([stored(1), stored(2)])
    publication.publish(over: &broker, at: "b") { _ in }
    publication.publish(over: &broker, at: "b") { _ in }
    #expect(broker.messages.map(\.topic) == ["torpor/boat-7/newest"])
    publication.add([stored(3)])
    publication.removeAll()
    publication.publish(over: &broker, at: "b") { _ in }
    #expect(broker.messages.count == 1)
  }

  @Test("Home Assistant gets one announcement, which names the topic")
  func announcement() throws {
    let settings = try settings("newest = true\nhome_assistant = true")
    var publication = try #require(NewestPublication(settings))
    var broker = RetainingBroker()
    for sequence in 1...2 as ClosedRange<UInt64> {
      publication.add([stored(sequence)])
      publication.publish(over: &broker, at: "b") { _ in }
    }
    let topic = "homeassistant/device_tracker/torpor/boat-7/config"
    #expect(
      broker.messages.map(\.topic) == [topic, "torpor/boat-7/newest", "torpor/boat-7/newest"])
    #expect(broker.messages[0].text.contains(#""json_attributes_topic":"torpor/boat-7/newest""#))
    #expect(broker.messages[0].text.contains(#""unique_id":"torpor_boat-7""#))
  }

  @Test("a refused topic is logged once, and tried again")
  func refused() throws {
    var publication = try #require(NewestPublication(try settings("newest = true")))
    var broker = RetainingBroker(refused: ["torpor/boat-7/newest"])
    var lines: [String] = []
    publication.add([stored(1)])
    for _ in 1...2 { publication.publish(over: &broker, at: "b") { lines.append($0) } }
    #expect(lines == ["the newest position is not published: refused: torpor/boat-7/newest"])
    broker.refused = []
    publication.publish(over: &broker, at: "b") { lines.append($0) }
    #expect(broker.messages.count == 1 && lines.count == 1)
  }
}
