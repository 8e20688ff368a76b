import LocationPolicy
import LocationTypes
import Testing
import TextFormats

@testable import LocationWire

@Suite("Calls") struct CallTests {
  static func frame(_ call: WireCall, oneway: Bool = false) -> [UInt8] {
    var json = JSONOutput()
    CallEncoder.encode(call, oneway: oneway, to: &json)
    return Array(json.bytes.dropLast())
  }

  /// The result of decoding a frame.
  static func result(_ text: String) -> Result<IncomingCall, CallRejection> {
    do {
      return .success(try CallDecoder.decode(Array(text.utf8)))
    } catch {
      return .failure(error)
    }
  }

  @Test("every call survives encoding and decoding", arguments: Samples.calls)
  func roundTrip(_ call: WireCall) throws {
    let traits = call.method.traits
    let mode: WireReplyMode =
      traits.contains(.more) ? .more : traits.contains(.upgrade) ? .upgrade : .once
    #expect(try CallDecoder.decode(Self.frame(call)) == IncomingCall(call, mode))
    if mode == .once {
      #expect(
        try CallDecoder.decode(Self.frame(call, oneway: true)) == IncomingCall(call, .oneway))
    }
  }

  @Test(
    "a oneway acknowledgement uses the fast reader, in any order and spacing",
    arguments: [
      #"{"method":"org.torpor.Location.Acknowledge","oneway":true,"parameters":{"generation":7,"sequence":41}}"#,
      #"{"oneway":true,"parameters":{"sequence":41,"generation":7},"method":"org.torpor.Location.Acknowledge"}"#,
      " {\t\"parameters\" : { \"generation\": 7 ,\n\"sequence\" : 41 } , \"method\": \"org.torpor.Location.Acknowledge\", \"oneway\" : true }\r\n",
    ])
  func fastAcknowledgement(_ text: String) throws {
    let frame = Array(text.utf8)
    let name = FixName(generation: 7, sequence: 41)
    #expect(AcknowledgementReader.read(frame) == name)
    #expect(try CallDecoder.decodeAny(frame) == IncomingCall(.acknowledge(name), .oneway))
  }

  @Test("for any mutated acknowledgement the fast reader agrees with the decoder or declines")
  func fastReaderAgrees() {
    let frame = Self.frame(
      .acknowledge(FixName(generation: 40, sequence: 1 << 40 - 1)), oneway: true)
    #expect(AcknowledgementReader.read(frame) != nil)
    var agreed = 0
    for index in frame.indices {
      var shorter = frame
      shorter.remove(at: index)
      var variants = [shorter, Array(frame[..<index])]
      for byte in Array(" \"{}:,\\0159-.eE+ntx\n\u{7F}".utf8) {
        var other = frame
        other[index] = byte
        variants.append(other)
        other = frame
        other.insert(byte, at: index)
        variants.append(other)
      }
      for variant in variants {
        guard let name = AcknowledgementReader.read(variant) else { continue }
        agreed += 1
        #expect((try? CallDecoder.decodeAny(variant)) == IncomingCall(.acknowledge(name), .oneway))
      }
    }
    // Spaces in between, and other digits.
    #expect(agreed > 100)
  }

  @Test("calls are encoded without spaces and without default members") func examples() {
    #expect(
      text(Self.frame(.acknowledge(FixName(generation: 7, sequence: 41))))
        == #"{"method":"org.torpor.Location.Acknowledge","parameters":{"generation":7,"sequence":41}}"#
    )
    #expect(
      text(Self.frame(.watch(session: 3)))
        == #"{"method":"org.torpor.Location.Watch","more":true,"parameters":{"session":3}}"#)
  }

  @Test("DEF-22: a missing or null criterion is unlimited")
  func unlimited() throws {
    let call = #"{"method":"org.torpor.Location.AllowDeferred","parameters":{"timeout_s":null}}"#
    guard case .success(let read) = Self.result(call),
      case .allowDeferred(let distance, let timeout, 0) = read.call
    else {
      Issue.record("no call")
      return
    }
    #expect(distance == LocationLimits.distanceMax && timeout == LocationLimits.timeIntervalMax)
  }

  @Test("calls without parameters may omit them, and frames may have vendor members")
  func lenient() {
    #expect(
      Self.result(
        #" { "io.example": {"a": [1]}, "method" : "org.torpor.Location.StartUpdating", "more": null } "#
      ) == .success(IncomingCall(.startUpdating)))
  }

  @Test("each setting becomes one request") func settings() {
    for case .configure(let settings) in Samples.calls {
      #expect(settings.requests.count == (settings == WireSettings() ? 0 : 4))
    }
    #expect(WireSettings().requests.isEmpty)
  }

  @Test(
    "a malformed call closes the connection",
    arguments: [
      "", " ", "null", "[]", "{}", "1", "{", #"{"method":1}"#, #"{"method":null}"#,
      #"{"method":"a.b.C","method":"a.b.C"}"#, #"{"method":"a.b.C","m\u0065thod":"a.b.C"}"#,
      #"{"method":"a.b.C","oneway":1}"#, #"{"method":"a.b.C","more":true,"oneway":true}"#,
      #"{"method":"a.b.C"},"#, #"{"method":"a.b.C",}"#, #"{"method":"a.b.C" "more":true}"#,
      #"{'method':'a.b.C'}"#, #"{"method":"\ud800"}"#, #"{"method":"\u12"}"#,
      #"{"method":"a.b.C","parameters":{"a":01}}"#,
      #"{"method":"a.b.C","parameters":{"a":NaN}}"#,
      #"{"method":"a.b.C","parameters":{"a":Infinity}}"#,
      #"{"method":"a.b.C","parameters":{"a":1.}}"#, "{\"method\":\"a\nb\"}",
      #"{"method":"a.b.C","parameters":{"a":"# + String(repeating: "1", count: 65) + "}}",
      #"{"a":"# + String(repeating: "[", count: 16) + String(repeating: "]", count: 16) + "}",
      String(repeating: "[", count: 16_384),
      "{" + (0..<65).map { "\"\($0)\":1" }.joined(separator: ",") + "}",
      "[" + String(repeating: "0,", count: 512) + "0]",
      "{\"\(String(repeating: "n", count: 65))\":1}",
      #"{"method":"a.b.C","x":""# + String(repeating: "x", count: 16_384) + "\"}",
    ])
  func malformed(_ text: String) { #expect(Self.result(text) == .failure(.malformed)) }

  @Test(
    "invalid UTF-8 closes the connection",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
      [0xF0, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82], [0xE2, 0x82, 0x20], [0xF0, 0x9F, 0x98, 0x41],
    ] as [[UInt8]])
  func encoding(_ bytes: [UInt8]) {
    let frame = Array("{\"method\":\"".utf8) + bytes + Array("\"}".utf8)
    #expect(throws: CallRejection.malformed) { try CallDecoder.decode(frame) }
    #expect(throws: JSONProblem.encoding) { try JSONDocument(frame, limits: .call) }
  }

  @Test(
    "an invalid parameter is named, and the connection stays open",
    arguments: [
      ("Connect", "{}", "name"), ("Connect", #"{"name":1}"#, "name"),
      ("Connect", #"{"name":""}"#, "name"), ("Connect", #"{"name":"a\u0000b"}"#, "name"),
      ("Connect", #"{"name":"a\u009bb"}"#, "name"),
      ("Connect", #"{"name":""# + String(repeating: "x", count: 65) + "\"}", "name"),
      ("Connect", #"{"name":"a","other":1}"#, "other"), ("StartUpdating", #"{"x":1}"#, "x"),
      ("StartUpdating", "[]", "parameters"), ("SetExecution", #"{"state":"asleep"}"#, "state"),
      ("Acknowledge", #"{"generation":-1,"sequence":1}"#, "generation"),
      ("Acknowledge", #"{"generation":4294967296,"sequence":1}"#, "generation"),
      ("Acknowledge", #"{"generation":1,"sequence":1099511627776}"#, "sequence"),
      ("Acknowledge", #"{"generation":1,"sequence":1.5}"#, "sequence"),
      ("Acknowledge", #"{"generation":1,"sequence":99999999999999999999}"#, "sequence"),
      ("Acknowledge", #"{"generation":1,"sequence":"1"}"#, "sequence"),
      ("AllowDeferred", #"{"distance_m":1e999}"#, "distance_m"),
      ("AllowDeferred", #"{"timeout_s":"1"}"#, "timeout_s"),
      ("Configure", #"{"activity":"sleep"}"#, "activity"),
      ("Configure", #"{"pauses_automatically":0}"#, "pauses_automatically"),
      ("CloseLive", #"{"number":4}"#, "number"), ("CloseLive", #"{"number":-1}"#, "number"),
      ("RemoveRegion", #"{"kind":"beacon","name":"a"}"#, "kind"),
      ("RemoveRegion", #"{"kind":"region","name":"\n"}"#, "name"),
      (
        "AddRegion",
        #"{"kind":"region","name":"a","latitude_deg":90.1,"longitude_deg":0,"radius_m":1}"#,
        "latitude_deg"
      ),
      (
        "AddRegion",
        #"{"kind":"region","name":"a","latitude_deg":90,"longitude_deg":-180.1,"radius_m":1}"#,
        "longitude_deg"
      ),
      (
        "AddRegion", #"{"kind":"region","name":"a","latitude_deg":9,"longitude_deg":1}"#, "radius_m"
      ),
      ("ReduceClient", #"{"user":1,"name":"a"}"#, "reduced_accuracy"),
      ("AllowClient", #"{"user":1,"name":"a","authorization":"denied"}"#, "authorization"),
      ("DenyClient", #"{"user":-1,"name":"a"}"#, "user"),
      ("ForgetClient", #"{"user":1}"#, "name"),
    ])
  func wrongParameter(_ method: String, _ parameters: String, _ name: String) {
    let call = #"{"method":"org.torpor.Location.\#(method)","parameters":\#(parameters)}"#
    #expect(
      Self.result(call) == .failure(.refused(.invalidParameter(name), isOneway: false)))
  }

  @Test(
    "an unknown method, interface or parameter is named",
    arguments: [
      ("org.torpor.Location.Fly", WireError.methodNotFound("org.torpor.Location.Fly")),
      ("org.varlink.service.Fly", .methodNotFound("org.varlink.service.Fly")),
      ("org.torpor.location.GetInfo", .interfaceNotFound("org.torpor.location")),
      ("GetInfo", .invalidParameter("method")), (".GetInfo", .interfaceNotFound("")),
      ("org.torpor.Location.Watch", .invalidParameter("session")),
    ])
  func notFound(_ method: String, _ error: WireError) {
    #expect(
      Self.result("{\"oneway\":true,\"method\":\"\(method)\"}")
        == .failure(.refused(error, isOneway: true)))
  }

  @Test(
    "RES-8: a client's name has no control character, so it stays on its line of the log",
    arguments: [0, 0x9, 0xA, 0xD, 0x1F, 0x7F, 0x80, 0x85, 0x9F] as [UInt8])
  func controlInName(_ code: UInt8) {
    let name = "a\(Character(UnicodeScalar(code)))b"
    #expect(!NameValidation.isValidClient(name))
    #expect(!NameValidation.isValidRegion(name))
    #expect(!NameValidation.isValidReason(name))
  }

  @Test("a name has 1 to 64 bytes, and may contain any other character")
  func validNames() {
    for name in ["x", " ", "~", "\u{A0}", "位置", String(repeating: "x", count: 64)] {
      #expect(NameValidation.isValidClient(name), "\(name)")
    }
    #expect(!NameValidation.isValidClient(""))
    #expect(!NameValidation.isValidClient(String(repeating: "位", count: 22)))
  }

  @Test("Watch requires `more`, Drain requires `upgrade`") func modes() {
    let call = #"{"method":"org.torpor.Location.@","parameters":{"session":1}}"#
    #expect(
      Self.result(call.replacing("@", with: "Watch"))
        == .failure(.refused(.expectedMore, isOneway: false)))
    #expect(
      Self.result(call.replacing("@", with: "Drain"))
        == .failure(.refused(.expectedUpgrade, isOneway: false)))
  }
}
