import TestSupport
import Testing

@Suite("The options for programs that import CoreLocation", .tags(.process))
struct SwiftFlagsTests {
  @Test("swift-flags prints the options or the toolset of a prefix")
  func installed() {
    let folder = TestFolder()
    folder.makeFolders("lib/torpor/swift")
    folder.write(Array("-I here -L here\n".utf8), to: "lib/torpor/swift/flags")
    folder.write(Array("{}\n".utf8), to: "lib/torpor/swift/toolset.json")
    let flags = Command.run(["swift-flags", "--prefix", folder.path])
    #expect(flags.status == 0 && flags.output == "-I here -L here\n", "\(flags.errors)")
    let toolset = Command.run(["swift-flags", "--toolset", "--prefix", folder.path])
    #expect(toolset.output == "\(folder.path)/lib/torpor/swift/toolset.json\n")
  }

  @Test("without the module, swift-flags names the command that builds it")
  func absent() {
    let result = Command.run(["swift-flags", "--prefix", "/nowhere"])
    #expect(result.status == 66 && result.output.isEmpty)
    #expect(result.errors.contains("no Swift module CoreLocation in /nowhere"))
    #expect(result.errors.contains("`make install-swift`"), "\(result.errors)")
  }
}
