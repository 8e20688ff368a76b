import Testing

@Suite("The checkers see what they must")
struct CheckerTests {
  @Test(
    "an import in any dress",
    arguments: [
      ("import Glibc", ["Glibc"]),
      ("@testable import LocationEngine", ["LocationEngine"]),
      ("public import LocationTypes", ["LocationTypes"]),
      ("@_implementationOnly import Foundation", ["Foundation"]),
      ("@_spi(Internals) @preconcurrency import A", ["A"]),
      ("@_exported\nimport B", ["B"]),
      ("import struct Foundation.Date", ["Foundation"]),
      ("import Foundation.NSDate", ["Foundation"]),
      ("#if canImport(Dispatch)\n  import Dispatch\n#endif", ["Dispatch"]),
      ("import A; import B", ["A", "B"]),
      ("\timport   A // import B", ["A"]),
      ("import /* of */ A", ["A"]),
      ("import `A`", ["A"]),
    ])
  func seesImports(_ source: String, _ modules: [String]) {
    #expect(SwiftText(source).imports == modules)
  }

  @Test(
    "what only looks like an import",
    arguments: [
      "// import Foundation", "/* import A /* import B */ import C */", "\"import Foundation\"",
      "\"\"\"\nimport Foundation\n\"\"\"", "#\"a \" import Foundation\"#", "let important = 1",
      "file.import(1)", "func `import`() {}", "\"a \\\" import B\"",
    ])
  func seesNoImport(_ source: String) {
    #expect(SwiftText(source).imports == [])
  }

  @Test("an import beyond the table is a violation")
  func violations() {
    let room = HouseRules.Room(rooms: ["A"], products: ["P"], system: ["S"])
    #expect(
      HouseRules.violations(of: room, imports: ["A", "B", "P", "S", "Swift", "Foundation"])
        == ["B", "Foundation"])
    let withC = HouseRules.Room(system: ["Glibc"])
    #expect(HouseRules.violations(of: withC, imports: ["Musl", "Foundation"]) == ["Foundation"])
    let core = HouseRules.rooms["LocationEngine"] ?? HouseRules.Room()
    for module in ["Foundation", "Glibc", "Musl", "Dispatch", "Synchronization", "LocationHAL"] {
      #expect(HouseRules.violations(of: core, imports: [module]) == [module])
    }
  }

  @Test("C includes its own header alone, and constants are told from variables")
  func constants() {
    let text = "// #include is a word\n#include \"A.h\"\n #  include <math.h>\nint a;\n"
    #expect(HouseRules.includes(in: text, but: "\"A.h\"") == [" #  include <math.h>"])
    #expect(HouseRules.includes(in: text, but: "\"B.h\"").count == 2)
    #expect(HouseRules.isConstantOrAccess("static const float weights[] = {"))
    #expect(HouseRules.isConstantOrAccess("const float *torpor_exit_weights(int has_line) {"))
    for line in ["static float a[2];", "float b;", "void start(void) {", "const float *other()"] {
      #expect(!HouseRules.isConstantOrAccess(line))
    }
    #expect(HouseRules.isTraining(.init(path: "Sources/Core/CExitWeights/Training/a.c", text: "")))
    #expect(!HouseRules.isTraining(.init(path: "Sources/Core/CExitWeights/weights.c", text: "")))
  }

  @Test("reach follows every step and ends in a circle")
  func reach() {
    let table: [String: Set] = ["A": ["B"], "B": ["C", "A"], "C": [], "D": ["A"]]
    #expect(HouseRules.reach(of: "A", in: table) == ["A", "B", "C"])
    #expect(HouseRules.reach(of: "D", in: table) == ["A", "B", "C", "D"])
    #expect(HouseRules.reach(of: "C", in: table) == ["C"])
  }

  @Test("a manifest gives rooms, packages and no tests")
  func manifest() {
    let manifest = Manifest(
      """
      let package = Package(name: "P", products: [.library(name: "L", targets: ["A"])], targets: [
        .target(name: "A"), // .target(name: "Z")
        .target(
          name: "B", dependencies: ["A", .target(name: "X"), .product(name: "Q", package: "q")],
          swiftSettings: strict),
        .executableTarget(name: "C", dependencies: ["B"], swiftSettings: [.define("N")]),
        .testTarget(name: "BTests", dependencies: ["B"]),
      ])
      """)
    #expect(manifest.targets["A"] == [])
    #expect(manifest.targets["B"] == ["A", "X"])
    #expect(manifest.products["B"] == ["Q"])
    #expect(manifest.targets["C"] == ["B"])
    #expect(manifest.targets["BTests"] == nil && manifest.targets["Z"] == nil)
  }

  @Test("names of tests are read, other strings are not")
  func testNames() {
    let text = SwiftText(
      """
      @Suite("a suite") struct S {
        @Test("DEF-1: none") func a() { call("DEF-2") }
        @Test(
          "DEF-3, DEF-4: both", arguments: ["DEF-5"]) func b() {}
        // @Test("DEF-6: gone")
        @Test func c() {}
      }
      """)
    #expect(text.testNames == ["a suite", "DEF-1: none", "DEF-3, DEF-4: both"])
  }

  @Test("numbers are cited whole, and statements are read with their mark")
  func contractText() {
    #expect(
      ContractText.citations(in: "(DEF-1…35, RNG-2) XDEF-7 UBX-8 DEF-x") == ["DEF-1", "RNG-2"])
    let contract = ContractText("- ● DEF-1 one\n- ○ DEF-2 two\ntext DEF-3\n- DEF-4 none\n")
    #expect(contract.statements.map(\.number) == ["DEF-1", "DEF-2"])
    #expect(contract.statements.map(\.isKept) == [true, false])
  }

  @Test("a recipe ends where the next target begins")
  func makefile() {
    let text = MakefileText("ROOMS := A B\na: b\n\t@one\n\ttwo\n\nb:\n\tthree\n")
    #expect(text.variable("ROOMS") == ["A", "B"])
    #expect(text.recipe("a") == ["\t@one", "\ttwo"])
    #expect(text.recipe("b") == ["\tthree"])
    #expect(text.recipe("c") == [])
  }
}
