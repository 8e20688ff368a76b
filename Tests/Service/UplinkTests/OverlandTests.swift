import LocationTypes
import TOMLFiles
import Testing
import UplinkPayload

@testable import Uplink

/// A server in memory.
private struct FakeServer: HTTPConnection {
  var answers: [HTTPAnswer]
  var bodies: [String] = []

  mutating func post(_ json: [UInt8]) throws(BrokerError) -> HTTPAnswer {
    bodies.append(String(decoding: json, as: UTF8.self))
    return answers.count > 1 ? answers.removeFirst() : answers[0]
  }
}

extension HTTPAnswer {
  fileprivate init(_ status: Int, _ body: String = #"{"result":"ok"}"#) {
    self.init(status: status, body: Array(body.utf8))
  }
}

@Suite("Batches for HTTP servers, in Overland's format")
struct OverlandTests {
  private let device = DeviceName("boat-7")!

  private func stored(_ sequence: UInt64, utc: Int64? = 1_767_225_600_500_000) -> StoredFix {
    var fix = Fix(
      acquired: Instant(seconds: Double(sequence)),
      coordinate: Coordinate(latitude_e9: 52_516_274_500, longitude_e9: -13_377_704_100))
    fix.utc = utc.map { UTCTime(microseconds: $0) }
    return StoredFix(name: FixName(generation: 1, sequence: sequence), fix: fix)
  }

  private func failure(
    _ pending: inout PendingFixes, _ server: inout FakeServer, clockOffset: Int64? = nil
  ) -> String? {
    var memory = BrokerMemory()
    let upload = OverlandUpload(device: device, clockOffset: clockOffset)
    do throws(BrokerError) {
      while try upload.sendNext(&pending, over: &server, &memory, log: { _ in }) {}
      return nil
    } catch { return error.description }
  }

  @Test("a fix is a feature of GeoJSON; unknown values are omitted")
  func json() {
    var full = stored(1)
    full.fix.altitude_mm = -1_500
    full.fix.speed_mmps = 10_000
    full.fix.course_e4 = 905_000
    full.fix.horizontalAccuracy_mm = 2_500
    full.fix.verticalAccuracy_mm = 4_000
    let start =
      #"{"type":"Feature","geometry":{"type":"Point","coordinates":[-13.3777041,52.5162745]},"#
      + #""properties":{"timestamp":"2026-01-01T00:00:00.500Z","device_id":"boat-7""#
    #expect(
      String(
        decoding: OverlandBatch.json([full, stored(2)], device: device, offset: 0), as: UTF8.self)
        == #"{"locations":["# + start
        + #","altitude":-1.5,"speed":10,"course":90.5,"horizontal_accuracy":2.5,"#
        + #""vertical_accuracy":4}},"# + start + "}}]}")
    #expect(
      String(decoding: OverlandBatch.json([], device: device, offset: 0), as: UTF8.self)
        == #"{"locations":[]}"#)
  }

  @Test("a batch is accepted only with a status of 200 to 299 and the result ok")
  func accepted() {
    for answer in [
      HTTPAnswer(201, "{}"), HTTPAnswer(201, ""), HTTPAnswer(500), HTTPAnswer(302),
      HTTPAnswer(200, #"{"result":"o"#), HTTPAnswer(200, #"{"result":"no"}"#),
      HTTPAnswer(200, #"[{"result":"ok"}]"#), HTTPAnswer(401),
    ] {
      var pending = PendingFixes()
      pending.add([stored(1)])
      var server = FakeServer(answers: [answer])
      #expect(
        failure(&pending, &server)?.hasPrefix("the server answered \(answer.status) without")
          == true)
      #expect(pending.count == 1 && pending.preceding == nil, "\(answer)")
    }
    for answer in [HTTPAnswer(200), HTTPAnswer(201, #" {"result" : "ok", "more": 1} "#)] {
      var pending = PendingFixes()
      pending.add([stored(1)])
      var server = FakeServer(answers: [answer])
      #expect(failure(&pending, &server) == nil)
      #expect(pending.isEmpty && pending.preceding == FixName(generation: 1, sequence: 1))
    }
  }

  @Test("at most 1,000 fixes a batch; gaps and events are removed in their order")
  func batches() {
    var pending = PendingFixes()
    pending.add(Gap(1..<5, from: nil, to: nil))
    pending.add((5..<2_005).map { stored($0) })
    pending.add(event: 3, [])
    var server = FakeServer(answers: [HTTPAnswer(200)])
    #expect(failure(&pending, &server) == nil)
    #expect(server.bodies.count == 2 && pending.isEmpty && pending.confirmedEvent == 3)
  }

  @Test("a server that refuses large batches gets smaller ones")
  func tooLarge() {
    var pending = PendingFixes()
    pending.add((0..<100).map { stored($0) })
    var server = FakeServer(answers: [HTTPAnswer(413, ""), HTTPAnswer(200)])
    #expect(failure(&pending, &server) == nil)
    #expect(server.bodies.count == 3, "one refused, two with 50 fixes")
  }

  @Test("a fix without date gets the one that another fix, or the clock of the board, shows")
  func undated() {
    var pending = PendingFixes()
    pending.add([stored(1, utc: nil), stored(3, utc: 1_767_225_603_000_000)])
    var server = FakeServer(answers: [HTTPAnswer(200)])
    #expect(failure(&pending, &server) == nil)
    #expect(server.bodies[0].contains(#""timestamp":"2026-01-01T00:00:01.000Z""#))
    pending.add([stored(4, utc: nil)])
    #expect(failure(&pending, &server)?.contains("has no date") == true)
    #expect(!pending.isEmpty)
    #expect(failure(&pending, &server, clockOffset: 1_767_225_600_000_000) == nil)
    #expect(server.bodies.last?.contains(#""timestamp":"2026-01-01T00:00:04.000Z""#) == true)
  }

  @Test("the token is inserted into the address")
  func token() {
    #expect(HTTPServer.insert("x", into: "https://a/{token}/b") == "https://a/x/b")
    #expect(HTTPServer.insert("x", into: "https://a/b?k={token}") == "https://a/b?k=x")
    #expect(HTTPServer.insert("x", into: "https://a") == nil)
    #expect(HTTPServer.insert("x", into: "a") == nil)
  }

  private func problems(_ keys: String) -> [String] {
    do throws(FileProblems) {
      _ = try UplinkSettings(
        parsing: Array("[[destination]]\n\(keys)".utf8), file: "u.toml", defaultDevice: device,
        checkFile: { _, _ in nil })
      return []
    } catch { return error.problems.map(\.description) }
  }

  @Test(
    "an address is one of HTTP, encrypted unless the server runs on this board",
    arguments: [
      ("url = 'https://a/b'", nil), ("url = 'http://localhost:3000/b'", nil),
      ("url = 'http://[::1]/b'", nil), ("url = 'https://a/?k={token}'\ntoken_file = 't'", nil),
      (
        "url = 'http://a/b'",
        "u.toml:2:7: destination[0].url: is not encrypted: fixes and token would be sent in clear text to "
          + "\"a\"; use https"
      ),
      (
        "url = 'ftp://a'",
        "u.toml:2:7: destination[0].url: is not an address of HTTP; expected https://HOST/PATH"
      ),
      (
        "url = 'https://u:p@a/'",
        "u.toml:2:7: destination[0].url: is not an address of HTTP; expected https://HOST/PATH"
      ),
      (
        "url = 'https://a/{token}'",
        "u.toml:2:7: destination[0].url: needs the key `token_file` for {token}"
      ),
      (
        "url = 'https://a/b'\nhost = 'a'",
        "u.toml:3:1: destination[0].host: has no meaning with the key `url`"
      ),
      (
        "host = '::1'\ntoken_file = 't'",
        "u.toml:1:1: destination[0].token_file: needs the key `url`"
      ),
    ] as [(String, String?)])
  func address(keys: String, problem: String?) {
    #expect(problems(keys) == [problem].compactMap { $0 })
  }

  @Test("what is written to logs has no secret")
  func secrets() {
    var destination = UplinkSettings.Destination(host: "a", port: 0)
    destination.url = "https://a/b?key=secret"
    #expect(destination.address == "https://a/b")
    destination.url = "https://a/b/{token}/c"
    #expect(destination.address == "https://a/b/")
  }
}
