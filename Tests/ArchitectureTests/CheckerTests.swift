import Testing

@Suite("Tests of the checkers")
struct CheckerTests {
  @Test(
    "every form of an import is found",
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
  func findsImports(_ source: String, _ modules: [String]) {
    #expect(SwiftText(source).imports == modules)
  }

  @Test(
    "text that is not an import is ignored",
    arguments: [
      "// import Foundation", "/* import A /* import B */ import C */", "\"import Foundation\"",
      "\"\"\"\nimport Foundation\n\"\"\"", "#\"a \" import Foundation\"#", "let important = 1",
      "file.import(1)", "func `import`() {}", "\"a \\\" import B\"",
    ])
  func findsNoImport(_ source: String) {
    #expect(SwiftText(source).imports == [])
  }

  /// A small package, with a violation of each kind.
  private static let manifest = Manifest(
    """
    let core = Layer(folder: "Core")
    let host = Layer(folder: "Host")
    let modules = [
      /// A [page](A.md).
      core.cModule("A", libraries: ["m"]),
      /// The first line
      /// and the second.
      core.module("B", ["A"], settings: lifetimes),
      /// C.
      host.program(
        "C",
        [
          // A comment with "Z".
          "A", "B",
        ],
        packages: [.product(name: "Q", package: "q")]),
      /// D.
      core.module("D", ["C"]),
      core.tests("B", ["C"]),
      host.tests("C", named: "OtherTests"),
    ]
    """)

  @Test("a manifest is parsed into modules, layers, dependencies, comments and tests")
  func manifest() {
    #expect(
      Self.manifest.modules == [
        .init(name: "A", layer: "core", summary: "A [page](A.md).", dependencies: [], packages: []),
        .init(
          name: "B", layer: "core", summary: "The first line and the second.", dependencies: ["A"],
          packages: []),
        .init(name: "C", layer: "host", summary: "C.", dependencies: ["A", "B"], packages: ["Q"]),
        .init(name: "D", layer: "core", summary: "D.", dependencies: ["C"], packages: []),
      ])
    #expect(Self.manifest.folders == ["core": "Core", "host": "Host"])
    #expect(Self.manifest.layers == ["core", "host"])
    #expect(
      Self.manifest.tests == [
        .init(name: "BTests", layer: "core", dependencies: ["B", "C"]),
        .init(name: "OtherTests", layer: "host", dependencies: ["C"]),
      ])
    #expect(Self.manifest.closure(of: "C") == ["A", "B", "C"])
  }

  @Test("an import that the manifest does not declare is a violation")
  func violations() throws {
    let program = try #require(Self.manifest.module("C"))
    #expect(
      RepositoryRules.violations(
        of: program, imports: ["A", "D", "Q", "Musl", "Swift", "Foundation"])
        == ["D", "Foundation"])
    let core = try #require(Self.manifest.module("B"))
    for module in ["Foundation", "Glibc", "Musl", "Dispatch", "Synchronization", "C"] {
      #expect(RepositoryRules.violations(of: core, imports: [module]) == [module])
    }
    let command = Manifest.Module(
      name: "torpor", layer: "tools", summary: "", dependencies: [], packages: [])
    #expect(RepositoryRules.violations(of: command, imports: ["Foundation"]) == [])
  }

  @Test("a dependency on a layer above is a violation")
  func layers() throws {
    for name in ["A", "B", "C"] {
      let module = try #require(Self.manifest.module(name))
      #expect(RepositoryRules.layerViolations(of: module, in: Self.manifest) == [])
    }
    let module = try #require(Self.manifest.module("D"))
    #expect(RepositoryRules.layerViolations(of: module, in: Self.manifest) == ["C"])
  }

  @Test("includes of C are found, and constants are distinguished from variables")
  func constants() {
    let text = "// #include is a word\n#include \"A.h\"\n #  include <math.h>\nint a;\n"
    #expect(RepositoryRules.includes(in: text, except: ["A.h"]) == [" #  include <math.h>"])
    #expect(RepositoryRules.includes(in: text, except: ["B.h"]).count == 2)
    #expect(RepositoryRules.isConstantOrAccess("static const float weights[] = {"))
    #expect(RepositoryRules.isConstantOrAccess("const float *torpor_exit_weights(int has_line) {"))
    for line in ["static float a[2];", "float b;", "void start(void) {", "const float *other()"] {
      #expect(!RepositoryRules.isConstantOrAccess(line))
    }
  }

  @Test("a function with 71 lines is too long")
  func longFunctions() {
    func function(_ lines: Int, _ head: String = "func long()") -> String {
      "struct A {\n  \(head) {\n"
        + String(repeating: "    if a {\n    }\n", count: (lines - 2) / 2)
        + (lines % 2 == 1 ? "    b()\n" : "") + "  }\n\n  func short() {\n  }\n}\n"
    }
    #expect(RepositoryRules.longFunctions(in: function(70)) == [])
    #expect(RepositoryRules.longFunctions(in: function(71)) == ["func long: 71"])
    #expect(RepositoryRules.longFunctions(in: function(72, "init(a: Int)")) == ["init: 72"])
    let requirements = "protocol P {\n  func a() -> B\n  func c(\n    d: E\n  ) -> F\n"
    #expect(RepositoryRules.longFunctions(in: requirements + function(70)) == [])
    #expect(RepositoryRules.longFunctions(in: function(71, "var long: Int")) == ["var long: 71"])
    #expect(
      RepositoryRules.longFunctions(in: function(71, "subscript(a: Int)")) == ["subscript: 71"])
    let wide = "func wide(\n    a: Int\n  )"
    #expect(RepositoryRules.longFunctions(in: function(70, wide)) == ["func wide: 72"])
  }

  @Test("names of tests are found, other strings are ignored")
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

  @Test("citations are complete numbers, and statements are parsed with their mark")
  func contractText() {
    #expect(
      ContractText.citations(in: "(DEF-1…35, RNG-2) XDEF-7 UBX-8 DEF-x PWR-3a AUT-4-LOC-5")
        == ["DEF-1", "RNG-2", "AUT-4", "LOC-5"])
    let contract = ContractText("- ● DEF-1 one\n- ○ DEF-2 two\ntext DEF-3\n- DEF-4 none\n")
    #expect(contract.statements.map(\.number) == ["DEF-1", "DEF-2"])
    #expect(contract.statements.map(\.isImplemented) == [true, false])
  }

  @Test("a recipe ends at the next target")
  func makefile() {
    let text = MakefileText("MODULES := A B\na: b\n\t@one\n\ttwo\n\nb:\n\tthree\n")
    #expect(text.variable("MODULES") == ["A", "B"])
    #expect(text.recipe("a") == ["\t@one", "\ttwo"])
    #expect(text.recipe("b") == ["\tthree"])
    #expect(text.recipe("c") == [])
  }

  @Test("paths are found; of a rename only the new one")
  func paths() {
    #expect(
      RepositoryRules.paths(in: "in `Sources/A/b.swift` and Tests/C.", isRename: false)
        == ["Sources/A/b.swift", "Tests/C"])
    #expect(RepositoryRules.paths(in: "`Sources/…`, Tests/*", isRename: false) == [])
    #expect(RepositoryRules.paths(in: "- `a` → `Sources/B`", isRename: true) == ["Sources/B"])
    #expect(
      RepositoryRules.paths(in: "| `Sources/A` | `Sources/B` |", isRename: true) == ["Sources/B"])
    #expect(RepositoryRules.paths(in: "### `Sources/A`", isRename: true) == [])
  }

  @Test("suites are parsed up to the end of their type, with their tags")
  func suites() {
    let text =
      "import A\n\n@Suite(\"a\")\nstruct B {\n  c()\n}\n\nd()\n"
      + "@Suite(\"e\", .tags(.process), .serialized) @MainActor struct F {\n}\n"
      + "@MainActor @Suite(\"g\", .tags(.other, .realTime))\nfinal class H {\n}\n"
    let suites = RepositoryRules.suites(in: text)
    #expect(suites.map(\.name) == ["B", "F", "H"])
    #expect(suites.map(\.isTagged) == [false, true, true])
    #expect(suites[0].text.contains("c()") && !suites[0].text.contains("d()"))
  }
}
