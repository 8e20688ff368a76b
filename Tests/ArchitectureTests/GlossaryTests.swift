import Testing

@Suite("Glossary: one term per concept, and no forbidden synonym")
struct GlossaryTests {
  static func glossary() throws -> Glossary { Glossary(try Repository.text("Docs/Glossary.md")) }

  @Test("the glossary has at least 120 terms, sorted, each once, with definition and source")
  func table() throws {
    let rows = try Self.glossary().rows
    #expect(rows.count >= 120)
    let terms = rows.map { $0.term.lowercased() }
    #expect(terms == terms.sorted())
    #expect(Set(terms).count == terms.count)
    for row in rows {
      #expect(row.definition.count > 15, "\(row.term)")
      #expect(!row.source.isEmpty, "\(row.term)")
    }
  }

  @Test("no text, comment or identifier has a word that the glossary forbids")
  func forbiddenWords() throws {
    let forbidden = try Self.glossary().forbidden
    #expect(forbidden.count >= 60)
    var files = try Repository.files(
      in: ["Sources", "Tests", "Boards", "Docs"],
      endings: ["swift", "c", "h", "hpp", "cpp", "py", "sh", "md", "toml"])
    files += try Repository.files(
      in: ["packaging", ".ci"],
      endings: ["py", "sh", "toml", "conf", "service", "8", "default", ""])
    for path in ["README.md", "Makefile", "Package.swift"] {
      files.append(.init(path: path, text: try Repository.text(path)))
    }
    #expect(files.count > 600)
    for file in files
    where !Glossary.exemptPaths.contains(file.path) && !file.path.hasPrefix("Tests/Snapshots/") {
      let found = Glossary.violations(in: file.text, forbidden: forbidden)
        .filter { !Glossary.isInterfaceName($0.word, in: file.path) }
      #expect(
        found.isEmpty,
        "\(file.path): \(found.map { "\($0.word) (line \($0.line))" }.joined(separator: ", "))")
    }
  }

  @Test("the search finds whole words, parts of identifiers, and phrases across lines")
  func checker() {
    let forbidden: Set = ["heard", "for it is"]
    let text = "was heard\nlet hasHeard = unheard\nHEARD_AT for it\n/// is"
    let found = Glossary.violations(in: text, forbidden: forbidden)
    #expect(found.map(\.line) == [1, 2, 3, 3])
    #expect(found.map(\.word) == ["heard", "heard", "heard", "for it is"])
    #expect(Glossary.violations(in: "unheard, heardless", forbidden: forbidden).isEmpty)
  }
}
