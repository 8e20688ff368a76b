import LocationTypes
import TestSupport
import Testing
import UplinkPayload

/// `.ci/check-payload` decodes the same messages with the independent decoder in Python.
@Suite("Snapshot of the uplink's messages")
struct PayloadSnapshotTests {
  @Test("the bytes and values of messages are unchanged")
  func snapshot() throws {
    var text = ""
    for message in SampleMessages.all {
      let digits = try message.encoded().map { hexadecimal($0) }.joined()
      text += "{\"bytes\":\"\(digits)\",\"message\":{\(members(of: message))}}\n"
    }
    #expect(differenceFromSnapshot("uplink.jsonl", text) == nil)
  }

  private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private func members(of message: UplinkMessage) -> String {
    let preceding = message.preceding.map { "[\($0.generation),\($0.sequence)]" } ?? "null"
    let (first, count, content) =
      switch message.content {
      case .fixes(let fixes):
        (fixes[0].name, UInt64(fixes.count), "\"fixes\":[\(list(of: fixes))]")
      case .gap(let gap, let generation):
        (
          FixName(generation: generation, sequence: gap.range.lowerBound), gap.count,
          "\"gap\":{\(members(of: gap))}"
        )
      case .event(let number, let json):
        (
          FixName(generation: 0, sequence: number), 1,
          "\"event\":\(String(decoding: json, as: UTF8.self))"
        )
      }
    return "\"device\":\"\(message.device)\",\"ring\":\(message.ring),"
      + "\"generation\":\(first.generation),\"first\":\(first.sequence),\"count\":\(count),"
      + "\"preceding\":\(preceding),\(content)"
  }

  private func list(of fixes: [StoredFix]) -> String {
    fixes.map { stored in
      let fix = stored.fix
      let numbers: [(String, Int64?)] = [
        ("utc_us", fix.utc?.microseconds), ("boot_us", fix.acquired.microseconds),
        ("latitude_e9", fix.coordinate.latitude_e9), ("longitude_e9", fix.coordinate.longitude_e9),
        ("altitude_mm", fix.altitude_mm.map { Int64($0) }),
        ("ellipsoidal_altitude_mm", fix.ellipsoidalAltitude_mm.map { Int64($0) }),
        ("speed_mmps", fix.speed_mmps.map { Int64($0) }),
        ("course_e4", fix.course_e4.map { Int64($0) }),
        ("horizontal_accuracy_mm", fix.horizontalAccuracy_mm.map { Int64($0) }),
        ("vertical_accuracy_mm", fix.verticalAccuracy_mm.map { Int64($0) }),
        ("speed_accuracy_mmps", fix.speedAccuracy_mmps.map { Int64($0) }),
        ("course_accuracy_e2", fix.courseAccuracy_e2.map { Int64($0) }),
        ("satellites", fix.satellites.map { Int64($0) }), ("quality", Int64(fix.quality.rawValue)),
        ("generation", Int64(stored.name.generation)),
      ]
      let members = numbers.map { "\"\($0)\":\($1.map { "\($0)" } ?? "null")" }
      return "{\"sequence\":\(stored.name.sequence),\(members.joined(separator: ",")),"
        + "\"mode\":\"\(fix.mode.rawValue)d\",\"date_uncertain\":\(fix.isDateUncertain),"
        + "\"simulated\":\(fix.isSimulated),\"accessory\":\(fix.isFromAccessory)}"
    }.joined(separator: ",")
  }

  private func members(of gap: Gap) -> String {
    func text(_ time: FixTime?) -> String {
      guard let time else { return "null" }
      let utc = time.utc.map { "\($0.microseconds)" } ?? "null"
      return "{\"boot_us\":\(time.acquired.microseconds),\"utc_us\":\(utc)}"
    }
    return "\"count\":\(gap.count),\"first\":\(gap.range.lowerBound),"
      + "\"next\":\(gap.range.upperBound),\"from\":\(text(gap.from)),\"to\":\(text(gap.to)),"
      + "\"may_be_more\":\(gap.mayBeMore)"
  }
}
