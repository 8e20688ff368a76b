import TestSupport
import Testing

@Suite("Modules import only what Package.swift declares")
struct ImportTests {
  static let manifest = Result { Manifest(try Repository.text("Package.swift")) }

  @Test("the folders of each layer are its modules")
  func folders() throws {
    let manifest = try Self.manifest.get()
    #expect(Set(manifest.folders.keys) == Set(RepositoryRules.layersBelow.keys))
    #expect(Set(Repository.folders(in: "Sources")) == Set(manifest.folders.values))
    for (layer, folder) in manifest.folders {
      let modules = Set(manifest.modules.filter { $0.layer == layer }.map(\.name))
      // The mutation tests, the example store and the Python programs that train the exit network are not built.
      let folders = Set(Repository.folders(in: "Sources/\(folder)"))
        .subtracting(["Training", "Mutation", "Store"])
      #expect(modules == folders, "\(folder)")
    }
  }

  @Test("modules import only what Package.swift declares", arguments: try Repository.swiftSources())
  func imports(_ file: Repository.File) throws {
    let module = try #require(try Self.manifest.get().module(file.module), "\(file.path)")
    let violations = RepositoryRules.violations(of: module, imports: SwiftText(file.text).imports)
    #expect(violations.isEmpty, "\(file.path) may not import \(violations.joined(separator: ", "))")
  }

  @Test("tests import only declared dependencies and what these need")
  func importsOfTests() throws {
    let manifest = try Self.manifest.get()
    #expect(manifest.tests.count > 20)
    for tests in manifest.tests {
      let folder = "Tests/\(manifest.folders[tests.layer] ?? "?")/\(tests.name)"
      let files = try Repository.files(in: [folder], endings: ["swift"])
      #expect(!files.isEmpty, "\(folder)")
      var allowed = RepositoryRules.importsOfTests
      for dependency in tests.dependencies + ["LocationWire"] {
        allowed.formUnion(manifest.closure(of: dependency))
        allowed.formUnion(manifest.module(dependency)?.packages ?? [])
      }
      for file in files {
        let missing = SwiftText(file.text).imports.filter { !allowed.contains($0) }
        #expect(missing.isEmpty, "\(file.path) imports \(missing)")
      }
    }
  }

  @Test("no module depends on a layer that it may not use")
  func layers() throws {
    let manifest = try Self.manifest.get()
    #expect(manifest.modules.count > 30)
    for module in manifest.modules {
      let violations = RepositoryRules.layerViolations(of: module, in: manifest)
      #expect(violations.isEmpty, "\(module.name) may not depend on \(violations)")
    }
  }

  @Test("the core uses no other package")
  func coreIsClosed() throws {
    for module in try Self.manifest.get().modules where module.layer == "core" {
      #expect(module.packages.isEmpty, "\(module.name)")
    }
  }

  @Test("engine and HAL are independent of each other")
  func engineAndHALApart() throws {
    let manifest = try Self.manifest.get()
    #expect(!manifest.closure(of: "LocationEngine").contains("LocationHAL"))
    #expect(!manifest.closure(of: "LocationHAL").contains("LocationEngine"))
  }

  @Test("only LocationRuntime imports both engine and HAL, apart from the lab")
  func onlyTheLoopImportsBoth() throws {
    var imports: [String: Set<String>] = [:]
    for file in try Repository.swiftSources() where !file.path.hasPrefix("Sources/Lab/") {
      imports[file.module, default: []].formUnion(SwiftText(file.text).imports)
    }
    let both = imports.filter { $0.value.isSuperset(of: ["LocationEngine", "LocationHAL"]) }
    #expect(Set(both.keys) == ["LocationRuntime"])
  }

  @Test("the simulated HAL does not depend on the engine, and sends it only bytes")
  func simulatedHALIsIndependent() throws {
    let needed = try Self.manifest.get().closure(of: "SimulatedHAL")
    #expect(needed.isDisjoint(with: ["LocationEngine", "LocationPolicy", "ReceiverDrivers"]))
  }

  @Test("RNG-5: only policy, engine, modules that run them and the doctor read the ring")
  func ringIsNotForClients() throws {
    let readers: Set = [
      "LocationPolicy", "LocationEngine", "LocationRuntime", "LocationSimulation", "TorporBench",
      "LocationService", "DecoderProperties", "PayloadSize", "TorporSoak", "BoardDoctor",
    ]
    let named = try Self.manifest.get().modules.filter {
      $0.dependencies.contains("DeferralCache")
    }
    #expect(Set(named.map(\.name)) == readers)
  }

  @Test("there are no circular dependencies")
  func noCircularDependencies() throws {
    let manifest = try Self.manifest.get()
    for module in manifest.modules {
      for dependency in module.dependencies {
        #expect(!manifest.closure(of: dependency).contains(module.name), "\(module.name)")
      }
    }
  }

  @Test("the core's C includes only its own headers")
  func coreCIncludesNothing() throws {
    let files = try Repository.sources().filter { $0.path.hasPrefix("Sources/Core/CCore/") }
    let headers = Set(files.map(\.name).filter { $0.hasSuffix(".h") })
    #expect(!headers.isEmpty)
    for file in files {
      #expect(RepositoryRules.includes(in: file.text, except: headers).isEmpty, "\(file.path)")
    }
    for file in try Repository.sources() where file.path.hasPrefix("Sources/Core/") {
      #expect(file.path.hasSuffix(".swift") || file.module == "CCore", "\(file.path)")
    }
  }

  @Test("the network's weights are constants, without variables and start-up code")
  func weightsAreConstant() throws {
    let text = try Repository.text("Sources/Core/CCore/ExitWeights.c")
    for line in text.split(separator: "\n") where line.first?.isLetter == true {
      #expect(RepositoryRules.isConstantOrAccess(line), "\(line)")
    }
  }

  @Test("the core uses no keyword that Embedded Swift does not support")
  func coreWords() throws {
    let files = try Repository.swiftSources().filter { $0.path.hasPrefix("Sources/Core/") }
    #expect(files.count > 50)
    for file in files {
      let words = RepositoryRules.notInTheCore.intersection(SwiftText(file.text).tokens)
      #expect(words.isEmpty, "\(file.path): \(words.sorted().joined(separator: ", "))")
    }
  }

  @Test("the table of modules in Docs/Architecture.md is generated from Package.swift")
  func architectureTable() throws {
    let manifest = try Self.manifest.get()
    for module in manifest.modules { #expect(!module.summary.isEmpty, "\(module.name)") }
    let difference = differenceFromGeneratedPart(
      of: "Docs/Architecture.md", named: "modules", ModuleTable(manifest).text)
    #expect(difference == nil, "\(difference ?? "")")
  }
}

/// The modules as a table in Markdown.
struct ModuleTable {
  let text: String

  init(_ manifest: Manifest) {
    var lines = ["| module | purpose | may import |", "|---|---|---|"]
    for layer in manifest.layers {
      lines.append("| **`Sources/\(manifest.folders[layer] ?? "?")`** | | |")
      for module in manifest.modules where module.layer == layer {
        let dependencies = (module.dependencies + module.packages).map { "`\($0)`" }
        let list = dependencies.isEmpty ? "–" : dependencies.joined(separator: ", ")
        lines.append("| `\(module.name)` | \(module.summary) | \(list) |")
      }
    }
    text = lines.joined(separator: "\n") + "\n"
  }
}
