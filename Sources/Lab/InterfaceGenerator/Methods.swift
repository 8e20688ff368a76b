/// A method with its call and its reply in Swift.
struct Method {
  /// Full name, with the interface.
  var fullName: String
  /// First sentence of the comment.
  var summary: String
  /// Who may call the method, and its properties: words of ``callers`` and ``traits``.
  var words: [String]
  var call: Message
  var reply: Message

  /// Words for who may call a method, as the documentation names them.
  static let callers = [
    "open": "any", "client": "a session", "administrator": "an administrator",
  ]
  /// Words for properties of a method: those of `WireMethod.Traits`, and whether the answer needs the engine.
  static let traits = ["durable", "charged", "silent", "more", "upgrade", "engine"]

  /// Name without the interface.
  var name: Substring { fullName.split(separator: ".").last ?? "" }
  /// The properties that the code queries.
  var traits: [String] { Method.traits.dropLast().filter(words.contains) }
  /// Whether the only value of the reply answers the call completely.
  var hasStub: Bool {
    reply.values.count == 1 && !words.contains("more") && !words.contains("upgrade")
  }
}

/// The methods, errors and enumerations of all interfaces of the service.
struct Methods {
  private(set) var methods: [Method] = []
  private(set) var wordLists: [WordList] = []
  private(set) var errors: [(fullName: String, summary: String, message: Message)] = []
  /// Distinct replies with values, each with the methods that have it.
  private(set) var replies: [(message: Message, methods: [Method])] = []

  init(_ texts: [String]) throws(GeneratorError) {
    for text in texts {
      let interface = try VarlinkInterface(text)
      for declaration in interface.declarations {
        for annotation in declaration.annotations where annotation.hasPrefix("words ") {
          wordLists.append(try WordList(String(annotation.dropFirst(6)), of: declaration))
        }
        guard declaration.keyword != "type" else { continue }
        try add(declaration, "\(interface.name).\(declaration.name)")
      }
    }
  }

  private mutating func add(
    _ declaration: VarlinkInterface.Declaration, _ fullName: String
  ) throws(GeneratorError) {
    let name = camelCase(declaration.name)
    let end = declaration.comment.firstRange(of: ". ")?.lowerBound
    let summary = end.map { declaration.comment[..<$0] + "." } ?? declaration.comment
    guard declaration.keyword == "method" else {
      let message = try Message(
        declaration.annotation("error") ?? "\(name)()", members: declaration.members)
      return errors.append((fullName, summary, message))
    }
    let words = declaration.annotations.first?.split(separator: " ").map(String.init) ?? []
    guard let caller = words.first, Method.callers[caller] != nil else {
      throw GeneratorError(reason: "no annotation says who may call '\(declaration.name)'")
    }
    if let unknown = words.dropFirst().first(where: { !Method.traits.contains($0) }) {
      throw GeneratorError(reason: "'\(unknown)' of '\(declaration.name)' is unknown")
    }
    let method = Method(
      fullName: fullName, summary: summary, words: words,
      call: try Message(
        declaration.annotation("call") ?? "\(name)()", members: declaration.members),
      reply: try Message(
        declaration.annotation("reply") ?? "done()", members: declaration.results))
    methods.append(method)
    guard !method.reply.values.isEmpty else { return }
    let index = replies.firstIndex { $0.message.name == method.reply.name } ?? replies.count
    if index == replies.count { replies.append((method.reply, [])) }
    guard replies[index].message == method.reply else {
      throw GeneratorError(reason: "two replies have the name '\(method.reply.name)'")
    }
    replies[index].methods.append(method)
  }
}
