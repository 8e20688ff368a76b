import TestSupport
import Testing

@testable import InterfaceGenerator

@Suite("The generator of the calls from the interface description")
struct GeneratorTests {
  private static func file(_ path: String) -> String {
    String(decoding: TestSupport.readFile("\(packageRoot)/\(path)"), as: UTF8.self)
  }

  private static func parsed(_ declarations: String) throws -> Methods {
    try Methods(["interface a.b\n\n" + declarations])
  }

  @Test("the checked-in files are those that `make methods` writes")
  func checkedIn() throws {
    let methods = try Methods(interfacePaths.map(Self.file))
    for (path, text) in generatedFiles(methods) {
      #expect(Self.file(path) == text, "\(path): run `make methods`")
    }
    let difference = differenceFromGeneratedPart(
      of: "Docs/Reference/socket.md", named: "methods", methodTable(methods))
    #expect(difference == nil, "\(difference ?? "")")
  }

  @Test("a method has a name, properties, a call, a reply and the first sentence of its comment")
  func method() throws {
    let methods = try Self.parsed(
      """
      # An unrelated comment.

      type Place (x: int)

      # Finds a place. A second sentence.
      #@ open engine charged durable
      #@ call find(near: Place, limit: Int64?)
      #@ reply found(_ place: Place?)
      method FindPlace(
        near: Place,
        limit: ?int
      ) -> (place: ?Place)

      # No place is known.
      #@ error noPlace(_ what: String)
      error NoPlace (what: string)

      error Nothing ()

      #@ client
      method DoIt() -> ()
      """)
    let method = try #require(methods.methods.first)
    #expect(method.fullName == "a.b.FindPlace" && method.summary == "Finds a place.")
    #expect(method.words == ["open", "engine", "charged", "durable"])
    #expect(method.traits == ["durable", "charged"])
    #expect(method.call.declaration == "find(near: Place, limit: Int64?)")
    #expect(method.reply.declaration == "found(Place?)")
    #expect(methods.methods.last?.call.declaration == "doIt")
    #expect(methods.methods.last?.reply.declaration == "done")
    #expect(methods.errors.map(\.message.declaration) == ["noPlace(String)", "nothing"])
    #expect(methods.errors.map(\.fullName) == ["a.b.NoPlace", "a.b.Nothing"])
  }

  @Test("an annotation gives labels, types, defaults, conditions and types of several members")
  func annotated() throws {
    let message = try Message(
      "add(_ shape: Circle..., width width_m: Double = Limits.width, _ kind: Kind ?? .plain, "
        + "name: String where Names.isValid, after: Moment?)",
      members: [
        .init(name: "x"), .init(name: "width_m", isOptional: true),
        .init(name: "kind", isOptional: true), .init(name: "name"),
        .init(name: "after", isOptional: true),
      ])
    #expect(
      message.declaration
        == "add(Circle, width: Double = Limits.width, Kind, name: String, after: Moment?)")
    #expect(
      message.pattern == ".add(let shape, let width, let kind, let name, let after)")
    #expect(
      message.decoding
        == #".add(try Circle(&fields), width: try fields.read("width_m", else: Limits.width), "#
        + #"try fields.read("kind", else: .plain), "#
        + #"name: try fields.read("name", where: Names.isValid), "#
        + #"after: try fields.read("after"))"#)
    #expect(
      message.encoding == [
        "shape.write(to: &json)", #"json.write("width_m", width, unless: Limits.width)"#,
        #"json.write("kind", kind)"#, #"json.write("name", name)"#, #"json.write("after", after)"#,
      ])
  }

  @Test(
    "a mistake is an error",
    arguments: [
      ("method A() -> ()", "no annotation says who may call 'A'"),
      ("#@ owner\nmethod A() -> ()", "no annotation says who may call 'A'"),
      ("#@ open durabel\nmethod A() -> ()", "'durabel' of 'A' is unknown"),
      ("#@ open\nmethod A(x: Place) -> ()", "'a()' lacks 'x'"),
      ("#@ open\nmethod A() -> (x: int)", "'done()' lacks 'x'"),
      ("#@ open\n#@ call a(x)\nmethod A(x: int) -> ()", "'x' is not a value"),
      ("#@ open\n#@ call a\nmethod A() -> ()", "'a' is not a case"),
      ("#@ open\n#@ call a(_ y: Int)\nmethod A(x: int) -> ()", "'y' is no member"),
      ("#@ open\n#@ call a(x: Int)\nmethod A(x: int, y: int) -> ()", "'a(x: Int)' lacks 'y'"),
      (
        "#@ open\n#@ call a(x: Int)\nmethod A(x: ?int) -> ()",
        "'x' must be optional in both declarations or in none"
      ),
      (
        "#@ open\n#@ call a(x: Int?)\nmethod A(x: int) -> ()",
        "'x' must be optional in both declarations or in none"
      ),
      (
        "#@ open\n#@ reply x(x: Int)\nmethod A() -> (x: int)\n\n"
          + "#@ open\n#@ reply x(x: Bool)\nmethod B() -> (x: bool)",
        "two replies have the name 'x'"
      ),
      ("function A()", "'function A()' is not a declaration"),
      ("#@ open\nmethod A() ()", "'method A() ()' is not a declaration"),
      ("error A (x int)", "'x int' is not a member"),
    ])
  func mistakes(_ declarations: String, _ reason: String) {
    #expect(throws: GeneratorError(reason: reason)) { try Self.parsed(declarations) }
  }

  @Test("methods with the same reply share its case")
  func sharedReply() throws {
    let methods = try Self.parsed(
      """
      #@ client
      #@ reply x(x: Int)
      method A() -> (x: int)

      #@ administrator
      #@ reply x(x: Int)
      method B() -> (x: int)

      #@ client
      method C() -> ()
      """)
    #expect(methods.replies.map { $0.methods.map(\.name) } == [["A", "B"]])
    #expect(methods.methods.map(\.reply.name) == ["x", "x", "done"])
  }

  @Test("the words of an enumeration are those of a type, of a member, or of the annotation")
  func words() throws {
    let methods = try Self.parsed(
      """
      #@ words Shape
      #@ words Level: topMost = top
      type Shape (round, not_round, top)

      #@ words Mode of mode: flat = 2d
      #@ words Part of parts
      type Record (mode: string, parts: (first_part: int, other: float), n: int)

      #@ client
      #@ call open(_ kind: Kind?)
      #@ words Kind of kind: other = extra
      method Open(kind: ?(new, old)) -> ()
      """)
    let found = methods.wordLists.map { list in
      (list.type, list.entries.map { "\($0.name)=\($0.word)" })
    }
    #expect(found.map(\.0) == ["Shape", "Level", "Mode", "Part", "Kind"])
    #expect(found[0].1 == ["round=round", "notRound=not_round", "top=top"])
    #expect(found[1].1 == ["round=round", "notRound=not_round", "topMost=top"])
    #expect(found[2].1 == ["flat=2d"])
    #expect(found[3].1 == ["firstPart=first_part", "other=other"])
    #expect(found[4].1 == ["new=new", "old=old", "other=extra"])
    #expect(throws: GeneratorError.self) {
      try Self.parsed("#@ words Kind of size\ntype Record (n: int)")
    }
    #expect(throws: GeneratorError.self) {
      try Self.parsed("#@ words Kind of n\ntype Record (n: int)")
    }
  }
}
