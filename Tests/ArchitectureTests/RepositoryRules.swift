import Foundation

/// Rules beyond Package.swift: which layers and system modules a module may use; rules for files.
enum RepositoryRules {
  /// The layers that the modules of a layer may depend on, besides their own.
  static let layersBelow: [String: Set<String>] = [
    "core": [],
    "host": ["core"],
    "profiles": ["core", "host"],
    "service": ["core", "host", "profiles"],
    "simulation": ["core", "host", "profiles"],
    "tools": ["core", "host", "profiles", "service", "simulation"],
    "examples": ["service"],
    "lab": ["core", "host", "profiles", "service", "simulation"],
  ]

  /// The C library, by its name on each system.
  static let cLibraries: Set<String> = ["Glibc", "Musl", "Darwin"]

  /// Modules of the compiler; every module may import them.
  static let builtIn: Set<String> = ["Swift"]

  /// Larger modules of the system, with the modules that may import them.
  static let systemModules: [String: Set<String>] = [
    "Foundation": ["CoreLocation", "LocationSimulation", "torpor"],
    "Dispatch": ["CoreLocation"],
    "Synchronization": ["CoreLocation"],
  ]

  /// Words that may not occur in the core.
  ///
  /// The Embedded build rejects most features that need a heap, but accepts these.
  static let notInTheCore: Set<String> = [
    "Codable", "Encodable", "Decodable", "class", "actor", "async", "await",
    "_silgen_name", "_extern", "_cdecl",
  ]

  /// The entries of the repository's root folder.
  static let topLevel: Set<String> = [
    "Package.swift", "Sources", "Tests", "Boards", "Docs", "README.md", "LICENSE", "Makefile",
    ".swift-format", ".gitignore", ".ci", "packaging",
  ]

  /// Largest number of lines of a Swift function, from its declaration to its closing brace.
  static let functionLines = 70

  /// Largest number of Swift files in one folder.
  static let folderFiles = 15

  /// File names that do not describe the content.
  static let emptyNames: Set<String> = ["Machines", "Words", "Values", "Text", "System"]

  /// Endings of file names that split a type by length.
  static let emptyEndings = ["+More", "+Events", "+Values"]

  /// Boards whose name is also a common word.
  static let boardNamesThatAreWords: Set<String> = ["simulated"]

  /// Prefixes of paths on a developer's machine.
  static let machinePaths = ["/work/", "/home/", "/root/", "/tmp/", "/opt/", "/Users/"]

  /// Modules that any test may import, in addition to the dependencies of `TestSupport`.
  static let importsOfTests = builtIn.union(cLibraries).union([
    "Testing", "TestSupport", "Foundation", "Dispatch", "Synchronization",
  ])

  /// The imports of a module that are not allowed.
  static func violations(of module: Manifest.Module, imports: [String]) -> [String] {
    imports.filter { imported in
      !module.dependencies.contains(imported) && !module.packages.contains(imported)
        && !builtIn.contains(imported)
        && !(module.layer != "core" && cLibraries.contains(imported))
        && !(systemModules[imported]?.contains(module.name) ?? false)
    }
  }

  /// The dependencies of a module that its layer does not allow.
  static func layerViolations(of module: Manifest.Module, in manifest: Manifest) -> [String] {
    let allowed = (layersBelow[module.layer] ?? []).union([module.layer])
    return module.dependencies.filter { name in
      guard let other = manifest.module(name) else { return true }
      return !allowed.contains(other.layer)
    }
  }

  /// The lines of C that include something other than a header of the module.
  static func includes(in text: String, except own: Set<String>) -> [Substring] {
    text.split(separator: "\n").filter { line in
      let line = line.drop { $0 == " " || $0 == "\t" }
      guard line.hasPrefix("#"), line.contains("include") else { return false }
      return !own.contains { line.contains("\"\($0)\"") }
    }
  }

  /// Whether an unindented line of C begins a constant, or the function that returns the constants.
  static func isConstantOrAccess(_ line: some StringProtocol) -> Bool {
    line.hasPrefix("static const ") || line.hasPrefix("const float *torpor_exit_weights(")
  }

  /// Calls that start a process or wait in real time, including helpers of the tests.
  private static let slowCalls = [
    "Command.run(", "builtProgram(", "usleep(", "Task.sleep(", "nanosleep(", "posix_spawn",
    "openpty",
    "Process()", "TestGroup(", "FakeLine(", "FakeService {", "FakeService(", "Running(",
  ]

  /// The slow calls in a text.
  static func slowCalls(in text: Substring) -> [String] {
    slowCalls.filter { call in
      text.ranges(of: call).contains { range in
        guard range.lowerBound > text.startIndex else { return true }
        let before = text[text.index(before: range.lowerBound)]
        return !before.isWordCharacter
      }
    }
  }

  /// A suite of a test file.
  struct Suite {
    /// The type's name.
    var name: String
    /// Whether it has a tag for processes or real time.
    var isTagged: Bool
    /// The text from its attribute to the unindented closing brace.
    var text: Substring
  }

  /// The suites of a file.
  static func suites(in text: String) -> [Suite] {
    text.split(separator: /(?:^|\n)(?:@\w+ )*@Suite\(/).dropFirst().map { part in
      let text = part.firstRange(of: "\n}").map { part[..<$0.lowerBound] } ?? part
      let head = text.prefix { $0 != "{" }
      let name = head.firstMatch(of: /(?:struct|class|enum|actor) +(\w+)/)?.output.1
      return Suite(
        name: String(name ?? "?"),
        isTagged: head.contains(/\.tags\([^)]*\.(process|realTime)/), text: text)
    }
  }

  /// A step of a walk through the code: a file and the beginning of a function's declaration in it.
  struct WalkStep: Equatable {
    var file: String
    var function: String
  }

  /// The walks of a page: tables with the columns file, function and what happens.
  static func walks(in text: String) -> [[WalkStep]] {
    var walks: [[WalkStep]] = []
    var isInWalk = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let cells = line.split(separator: "|").map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      if cells.first == "file", cells.dropFirst().first == "function" {
        isInWalk = true
        walks.append([])
      } else if cells.count < 3 {
        isInWalk = false
      } else if isInWalk, !cells[0].hasPrefix("-") {
        walks[walks.count - 1].append(WalkStep(file: cells[0], function: cells[1]))
      }
    }
    return walks
  }

  /// The paths below `Sources` and `Tests` in a line.
  ///
  /// A line of Docs/Renames.md has old paths first: there, only paths after an arrow or from the
  /// second column of a table on count.
  static func paths(in line: Substring, isRename: Bool) -> [String] {
    // Most lines have none, and the expression below is slow.
    guard line.contains("Sources/") || line.contains("Tests/") else { return [] }
    var line = line
    if isRename {
      if line.hasPrefix("#") { return [] }
      if let arrow = line.firstRange(of: "→") {
        line = line[arrow.upperBound...]
      } else if line.hasPrefix("| ") {
        line = line.dropFirst(2).drop { $0 != "|" }
      }
    }
    return line.matches(of: /(?:Sources|Tests)\/[A-Za-z0-9_\/+.-]*[A-Za-z0-9]/).compactMap {
      match in
      // A path before a placeholder is incomplete: `Sources/LAYER/…`.
      let next = line[match.range.upperBound...].first
      return next == "…" || next == "<" || next == "/" ? nil : String(match.output)
    }
  }

  /// Functions with more lines than allowed, as `name: lines`.
  ///
  /// A function begins at its declaration and ends at the closing brace with the same indentation,
  /// as swift-format writes it. A requirement of a protocol has no brace. Computed properties,
  /// subscripts and deinitializers count as functions.
  static func longFunctions(in text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let head = /(?:^|\s)(func\s+\S+?|init[?]?|subscript|deinit|var\s+\w+)\s*[(<:{]/
    var found: [String] = []
    var open: (name: String, indentation: Int, line: Int)?
    for (number, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      let code = line.dropFirst(indentation)
      if let function = open {
        guard indentation == function.indentation, !code.isEmpty else { continue }
        let isOver = code == "}" || code.hasPrefix(")") && !code.hasSuffix("{")
        guard isOver else { continue }
        let length = number - function.line + 1
        // A `where` clause with the brace may follow a line with only a parenthesis.
        let next = number + 1 < lines.count ? lines[number + 1] : ""
        if code != "}", next.contains("where ") { continue }
        if code == "}", length > functionLines { found.append("\(function.name): \(length)") }
        open = nil
      } else if let match = code.firstMatch(of: head), !code.hasPrefix("//"),
        code.hasSuffix("{") || code.hasSuffix("("), !code.contains(" = ")
      {
        open = (String(match.output.1), indentation, number)
      }
    }
    return found
  }
}
