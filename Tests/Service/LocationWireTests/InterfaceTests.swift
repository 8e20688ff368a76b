import BoardHardware
import Foundation
import LocationPolicy
import LocationTypes
import TestSupport
import Testing
import TextFormats

@testable import LocationWire

/// A file of the repository.
private func repositoryText(_ path: String) throws -> String {
  try String(contentsOf: URL(filePath: "\(packageRoot)/\(path)"), encoding: .utf8)
}

@Suite("The interface file agrees with the code") struct InterfaceTests {
  /// The text without comments and with single spaces.
  private static let declarations = LocationInterface.text
    .split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: " ")
    .split(separator: " ").joined(separator: " ")

  /// Names of input and output parameters by method.
  private static let methods: [String: (input: Set<String>, output: Set<String>)] = {
    var all: [String: (input: Set<String>, output: Set<String>)] = [:]
    for part in declarations.split(separator: "method ").dropFirst() {
      let sides = part.split(separator: "error ")[0].split(separator: "->")
      let name = sides[0].prefix { $0 != "(" }
      all[String(name)] = (names(in: sides[0]), names(in: sides[1]))
    }
    return all
  }()

  private static func names(in text: Substring) -> Set<String> {
    Set(text.matches(of: #/([a-z][a-z0-9_]*): /#).map { String($0.output.1) })
  }

  /// Name of a call's method in its interface.
  private static func name(of call: WireCall) -> String {
    String(call.method.name.description.split(separator: ".").last ?? "")
  }

  /// Names of the fields of a type, including nested types.
  private static func fields(of type: String) throws -> Set<String> {
    let part = try #require(declarations.split(separator: "type \(type) (").last)
    return names(in: part.split(separator: " type ")[0].split(separator: " method ")[0])
  }

  @Test("the text that the service returns is the file without annotations")
  func document() throws {
    let file = try repositoryText("Sources/Service/LocationWire/org.torpor.Location.varlink")
    let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
    let text = lines.filter { !$0.hasPrefix("#@") }.joined(separator: "\n")
    #expect(text == LocationInterface.text && lines.count > text.split(separator: "\n").count)
    #expect(!(LocationInterface.text + LocationInterface.service).contains("#@"))
    #expect(LocationInterface.text(of: "org.torpor.Location") == LocationInterface.text)
    #expect(LocationInterface.text(of: "org.varlink.service") == LocationInterface.service)
    #expect(LocationInterface.text(of: "org.torpor") == nil)
  }

  @Test("there is a sample of every method in the text, and of no other") func everyMethod() {
    let sampled = Set(Samples.calls.map { $0.method.name.description })
    let service = ["GetInfo", "GetInterfaceDescription"].map { "org.varlink.service." + $0 }
    #expect(sampled == Set(Self.methods.keys.map { "org.torpor.Location." + $0 } + service))
  }

  @Test("the methods have these properties")
  func traits() {
    func methods(_ trait: WireMethod.Traits) -> Set<Substring> {
      Set(
        Samples.calls.map(\.method).filter { $0.traits.contains(trait) }
          .compactMap { $0.name.description.split(separator: ".").last })
    }
    let stored: Set<Substring> = [
      "StartSignificantChange", "StopSignificantChange", "StartVisits", "StopVisits", "AddRegion",
      "RemoveRegion", "OpenBackgroundSession", "CloseBackgroundSession",
    ]
    #expect(
      methods(.durable)
        == stored.union([
          "Acknowledge", "AcknowledgeEvents", "AllowClient", "DenyClient", "ReduceClient",
          "ForgetClient",
        ]))
    #expect(
      methods(.charged)
        == stored.union([
          "Connect", "StartUpdating", "StopUpdating", "RequestAuthorization", "OpenServiceSession",
          "OpenLive",
        ]))
    #expect(methods(.silent) == ["SetExecution", "Acknowledge", "AcknowledgeEvents"])
    #expect(methods(.more) == ["Watch"])
    #expect(methods(.upgrade) == ["Drain", "ReadBacklog"])
  }

  @Test("the samples of each call contain exactly the parameters of the text")
  func parameters() throws {
    var sampled: [String: Set<String>] = [:]
    for call in Samples.calls {
      sampled[Self.name(of: call), default: []].formUnion(
        try Self.names(in: CallTests.frame(call), at: ["parameters"]))
    }
    for (method, names) in Self.methods {
      // The choice of an enumeration is no name.
      #expect(sampled[method] == names.input, "\(method)")
    }
  }

  @Test("the samples of each reply contain exactly the parameters of the text")
  func replies() throws {
    var sampled: [String: Set<String>] = [:]
    for (call, reply) in Samples.replies {
      if case .error = reply { continue }
      sampled[Self.name(of: call), default: []].formUnion(
        try Self.names(in: ReplyTests.frame(reply), at: ["parameters"]))
    }
    for (method, names) in Self.methods where !names.output.isEmpty {
      #expect(sampled[method] == names.output, "\(method)")
    }
  }

  @Test("the samples of notices and replies contain exactly the fields of the text")
  func notices() throws {
    var sampled: [String: Set<String>] = [:]
    func collect(_ reply: WireReply, _ type: String, _ path: [String]) throws {
      sampled[type, default: []].formUnion(try Self.names(in: ReplyTests.frame(reply), at: path))
    }
    for notice in Samples.notices {
      try collect(.notice(notice), "Notice", ["parameters", "notice"])
      let names = try Self.names(
        in: ReplyTests.frame(.notice(notice)), at: ["parameters", "notice"])
      #expect(names.count == 1)
      let types = [
        "gap": "Gap", "visit": "Visit", "region": "RegionEvent", "live": "LiveElement",
        "session": "SessionDiagnostics",
      ]
      for (name, type) in types where names == [name] {
        try collect(.notice(notice), type, ["parameters", "notice", name])
      }
    }
    let reply = WireReply.location(Samples.longest)
    try collect(reply, "Fix", ["parameters", "fix"])
    for (_, reply) in Samples.replies {
      if case .status(let status) = reply {
        try collect(reply, "Status", ["parameters", "status"])
        if status.receiver != nil {
          try collect(reply, "Receiver", ["parameters", "status", "receiver"])
          try collect(reply, "Use", ["parameters", "status", "uses"])
        }
      }
      if case .plan = reply { try collect(reply, "PowerPlan", ["parameters", "plan"]) }
      if case .regions(let regions) = reply {
        for region in regions {
          var json = JSONOutput()
          ReplyEncoder.encode(.regions([region]), to: &json)
          sampled["MonitoredRegion", default: []].formUnion(
            try Self.names(in: Array(json.bytes.dropLast()), at: ["parameters", "regions"]))
        }
      }
      if case .clients(let clients) = reply {
        for client in clients {
          var json = JSONOutput()
          ReplyEncoder.encode(.clients([client]), to: &json)
          sampled["Client", default: []].formUnion(
            try Self.names(in: Array(json.bytes.dropLast()), at: ["parameters", "clients"]))
        }
      }
    }
    for (type, names) in sampled { #expect(try Self.fields(of: type) == names, "\(type)") }
    #expect(sampled.count == 13)
  }

  @Test("the errors in the text are those that are sent")
  func errors() {
    let prefix = "org.torpor.Location."
    let text = LocationInterface.text + LocationInterface.service
    let declared = text.split(separator: "\n").filter { $0.hasPrefix("error ") }
      .map { String($0.dropFirst(6).prefix { $0 != " " }) }
    let sent = Samples.errors.map(\.name).filter { $0 != "org.example.New" }
    #expect(
      Set(declared)
        == Set(sent.map { String($0.replacing(prefix, with: "").split(separator: ".").last ?? "") })
    )
  }

  @Test("every enumeration value of the code is in the text")
  func words() {
    let text = Set(
      LocationInterface.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    func has(_ words: [some CustomStringConvertible]) {
      for w in words { #expect(text.contains("\(w)"), "\(w)") }
    }
    has(ExecutionState.wireValues.map(\.wireWord))
    has(Authorization.wireValues.map(\.wireWord))
    has(ActivityType.wireValues.map(\.wireWord))
    has(LiveConfiguration.wireValues.map(\.wireWord))
    has(RegionKind.wireValues.map(\.wireWord))
    has(RegionState.wireValues.map(\.wireWord))
    has(MonitorState.wireValues.map(\.wireWord))
    has(MonitorProblem.wireValues.map(\.wireWord))
    has(ServiceLevel.wireValues.map(\.wireWord))
    has(FixQuality.wireValues.map(\.wireWord))
    has(FixMode.wireValues.map(\.wireWord))
    has(BoardState.wireValues.map(\.wireWord))
    has(WakeReason.wireValues.map(\.wireWord))
    has(ReceiverPowerState.wireValues.map(\.wireWord))
    has(LiveFlags.wireWords.map(\.1))
    has(WireReceiverState.allCases.map(\.rawValue))
    has(WireService.allCases.map(\.rawValue))
    has(WireNeed.allCases.map(\.rawValue))
    has(WireHoldReason.allCases.map(\.rawValue))
    has(LaunchReason.allCases.map(\.rawValue))
  }

  /// Names of the members of the object at `path`; for a list, of its first element.
  private static func names(in frame: [UInt8], at path: [String]) throws -> Set<String> {
    var value = try JSONDocument(frame, limits: .reply).root
    for name in path {
      value = try #require(value[name])
      if let first = value.elements?.first { value = first }
    }
    return Set((value.members ?? []).map(\.name))
  }
}
