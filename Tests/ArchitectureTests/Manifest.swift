/// The module graph of a Package.swift, parsed as text.
///
/// The package manager cannot run inside a test run: it would wait for the run's own lock. The
/// manifest declares each module with one call, `LAYER.module("NAME", ["DEPENDENCY", …])`,
/// `LAYER.cModule(…)` or `LAYER.program(…)`, below a comment that describes the module.
struct Manifest {
  /// A module of `Sources`.
  struct Module: Equatable {
    var name: String
    /// The name of the layer's constant: `core`, `host`.
    var layer: String
    /// The comment above the declaration, on one line.
    var summary: String
    /// Modules of this package that it may import.
    var dependencies: [String]
    /// Products of other packages that it may import.
    var packages: [String]
  }

  /// A target of tests.
  struct Tests: Equatable {
    var name: String
    /// The name of the layer's constant.
    var layer: String
    /// The tested module and other modules that the tests may import.
    var dependencies: [String]
  }

  /// Modules, in the order of their declarations.
  let modules: [Module]
  /// Test targets, in the order of their declarations.
  let tests: [Tests]
  /// The names of the layers' constants, in the order of their declarations.
  let layers: [String]
  /// The folder of each layer, by the name of the layer's constant.
  let folders: [String: String]

  init(_ text: String) {
    var folders: [String: String] = [:]
    var layers: [String] = []
    for match in text.matches(of: /let (\w+) = Layer\(folder: "(\w+)"\)/) {
      folders[String(match.output.1)] = String(match.output.2)
      layers.append(String(match.output.1))
    }
    let declaration = /(?<name>\w+)\.(module|cModule|program)\(\s*"(?<module>[^"]+)"/
    var starts: [(Range<String.Index>, String, String)] = []
    for match in text.matches(of: declaration) where folders[String(match.output.name)] != nil {
      starts.append((match.range, String(match.output.name), String(match.output.module)))
    }
    var modules: [Module] = []
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].0.lowerBound : text.endIndex
      let arguments = Manifest.withoutComments(text[start.0.upperBound..<end])
      modules.append(
        Module(
          name: start.2, layer: start.1,
          summary: Manifest.comment(above: start.0.lowerBound, in: text),
          dependencies: Manifest.dependencies(in: arguments),
          packages: arguments.matches(of: /\.product\(name: "(\w+)"/).map { String($0.output.1) }))
    }
    self.modules = modules
    self.folders = folders
    self.layers = layers
    tests = Manifest.tests(in: text, folders)
  }

  private static func tests(in text: String, _ folders: [String: String]) -> [Tests] {
    let declaration =
      /(?<layer>\w+)\.tests\(\s*"(?<module>[^"]+)"(?:,\s*named: "(?<name>\w+)")?(?:,\s*\[(?<list>[^\]]*)\])?\)/
    return text.matches(of: declaration).filter { folders[String($0.output.layer)] != nil }.map {
      let module = String($0.output.module)
      let list = ($0.output.list ?? "").matches(of: /"([^"]+)"/).map { String($0.output.1) }
      return Tests(
        name: $0.output.name.map(String.init) ?? module + "Tests",
        layer: String($0.output.layer), dependencies: [module] + list)
    }
  }

  /// The module with this name.
  func module(_ name: String) -> Module? { modules.first { $0.name == name } }

  /// The folder of a module.
  func folder(of module: Module) -> String {
    "Sources/\(folders[module.layer] ?? "?")/\(module.name)"
  }

  /// The names of all modules that `name` needs, itself included.
  func closure(of name: String) -> Set<String> {
    var reached: Set<String> = []
    var pending = [name]
    while let next = pending.popLast() {
      guard reached.insert(next).inserted else { continue }
      pending.append(contentsOf: module(next)?.dependencies ?? [])
    }
    return reached
  }

  /// The list after the module's name: the second argument, if it is a list.
  private static func dependencies(in arguments: String) -> [String] {
    let pattern = /\s*,\s*\[(?<list>[^\]]*)\]/
    guard let match = arguments.prefixMatch(of: pattern) else { return [] }
    return match.output.list.matches(of: /"([^"]+)"/).map { String($0.output.1) }
  }

  private static func withoutComments(_ text: Substring) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
  }

  /// The text of the `///` lines directly above a position.
  private static func comment(above position: String.Index, in text: String) -> String {
    let lines = text[..<position].split(separator: "\n", omittingEmptySubsequences: false)
    var found: [String] = []
    for line in lines.dropLast().reversed() {
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("/// ") else { break }
      found.insert(String(line.dropFirst(4)), at: 0)
    }
    return found.joined(separator: " ")
  }
}
