import Foundation
import TestSupport
import Testing

/// Links a program with a static archive of the module, as `make install-swift` installs it: from an archive the linker
/// takes only the files that the program refers to.
@Suite("A program linked with the archive of CoreLocation", .tags(.process))
struct StaticArchiveTests {
  /// The modules of the archive (`TORPOR_SWIFT` in Package.swift).
  private static let modules = [
    "BoardHardware", "CCore", "CCoreLocation", "CLinux", "CoreLocation", "DeferralCache",
    "FoundationCompatibility", "LocationClient", "LocationPolicy", "LocationTypes", "LocationWire",
    "TextFormats",
  ]

  /// Prints the name of a thread that runs asynchronous code.
  private static let source = """
    import CoreLocation
    let manager = CLLocationManager()
    Task {
      print(try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8), terminator: "")
      exit(0)
    }
    RunLoop.main.run()
    """

  /// The folder of the built modules.
  private static let build = String(
    builtProgram("CoreLocationProbe").dropLast("/CoreLocationProbe".count))

  /// Runs a program of the Swift toolchain.
  private func run(_ arguments: [String]) -> Command.Result {
    Command.run(arguments, program: "/usr/bin/env")
  }

  /// Archives the object files of the modules.
  private func archive(to path: String) throws {
    var objects: [String] = []
    for module in Self.modules {
      let folder = "\(Self.build)/\(module).build"
      let files = try #require(FileManager.default.enumerator(atPath: folder))
      objects += files.compactMap { $0 as? String }.filter { $0.hasSuffix(".o") }
        .map { "\(folder)/\($0)" }
    }
    let result = run(["ar", "rcs", path] + objects)
    #expect(result.status == 0, "\(result.errors)")
  }

  /// Options that name the map of each module in C.
  private static let maps = modules.flatMap { module -> [String] in
    let own = "\(packageRoot)/Sources/Service/\(module)/include/module.modulemap"
    let generated = "\(build)/\(module).build/module.modulemap"
    guard let map = [own, generated].first(where: { FileManager.default.fileExists(atPath: $0) })
    else { return [] }
    return ["-Xcc", "-fmodule-map-file=\(map)"]
  }

  @Test(
    "the linker keeps the constructor that sets the hooks of Swift's executor",
    arguments: [[], ["-static-stdlib"]])
  func constructor(_ options: [String]) throws {
    let folder = Command.directory()
    try archive(to: "\(folder)/libCoreLocation.a")
    Command.write(Array(Self.source.utf8), to: "\(folder)/main.swift")
    let compiled = run(
      [
        "swiftc", "\(folder)/main.swift", "-o", "\(folder)/program", "-I", "\(Self.build)/Modules",
        "\(folder)/libCoreLocation.a", "-lm",
      ] + options + Self.maps)
    #expect(compiled.status == 0, "\(compiled.errors)")
    let result = run(["TORPOR_SOCKET=/nowhere/socket", "\(folder)/program"])
    #expect(result.status == 0 && result.output == "swift-pool\n", "\(result.errors)")
  }

  @Test(
    "a file of a build with the toolset has autoreleasepool, and prefers one of its package",
    arguments: [false, true])
  func autoreleasePool(_ hasOwn: Bool) throws {
    let script = String(
      decoding: readFile("\(packageRoot)/packaging/install-swift"), as: UTF8.self)
    let option = #/\\"-Xfrontend\\", \\"-import-module\\", \\"-Xfrontend\\", \\"(\w+)\\"/#
    let imported = try #require(script.firstMatch(of: option)).output.1
    let folder = Command.directory()
    // Of another module of the package, like the imported one.
    let own = """
      @_alwaysEmitIntoClient
      public func autoreleasepool<E: Error, R: ~Copyable>(
        invoking body: () throws(E) -> R
      ) throws(E) -> R {
        print("own")
        return try body()
      }
      """
    Command.write(Array(own.utf8), to: "\(folder)/own.swift")
    let source = (hasOwn ? "import Own\n" : "") + "print(autoreleasepool { 5 })\n"
    Command.write(Array(source.utf8), to: "\(folder)/main.swift")
    let module = run([
      "swiftc", "-emit-module", "-parse-as-library", "-module-name", "Own", "\(folder)/own.swift",
      "-o", "\(folder)/Own.swiftmodule",
    ])
    #expect(module.status == 0, "\(module.errors)")
    let compiled = run([
      "swiftc", "\(folder)/main.swift", "-o", "\(folder)/program", "-I", "\(Self.build)/Modules",
      "-I", folder, "-Xfrontend", "-import-module", "-Xfrontend", String(imported),
    ])
    #expect(compiled.status == 0, "\(compiled.errors)")
    #expect(run(["\(folder)/program"]).output == (hasOwn ? "own\n5\n" : "5\n"))
  }
}
