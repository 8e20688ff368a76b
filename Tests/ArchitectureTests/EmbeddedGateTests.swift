import Testing

@Suite("The Embedded build covers the core")
struct EmbeddedGateTests {
  @Test("the Embedded build includes every module of the core")
  func coversTheCore() throws {
    let makefile = try Repository.text("Makefile")
    let modules = try #require(MakefileText(makefile).variable("EMBEDDED_MODULES"))
    let manifest = Manifest(try Repository.text("Package.swift"))
    var reached: Set<String> = []
    for module in modules { reached.formUnion(manifest.closure(of: module)) }
    #expect(reached == Set(manifest.modules.filter { $0.layer == "core" }.map(\.name)))
  }

  @Test("`make test` runs the Embedded build, which refuses allocations")
  func isAGate() throws {
    let makefile = MakefileText(try Repository.text("Makefile"))
    let embedded = makefile.recipe("embedded").joined(separator: "\n")
    #expect(embedded.contains(#""-enable-experimental-feature","Embedded""#))
    #expect(embedded.contains(#""-no-allocations""#))
    #expect(makefile.recipe("test").contains { $0.hasSuffix(" .ci/test") })
    let all = try gates(of: "test")
    for gate in ["lint", "embedded", "tests", "process-tests", "firmware", "boards", "soaked"] {
      #expect(all.contains(gate), "make test: \(gate)")
    }
    #expect(makefile.recipe("check").contains { $0.hasSuffix(" .ci/test check") })
    #expect(try gates(of: "check") == ["tools", "unit", "lint", "embedded"])
    for gate in all { #expect(!makefile.recipe(gate).isEmpty, "make \(gate)") }
    #expect(makefile.recipe("lint").contains { $0.contains("format lint --parallel --strict") })
    for gate in ["tests", "process-tests"] {
      #expect(makefile.recipe(gate).contains { $0.contains("$(SWIFT) test") }, "make \(gate)")
    }
    #expect(makefile.recipe("boards").contains { $0.contains(".ci/check-boards") })
  }

  /// The gates that `.ci/test` runs for `what`, in their order there.
  private func gates(of what: String) throws -> [String] {
    let script = try Repository.text(".ci/test")
    let pattern = try Regex("\n  \(what)\\)\n    first=\\(([^)]*)\\)\n    lanes=\\(([^)]*)\\)")
    let match = try #require(script.firstMatch(of: pattern))
    return [1, 2].flatMap {
      (match[$0].substring ?? "").split { " '".contains($0) }.map(String.init)
    }
  }

  @Test("the firmware has the same modules, and its build fails on a heap")
  func firmware() throws {
    let makefile = MakefileText(try Repository.text("Makefile"))
    #expect(
      makefile.recipe("firmware").contains { $0.hasSuffix(".ci/firmware $(EMBEDDED_MODULES)") })
    let script = try Repository.text(".ci/firmware")
    for symbol in ["posix_memalign", "malloc", "free", "swift_(", "allocObject", "retain"] {
      #expect(script.contains(symbol), "\(symbol)")
    }
    #expect(script.contains(" -no-allocations"))
  }

  @Test("continuous integration runs `make test`")
  func continuousIntegration() throws {
    #expect(try Repository.text(".ci/run").contains("\nmake test "))
  }
}

/// The parts of a Makefile that these tests need.
struct MakefileText {
  private let lines: [Substring]

  init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false) }

  /// The words of `NAME := …`.
  func variable(_ name: String) -> [String]? {
    lines.first { $0.hasPrefix("\(name) :=") }
      .map { $0.dropFirst(name.count + 3).split(separator: " ").map(String.init) }
  }

  /// The command lines of a target.
  func recipe(_ target: String) -> [String] {
    guard let start = lines.firstIndex(where: { $0.hasPrefix("\(target):") }) else { return [] }
    return lines[(start + 1)...].prefix { $0.hasPrefix("\t") }.map(String.init)
  }
}
