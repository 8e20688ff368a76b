import Foundation
import LocationTypes
import TestSupport
import Testing
import UplinkPayload

@testable import Uplink

@Suite(
  "Requests to HTTP servers, through libcurl", .tags(.realTime),
  .enabled(if: HTTPServer.isAvailable))
struct HTTPServerTests {
  private func destination(
    _ server: FakeHTTPServer, _ path: String = "/batches", token: String? = nil
  ) -> UplinkSettings.Destination {
    var found = UplinkSettings.Destination(host: "127.0.0.1", port: 0)
    found.url = "http://127.0.0.1:\(server.port)\(path)"
    found.tokenFile = token
    return found
  }

  /// Posts to a server over one connection, and returns its answers.
  private func post(
    _ texts: [String], to destination: UplinkSettings.Destination
  ) throws(BrokerError) -> [HTTPAnswer] {
    var server = HTTPServer(
      destination: destination, url: destination.url ?? "", end: UplinkClock.now + .seconds(20))
    var answers: [HTTPAnswer] = []
    for text in texts { answers.append(try server.post(Array(text.utf8))) }
    return answers
  }

  @Test("batches are plain JSON, and use one connection")
  func plain() throws {
    let server = FakeHTTPServer()
    defer { server.stop() }
    let answers = try post(["{}", "[1]", "[2]"], to: destination(server))
    #expect(answers.map(\.isAccepted) == [true, true, true])
    #expect(
      server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["{}", "[1]", "[2]"])
    #expect(server.requests.map(\.connection) == [0, 0, 0])
    let request = try #require(server.requests.last)
    #expect(request.line == "POST /batches HTTP/1.1")
    #expect(request.headers.contains("content-type: application/json"))
    for name in ["content-encoding", "authorization", "expect"] {
      #expect(!request.headers.contains { $0.hasPrefix(name) }, "\(name)")
    }
  }

  @Test("with `gzip = true` batches are compressed, and say so")
  func gzip() throws {
    let server = FakeHTTPServer()
    defer { server.stop() }
    var destination = destination(server)
    destination.usesGzip = true
    _ = try post([String(repeating: "a", count: 10_000)], to: destination)
    let request = try #require(server.requests.first)
    #expect(request.headers.contains("content-encoding: gzip"))
    #expect(request.body.prefix(3) == [0x1F, 0x8B, 8] && request.body.count < 200)
  }

  @Test("a token is a header, or a part of the address that needs no encoding")
  func token() throws {
    let folder = TestFolder()
    let server = FakeHTTPServer()
    defer { server.stop() }
    folder.write(Array("a-._~9\nrest".utf8), to: "good")
    folder.write(Array("a b&c=1".utf8), to: "bad")
    let (good, bad) = (folder.path + "/good", folder.path + "/bad")
    _ = try post(["{}"], to: destination(server, token: good))
    #expect(server.requests.last?.headers.contains("authorization: bearer a-._~9") == true)
    _ = try post(["{}"], to: destination(server, "/x?k={token}&d=1", token: good))
    #expect(server.requests.last?.line == "POST /x?k=a-._~9&d=1 HTTP/1.1")
    _ = try post(["{}"], to: destination(server, token: bad))
    #expect(server.requests.last?.headers.contains("authorization: bearer a b&c=1") == true)
    let error = #expect(throws: BrokerError.self) {
      try post(["{}"], to: destination(server, "/secret/{token}", token: bad))
    }
    #expect(error?.description.contains("remove {token} from `url`") == true)
    #expect(error?.description.contains("a b&c") == false)
    #expect(error?.description.contains("secret") == false)
    #expect(server.requests.count == 3)
  }

  @Test("an answer that is too long accepts nothing, and is named as the reason")
  func longAnswer() throws {
    for count in [60_000, HTTPServer.answerSize] {
      let more = String(repeating: "a", count: count)
      let server = FakeHTTPServer(answer: #"{"result":"ok","more":"\#(more)"}"#)
      defer { server.stop() }
      let answer = try #require(try post(["{}"], to: destination(server)).first)
      #expect(answer.isAccepted == (count == 60_000))
      guard !answer.isAccepted else { continue }
      #expect(OverlandUpload.refusal(answer).description.contains("its answer is too long"))
    }
  }

  @Test("without a server the message has no path")
  func absent() {
    let server = FakeHTTPServer()
    var found = destination(server, "/secret")
    server.stop()
    found.url = "http://127.0.0.1:1/secret"
    let error = #expect(throws: BrokerError.self) { try post(["{}"], to: found) }
    #expect(error?.description.hasPrefix("http://127.0.0.1:1: ") == true)
    #expect(error?.description.contains("secret") == false)
  }
}
