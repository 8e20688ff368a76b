import LocationTypes
import Testing
import TestSupport

@testable import GPSDProtocol

/// All outcomes of an input that arrives in these pieces.
private func outcomes(_ pieces: [String]) -> [GPSDRequestParser.Outcome] {
  var parser = GPSDRequestParser()
  var all: [GPSDRequestParser.Outcome] = []
  for piece in pieces {
    let bytes = Array(piece.utf8)
    var offset = 0
    while true {
      let outcome = parser.next(in: bytes.span, at: &offset)
      if outcome == .needsMore { break }
      all.append(outcome)
      if outcome == .webRequest { return all }
    }
  }
  return all
}

private func requests(_ pieces: String...) -> [GPSDRequest] {
  outcomes(pieces).compactMap { if case .request(let request) = $0 { request } else { nil } }
}

private func watch(_ text: String) -> GPSDPolicy? {
  guard case .watch(let watch?)? = requests(text).first else { return nil }
  var policy = GPSDPolicy()
  policy.apply(watch)
  return policy
}

@Suite("Requests of gpsd's protocol")
struct GPSDRequestParserTests {
  @Test("GPD-1: several requests in one write are handled in their order")
  func several() {
    #expect(
      requests("?VERSION;?DEVICES;?POLL;\r\n?DEVICE;") == [
        .version, .devices, .poll, .device(path: nil),
      ])
  }

  @Test("a semicolon needs no line feed, and an object needs neither")
  func ends() {
    #expect(requests("?POLL;") == [.poll])
    #expect(requests("?POLL\n") == [.poll])
    #expect(requests("?WATCH={\"enable\":true}").count == 1)
    #expect(requests("?WATCH= {\"enable\":true}") == requests("?WATCH={\"enable\":true}"))
    #expect(requests("?WATCH={\"enable\":true};\n?POLL;").count == 2)
    #expect(requests("?WATCH={\"enable\":true}?POLL;").last == .poll)
  }

  @Test("GPD-1: a request in pieces is one request, wherever it is cut")
  func pieces() {
    let text = "?WATCH={\"enable\":true,\"device\":\"/dev/a}\\\"{\"};?POLL;"
    let whole = requests(text)
    #expect(whole.count == 2)
    for cut in 1..<text.utf8.count {
      #expect(requests(String(text.prefix(cut)), String(text.dropFirst(cut))) == whole)
    }
    var parser = GPSDRequestParser()
    var all: [GPSDRequest] = []
    for byte in text.utf8 {
      var offset = 0
      if case .request(let request) = parser.next(in: [byte].span, at: &offset) {
        all.append(request)
      }
    }
    #expect(all == whole)
  }

  @Test(
    "an unknown request is named in the error",
    arguments: [("?FOO;", "?FOO"), ("?;", "?"), ("?WATCH=5;", "x"), ("?POLL={}", "?POLL={}")])
  func unknown(_ text: String, _ quoted: String) {
    let request = requests(text).first
    if quoted == "x" {
      #expect(request == .invalid("Invalid WATCH: not a JSON object"))
    } else {
      #expect(request == .unknown(quoted))
    }
  }

  @Test("a line without a question mark is ignored")
  func ignoredLines() {
    #expect(requests("hello\r\n$GPRMC,1\n?POLL;") == [.poll])
    #expect(requests("a?POLL;\n").isEmpty)
  }

  @Test("20 kB of rubbish yield nothing, and a request after their line is handled")
  func rubbish() {
    let bytes = String(repeating: "x", count: 20_000)
    #expect(requests(bytes).isEmpty)
    #expect(requests(bytes, "\n?POLL;") == [.poll])
    let long = requests("?" + bytes, "\n?POLL;")
    #expect(long.count == 2 && long.last == .poll)
    let object = requests("?WATCH={\"a\":\"" + bytes, "\n?POLL;")
    #expect(object.count == 2 && object.last == .poll)
  }

  @Test("an invalid object ends with its line", arguments: ["?WATCH={bad\n", "?WATCH={\"a\":\n"])
  func invalidObjects(_ text: String) {
    #expect(requests(text, "?POLL;").count == 2)
    #expect(requests(text).first == .invalid("Invalid WATCH: not a JSON object"))
  }

  @Test(
    "the first line of an HTTP request ends the connection",
    arguments: ["GET / HTTP/1.1\r\n", "POST /x", "OPTIONS *", "PRI * HTTP/2.0\r\n"])
  func web(_ text: String) {
    #expect(outcomes([text + "\r\n?POLL;"]) == [.webRequest])
    #expect(outcomes([String(text.prefix(2)), String(text.dropFirst(2))]) == [.webRequest])
  }

  @Test("HTTP is detected in the first line only")
  func webLater() {
    #expect(requests("hello\nGET / HTTP/1.1\n?POLL;") == [.poll])
    #expect(requests("?POLL;\nGET / HTTP/1.1\n?POLL;") == [.poll, .poll])
  }

  @Test("enable is true unless it is named, and a second request changes only what it names")
  func policies() throws {
    var policy = try #require(watch("?WATCH={\"json\":true,\"pps\":1}"))
    #expect(policy.enable && policy.json && policy.pps && !policy.nmea)
    guard case .watch(let second?)? = requests("?WATCH={\"nmea\":true}").first else { return }
    policy.apply(second)
    #expect(policy.enable && policy.json && policy.pps && policy.nmea)
    guard case .watch(let third?)? = requests("?WATCH={\"enable\":false}").first else { return }
    policy.apply(third)
    #expect(!policy.enable && policy.json && !policy.isStreaming)
  }

  @Test("a wrong type is an error, an unknown parameter is not")
  func types() {
    #expect(
      requests("?WATCH={\"json\":\"x\"}") == [.invalid("Invalid WATCH: json must be true or false")]
    )
    #expect(watch("?WATCH={\"bogus\":[1],\"raw\":2,\"scaled\":true}") != nil)
    #expect(
      requests("?DEVICE={\"path\":5}").first == .invalid("Invalid DEVICE: path must be a string"))
    #expect(requests("?DEVICE={\"path\":\"/dev/a\",\"bps\":9600}") == [.device(path: "/dev/a")])
  }

  @Test("savings have bounds, and the greater one of two applies")
  func savings() {
    let policy = watch(
      "?WATCH={\"torpor_interval\":60,\"torpor_accuracy\":100,\"torpor_name\":\"logger\"}")
    #expect(policy?.saving == GPSDSaving(interval_s: 60, accuracy_m: 100))
    #expect(policy?.name == "logger")
    let other = GPSDSaving(interval_s: 30, defer_s: 600)
    #expect(
      policy?.saving.combined(with: other)
        == GPSDSaving(interval_s: 60, accuracy_m: 100, defer_s: 600))
    for wrong in ["\"torpor_interval\":0", "\"torpor_defer\":1e9", "\"torpor_name\":\"a b\""] {
      guard case .invalid? = requests("?WATCH={\(wrong)}").first else {
        Issue.record("\(wrong) is refused")
        continue
      }
    }
  }

  @Test("history needs a time")
  func history() {
    #expect(
      requests("?TORPOR={\"since\":1750000000}")
        == [.history(since: UTCTime(microseconds: 1_750_000_000_000_000))])
    guard case .invalid? = requests("?TORPOR={}").first else {
      Issue.record("a time is required")
      return
    }
  }
}
