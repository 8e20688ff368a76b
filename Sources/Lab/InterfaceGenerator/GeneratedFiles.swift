/// Paths of the interface descriptions, from the root of the package.
let interfacePaths = ["org.varlink.service", "org.torpor.Location"].map {
  "Sources/Service/LocationWire/\($0).varlink"
}

/// The Swift files for these interfaces, by path.
func generatedFiles(_ methods: Methods) -> [String: String] {
  [
    "Sources/Service/LocationWire/Messages.swift": messages(methods),
    "Sources/Service/LocationWire/WireWords.swift": words(methods.wordLists),
    "Sources/Service/LocationClient/MethodStubs.swift": stubs(methods),
    "Sources/Service/LocationService/Dispatch/MethodDispatch.swift": dispatch(methods),
  ]
}

private let header = """
  // swift-format-ignore-file
  // Written by `make methods` from the interface descriptions.
  """

/// One line for each item.
private func lines<Item>(_ items: [Item], _ line: (Item) -> String) -> String {
  items.map(line).joined(separator: "\n")
}

// MARK: - LocationWire

private func messages(_ methods: Methods) -> String {
  """
  \(header)

  import LocationPolicy
  import LocationTypes
  import TextFormats

  /// A call of a client to the service. ``CallEncoder`` (in clients) and ``CallDecoder`` (in the service) convert it
  /// to and from the JSON of Varlink.
  public enum WireCall: Equatable, Sendable {
  \(lines(methods.methods) { "  /// \($0.summary)\n  case \($0.call.declaration)" })
  }

  /// A reply of the service. ``ReplyEncoder`` (in the service) and ``ReplyDecoder`` (in clients) convert it to and from
  /// the JSON of Varlink.
  public enum WireReply: Equatable, Sendable {
    /// Success without parameters.
    case done
  \(lines(methods.replies) { reply in
    let names = reply.methods.map { "`\($0.name)`" }.joined(separator: " and ")
    return "  /// To \(names).\n  case \(reply.message.declaration)"
  })
    /// To any call that is refused.
    case error(WireError)
  }

  /// Error reply of the service to a call; the connection stays open.
  public enum WireError: Error, Equatable, Sendable {
  \(lines(methods.errors) { "  /// \($0.summary)\n  case \($0.message.declaration)" })
    /// An unknown error, by its name; decoded but never sent.
    case other(String)
  }

  \(coders(methods))

  """
}

private func coders(_ methods: Methods) -> String {
  """
  extension WireCall {
    /// Name and properties of the method.
    public var method: WireMethod {
      switch self {
  \(lines(methods.methods) { method in
    let traits = method.traits.map { "." + $0 }.joined(separator: ", ")
    return "    case .\(method.call.name): WireMethod(\"\(method.fullName)\", [\(traits)])"
  })
      }
    }

    /// Decodes a call from the full name of its method and its parameters; nil if the method is unknown.
    init?(_ name: String, _ fields: inout JSONFields) throws(WireError) {
      switch name {
  \(lines(methods.methods) { decoding($0.call, "\"\($0.fullName)\"") })
      default: return nil
      }
    }

  \(encoder(methods.methods.map(\.call)))
  }

  extension WireReply {
    /// Decodes the parameters of the reply to `call`.
    init(to call: WireCall, _ fields: inout JSONFields) throws(WireError) {
      switch call {
  \(lines(methods.replies) { reply in
    decoding(reply.message, reply.methods.map { "." + $0.call.name }.joined(separator: ", "))
  })
      default: self = .done
      }
    }

  \(encoder(methods.replies.map(\.message), "    case .error(let error): error.write(to: &json)"))
  }

  extension WireError {
    /// Full name of the error.
    public var name: String {
      switch self {
  \(lines(methods.errors) { "    case .\($0.message.name): \"\($0.fullName)\"" })
      case .other(let name): name
      }
    }

    /// Decodes the parameters of an error; nil if its name is unknown.
    init?(_ name: String, _ fields: inout JSONFields) throws(WireError) {
      switch name {
  \(lines(methods.errors) { decoding($0.message, "\"\($0.fullName)\"") })
      default: return nil
      }
    }

  \(encoder(methods.errors.map(\.message)))
  }
  """
}

/// The case of a decoder, in two lines if one would be longer than 120 characters.
private func decoding(_ message: Message, _ pattern: String) -> String {
  let line = "    case \(pattern): self = \(message.decoding)"
  return line.count <= 120
    ? line : "    case \(pattern):\n      self = \(message.decoding)"
}

private func encoder(_ messages: [Message], _ other: String...) -> String {
  """
    /// Encodes the parameters.
    func write(to json: inout JSONOutput) {
      switch self {
  \(lines(messages.filter { !$0.values.isEmpty }) { message in
    let statements = message.encoding
    return "    case \(message.pattern):"
      + (statements.count == 1 ? " \(statements[0])" : "\n" + lines(statements) { "      \($0)" })
  })
  \(lines(other + ["    default: break"]) { $0 })
      }
    }
  """
}

private func words(_ lists: [WordList]) -> String {
  """
  \(header)

  import BoardHardware
  import LocationPolicy
  import LocationTypes

  \(lines(lists, words))
  """
}

private func words(_ list: WordList) -> String {
  """
  extension \(list.type): WireEnum {
    static let wireValues: [\(list.type)] = [\(list.entries.map { "." + $0.name }.joined(separator: ", "))]

    var wireWord: StaticString {
      switch self {
  \(lines(list.entries) { "    case .\($0.name): \"\($0.word)\"" })
      }
    }
  }

  """
}

// MARK: - LocationClient

private func stubs(_ methods: Methods) -> String {
  """
  \(header)

  import LocationPolicy
  import LocationTypes
  import LocationWire

  // Methods whose reply has a value. Others are called by ``LocationCaller/call(_:)``.

  extension LocationCaller where Self: ~Copyable {
  \(lines(methods.methods.filter(\.hasStub), stub))
  }

  """
}

private func stub(_ method: Method) -> String {
  let parameters = method.call.values.map { value in
    (value.isLabelled ? "" : "_ ") + value.name + ": " + value.type
      + (value.fallback.map { " = " + $0 } ?? "")
  }.joined(separator: ", ")
  return """
      /// \(method.summary)
      public mutating func \(method.call.name)(\(parameters)) throws(ClientError) -> \(method.reply.values[0].type) {
        try result(of: .\(method.call.text(\.name))) { if case .\(method.reply.name)(let value) = $0 { value } else { nil } }
      }
    """
}

// MARK: - LocationService

private func dispatch(_ methods: Methods) -> String {
  """
  \(header)

  import LocationWire

  extension LocationServer {
    /// Calls the handler of a method, a function with the name of the call. Returns the answer; nil if there is none.
    mutating func dispatch(_ call: WireCall, from index: Int) -> PendingAnswer.Answer? {
      switch call {
  \(lines(methods.methods) { "    case \($0.call.pattern): return \(handling($0))" })
      }
    }
  }

  """
}

/// The call of a method's handler.
private func handling(_ method: Method) -> String {
  let values = method.call.values.map { ($0.isLabelled ? $0.name + ": " : "") + $0.name }
  func handler(_ arguments: String...) -> String {
    "\(method.call.name)(\((arguments + values).joined(separator: ", ")))"
  }
  let needsEngine = method.words.contains("engine")
  switch method.words[0] {
  case "client":
    return needsEngine
      ? "queryClient(from: index) { $0.\(handler("$1", "$2")) }"
      : "perform(call, from: index) { $0.\(handler("$1")) }"
  case "administrator": return "administer(call, from: index) { $0.\(handler()) }"
  default: return needsEngine ? "query { $0.\(handler("index", "$1", "$2")) }" : handler("index")
  }
}

// MARK: - Documentation

/// The table of the methods, in Markdown.
func methodTable(_ methods: Methods) -> String {
  """
  | method | caller | properties |
  |---|---|---|
  \(lines(methods.methods) { method in
    let caller = Method.callers[method.words[0]] ?? ""
    return "| `\(method.name)` | \(caller) | \(method.traits.joined(separator: ", ")) |"
  })

  """
}
