import Foundation
import Testing

@Suite("Rules for every file")
struct RepositoryTests {
  static func everything() throws -> [Repository.File] {
    try Repository.sources()
      + Repository.files(in: ["Tests"], endings: ["swift", "c", "h"])
  }

  @Test("a function has at most 70 lines")
  func functionLength() throws {
    let files = try Self.everything().filter { $0.path.hasSuffix(".swift") }
    #expect(files.count > 300)
    for file in files {
      let long = RepositoryRules.longFunctions(in: file.text)
      #expect(long.isEmpty, "\(file.path): \(long.joined(separator: ", "))")
    }
  }

  @Test("a folder holds at most 15 Swift files")
  func folderSize() throws {
    let files = try Self.everything().filter { $0.path.hasSuffix(".swift") }
    for (folder, files) in Dictionary(grouping: files, by: \.folder) {
      #expect(files.count <= RepositoryRules.folderFiles, "\(folder): \(files.count)")
    }
  }

  @Test("a file's name describes its content")
  func fileNames() throws {
    for file in try Self.everything() {
      let stem = String(file.name.prefix { $0 != "." })
      #expect(!RepositoryRules.emptyNames.contains(stem), "\(file.path)")
      for ending in RepositoryRules.emptyEndings {
        #expect(!stem.hasSuffix(ending), "\(file.path)")
      }
    }
  }

  @Test("a suite that starts processes or waits in real time is tagged")
  func tags() throws {
    var tagged: Set<String> = []
    for file in try Repository.files(in: ["Tests"], endings: ["swift"])
    where !file.path.hasPrefix("Tests/ArchitectureTests/") {
      for suite in RepositoryRules.suites(in: file.text) {
        if suite.isTagged { tagged.insert("\(file.path.split(separator: "/")[2]).\(suite.name)") }
        let found = RepositoryRules.slowCalls(in: suite.text)
        #expect(found.isEmpty || suite.isTagged, "\(file.path): \(found)")
      }
    }
    #expect(tagged.count > 30)
    // The Makefile runs exactly the tagged suites separately.
    let listed = try Repository.output(of: [".ci/tagged-suites"]).split { $0 == "|" || $0 == "\n" }
    #expect(
      Set(listed.map { $0.replacing("\\.", with: ".").dropLast() }.map(String.init)) == tagged)
  }

  @Test("each step of the walks in the architecture page is in its file; a walk has at most 12")
  func walks() throws {
    let page = try #require(
      Repository.files(in: ["Docs"], endings: ["md"]).first { $0.path == "Docs/Architecture.md" })
    let walks = RepositoryRules.walks(in: page.text)
    #expect(walks.count == 2)
    for walk in walks {
      #expect((6...12).contains(walk.count))
      for step in walk {
        let file = try Repository.sources().first { $0.path == step.file }
        let isThere = file?.text.contains("func \(step.function)") ?? false
        #expect(isThere, "\(step.file) has no \(step.function)")
      }
    }
  }

  @Test("comments contain no marks for unfinished work")
  func noUnfinishedWork() throws {
    let marks: Set = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    let texts =
      try Self.everything() + Repository.files(in: ["Docs", "Boards"], endings: ["md", "toml"])
    for file in texts {
      let found = marks.intersection(RepositoryTests.words(file.text))
      #expect(found.isEmpty, "\(file.path): \(found.sorted().joined(separator: ", "))")
    }
  }

  @Test("Sources contain no name of a board")
  func noBoardInSources() throws {
    let boards = Repository.folders(in: "Boards")
    #expect(!boards.isEmpty, "Boards/ has no board")
    for file in try Repository.sources() {
      for board in boards where !RepositoryRules.boardNamesThatAreWords.contains(board) {
        let isNamed = file.text.lowercased().contains(board.lowercased())
        #expect(!isNamed, "\(file.path) names \(board)")
      }
    }
  }

  @Test("Sources contain no path of a developer's machine")
  func noMachinePaths() throws {
    for file in try Repository.sources() {
      for path in RepositoryRules.machinePaths {
        let exists = file.text.contains(path)
        #expect(!exists, "\(file.path): \(path)")
      }
    }
  }

  @Test("the root folder contains exactly the expected entries")
  func topLevel() throws {
    #expect(try Repository.topLevel() == RepositoryRules.topLevel)
  }

  @Test("every link in the documents has an existing target")
  func links() throws {
    var documents = try Repository.files(in: ["Docs", "Boards"], endings: ["md"])
    documents.append(.init(path: "README.md", text: try Repository.text("README.md")))
    for document in documents {
      let folder = Repository.root.appending(path: document.path).deletingLastPathComponent()
      for match in document.text.matches(of: /\]\((?<target>[^)#\s]+)(#[^)]*)?\)/) {
        let target = String(match.output.target)
        if target.contains("://") { continue }
        let exists = FileManager.default.fileExists(atPath: folder.appending(path: target).path)
        #expect(exists, "\(document.path) points to \(target)")
      }
    }
  }

  @Test("every path in pages, comments and scripts exists")
  func paths() throws {
    var texts = try Repository.files(in: ["Docs", "Boards"], endings: ["md"])
    texts += try Repository.files(in: ["Sources"], endings: ["swift", "c", "h", "py", "md"])
    texts += try Repository.files(in: [".ci"], endings: ["", "py"])
    for path in ["README.md", "Makefile"] {
      texts.append(.init(path: path, text: try Repository.text(path)))
    }
    var count = 0
    for file in texts {
      for line in file.text.split(separator: "\n") {
        for path in RepositoryRules.paths(in: line, isRename: file.name == "Renames.md") {
          count += 1
          let exists = FileManager.default.fileExists(
            atPath: Repository.root.appending(path: path).path)
          #expect(exists, "\(file.path): \(path)")
        }
      }
    }
    #expect(count > 300)
  }

  @Test("every page is linked from another page")
  func pagesAreLinked() throws {
    var documents = try Repository.files(in: ["Docs"], endings: ["md"])
    documents.append(.init(path: "README.md", text: try Repository.text("README.md")))
    for page in documents where !page.path.hasPrefix("Docs/Decisions/") {
      let name = page.path.split(separator: "/").last ?? ""
      if name == "README.md" { continue }
      let isLinked = documents.contains { other in
        other.path != page.path
          && (other.text.contains("(\(name)") || other.text.contains("/\(name)"))
      }
      #expect(isLinked, "\(page.path)")
    }
  }

  static func words(_ text: String) -> Set<String> {
    Set(text.split { !$0.isWordCharacter }.map(String.init))
  }
}
