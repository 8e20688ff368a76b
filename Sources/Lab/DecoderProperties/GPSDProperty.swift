import GPSDProtocol
import TextFormats

/// Chunk boundaries do not change the requests, and an HTTP request ends them. Each answer is one line of printable ASCII
/// with a JSON object whose first member is `class`.
///
/// Input: one byte of chunk lengths; then the bytes of the socket.
enum GPSDProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let chunks = ChunkLengths(reader.byte())
    let bytes = reader.remainingBytes()
    let whole = outcomes(bytes, nil)
    let parts = outcomes(bytes, chunks)
    trial.require(whole == parts, "chunk boundaries change the requests")
    var policy = GPSDPolicy()
    for outcome in whole {
      guard case .request(let request) = outcome else { continue }
      check(request, &policy, &trial)
    }
  }

  private static func check(
    _ request: GPSDRequest, _ policy: inout GPSDPolicy, _ trial: inout PropertyResult
  ) {
    var json = JSONOutput()
    switch request {
    case .version, .devices, .poll, .history, .device, .watch(nil): trial.countDecoded()
    case .unknown(let text): json.gpsdError("Unrecognized request '\(text)'")
    case .invalid(let message): json.gpsdError(message)
    case .watch(let watch?):
      trial.countDecoded()
      let before = policy
      policy.apply(watch)
      if watch.json == nil { trial.require(policy.json == before.json, "json changes unnamed") }
      if watch.nmea == nil { trial.require(policy.nmea == before.nmea, "nmea changes unnamed") }
      // The server refuses other devices before it applies a request.
      if policy.device == nil { json.gpsdWatch(policy) }
    }
    guard !json.text.isEmpty else { return }
    let line = json.bytes
    trial.require(line.suffix(2) == [0x0D, 0x0A], "an answer without a line end")
    trial.require(
      line.dropLast(2).allSatisfy { (0x20..<0x7F).contains($0) }, "an answer is not ASCII")
    let document = try? JSONDocument(
      Array(line.dropLast(2)), limits: JSONLimits(nodes: 64))
    trial.require(document?.root.members?.first?.name == "class", "an answer is no object")
  }

  private static func outcomes(
    _ bytes: [UInt8], _ chunks: ChunkLengths?
  ) -> [GPSDRequestParser.Outcome] {
    var parser = GPSDRequestParser()
    var all: [GPSDRequestParser.Outcome] = []
    for range in chunkRanges(bytes.count, chunks) {
      let chunk = Array(bytes[range])
      var offset = 0
      reading: while true {
        let outcome = parser.next(in: chunk.span, at: &offset)
        if outcome == .needsMore { break reading }
        all.append(outcome)
        if outcome == .webRequest { return all }
      }
    }
    return all
  }

  static let seeds: [[UInt8]] = [
    "?VERSION;?DEVICES;?POLL;?DEVICE;?WATCH;", "?WATCH={\"enable\":true,\"json\":true}\n?POLL;\r\n",
    "?WATCH={\"nmea\":true,\"pps\":1,\"torpor_interval\":60,\"torpor_name\":\"logger\"};",
    "?DEVICE={\"path\":\"/dev/a\",\"bps\":9600}?TORPOR={\"since\":1.75e9};",
    "?FOO;x\n?WATCH={bad\n",
    "GET / HTTP/1.1\r\n\r\n?POLL;",
  ].map { [5] + Array($0.utf8) }

  static let dictionary = [
    "?WATCH={", "?POLL;", "?DEVICE={", "?TORPOR={", "}", ";", "\\x22enable\\x22:true",
    "\\x22json\\x22:", "\\x22torpor_defer\\x22:", "\\x22device\\x22:\\x22", "GET ", "\\x0a",
    "\\x5c\\x22",
  ]
}
