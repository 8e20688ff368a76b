import LocationPolicy
import LocationTypes
import Testing
import TextFormats

@testable import LocationWire

@Suite("Replies and notices") struct ReplyTests {
  static func frame(_ reply: WireReply, continues: Bool = false) -> [UInt8] {
    var json = JSONOutput()
    ReplyEncoder.encode(reply, continues: continues, to: &json)
    return Array(json.bytes.dropLast())
  }

  @Test("every reply, notice and error survives encoding and decoding")
  func roundTrip() throws {
    for (call, reply) in Samples.replies {
      let frame = Self.frame(reply)
      #expect(
        try ReplyDecoder.decode(frame, to: call) == IncomingReply(reply), "\(text(frame))")
      #expect(!frame.contains(0))
    }
    let more = Self.frame(.notice(.paused), continues: true)
    #expect(
      try ReplyDecoder.decode(more, to: .watch(session: 1))
        == IncomingReply(.notice(.paused), continues: true))
  }

  @Test("replies are encoded without spaces and with exact decimals")
  func examples() {
    func text(_ reply: WireReply) -> String { LocationWireTests.text(Self.frame(reply)) }
    #expect(text(.done) == #"{"parameters":{}}"#)
    #expect(
      text(.error(.invalidParameter("x")))
        == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"x"}}"#)
    #expect(
      text(.notice(.fixes([Samples.full])))
        == #"{"parameters":{"notice":{"fixes":[{"generation":7,"sequence":41,"boot_us":123456789012,"#
        + #""utc_us":1767225600250000,"latitude_deg":52.5162745,"longitude_deg":-13.377704101,"#
        + #""altitude_m":-1.5,"ellipsoidal_altitude_m":77.123,"speed_mps":13.89,"#
        + #""course_deg":314.1592,"horizontal_accuracy_m":2.5,"vertical_accuracy_m":0,"#
        + #""speed_accuracy_mps":0.4,"course_accuracy_deg":12.5,"satellites_used":17,"mode":"3d","#
        + #""quality":"differential"}]}}}"#)
    #expect(text(.notice(.finished(nil))) == #"{"parameters":{"notice":{"finished":{}}}}"#)
  }

  @Test("a batch is split into frames of bounded length")
  func batch() throws {
    var json = JSONOutput()
    var remaining = WireLimits.fixesPerReply + 10
    var counts: [Int] = []
    repeat {
      counts.append(
        ReplyEncoder.encodeFixes(to: &json) {
          remaining -= 1
          return remaining < 0 ? nil : Samples.longest
        })
    } while counts.last != 0
    #expect(counts == [WireLimits.fixesPerReply, 10, 0])
    let all = frames(json.bytes)
    #expect(all.count == 2)
    for (frame, count) in zip(all, counts) {
      #expect(
        try ReplyDecoder.decode(frame, to: .watch(session: 1))
          == IncomingReply(
            .notice(.fixes(Array(repeating: Samples.longest, count: count))), continues: true))
    }
  }

  @Test("malformed replies are distinguished from unexpected ones")
  func rejections() {
    func rejection(_ text: String, _ call: WireCall) -> ReplyRejection? {
      do {
        _ = try ReplyDecoder.decode(Array(text.utf8), to: call)
        return nil
      } catch {
        return error
      }
    }
    #expect(rejection("[]", .getInfo) == .malformed)
    #expect(rejection("{", .getInfo) == .malformed)
    #expect(rejection("{}", .startUpdating) == nil)
    #expect(rejection(#"{"parameters":{"new":1}}"#, .startUpdating) == nil)
    #expect(rejection("{}", .getInfo) == .unexpected(parameter: "vendor"))
    #expect(
      rejection(#"{"parameters":{"vendor":"","product":"","version":1}}"#, .getInfo)
        == .unexpected(parameter: "version"))
    #expect(
      rejection(
        #"{"parameters":{"fix":{"generation":1,"sequence":1,"boot_us":0.5}}}"#, .getLocation)
        == .unexpected(parameter: "fix.boot_us"))
    #expect(
      rejection(#"{"parameters":{"notice":{"unheard_of":{}}}}"#, .watch(session: 1))
        == .unexpected(parameter: "notice.notice"))
  }

  @Test("policy events are sent with names and UTC")
  func regionEvents() {
    let id = RegionIdentifier(.region, 4)
    let at = Instant(microseconds: 5)
    let event = WireRegionEvent(.entered(id, at: at), name: "home") {
      UTCTime(microseconds: $0.microseconds + 10)
    }
    #expect(
      event.change == .entered(at: FixTime(acquired: at, utc: UTCTime(microseconds: 15))))
    #expect(RegionEvent.monitor(id, .satisfied, nil, at: at).identifier == id)
  }

  @Test("numbers survive encoding and decoding")
  func numbers() throws {
    for value in [
      0.1, -0.0 as Double, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e15,
      123_456_789_012_345_680, 1.0 / 3,
    ] {
      var json = JSONOutput()
      json.frame { $0.member("x", value) }
      let document = try JSONDocument(Array(json.bytes.dropLast()), limits: .call)
      var fields = try JSONFields(document.root)
      let decoded: Double = try fields.read("x")
      #expect(decoded.bitPattern == value.bitPattern)
    }
    for value in [Int64.min, -1, 0, .max] {
      var json = JSONOutput()
      json.frame { $0.member("x", value) }
      let document = try JSONDocument(Array(json.bytes.dropLast()), limits: .call)
      #expect(document.root.members?.first?.value.integer == value)
    }
  }
}
