import ArgumentParser

/// `torpor swift-flags`: prints how to compile a program that imports CoreLocation.
struct SwiftFlagsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swift-flags",
    abstract: "Print the compiler options for programs that import CoreLocation.",
    discussion: """
      For programs and packages that import CoreLocation and do not name this project's package as \
      a dependency. The module must have been built on this machine, with its compiler, by \
      `install-swift`; without --prefix the command searches the folder in which this command is \
      installed, then /usr/local and ~/.local.

        swiftc main.swift -o trail-log $(torpor swift-flags)

        swift build --toolset $(torpor swift-flags --toolset)
      """)

  @Flag(help: "Print the path of the toolset for `swift build --toolset` instead.")
  var toolset = false

  @Option(
    help: ArgumentHelp("The prefix that was given to `install-swift`.", valueName: "folder"),
    completion: .directory)
  var prefix: String?

  func run() throws {
    let prefixes = prefix.map { [$0] } ?? SwiftPrefix.searched
    let found = try SwiftPrefix.first(in: prefixes)
    try Output.print(toolset ? Array("\(found.toolset)\n".utf8) : found.flags())
  }
}

/// A folder into which `install-swift` has installed the module CoreLocation.
struct SwiftPrefix {
  /// Path of the folder.
  let folder: String

  /// Path of the toolset for the package manager.
  var toolset: String { "\(folder)/toolset.json" }

  /// The compiler options, as one line.
  ///
  /// - Throws: ``CommandError`` if the file cannot be read.
  func flags() throws -> [UInt8] {
    var file = try InputFile("\(folder)/flags", expected: "compiler options")
    return try file.readAll(limit: 65_536)
  }

  /// The prefixes that are searched, in this order.
  static var searched: [String] {
    var prefixes = ["/usr/local"]
    if let own { prefixes.insert(own, at: 0) }
    if let home = POSIX.environment("HOME") { prefixes.append("\(home)/.local") }
    return prefixes
  }

  /// The prefix in which this command is installed, the parent of its folder `bin`; nil if it is elsewhere.
  private static var own: String? {
    guard let program = POSIX.programPath else { return nil }
    let parts = program.split(separator: "/")
    guard parts.dropLast().last == "bin" else { return nil }
    return "/" + parts.dropLast(2).joined(separator: "/")
  }

  /// The installed module of the first prefix that has one.
  ///
  /// - Throws: ``CommandError`` with code 66 if none has one.
  static func first(in prefixes: [String]) throws(CommandError) -> SwiftPrefix {
    for prefix in prefixes {
      let found = SwiftPrefix(folder: "\(prefix)/lib/torpor/swift")
      if POSIX.kind(of: found.toolset) == .regular { return found }
    }
    throw CommandError(.noInput, missing(in: prefixes))
  }

  private static func missing(in prefixes: [String]) -> String {
    let installer = own.map { "\($0)/share/torpor/swift/install-swift" } ?? ""
    let command = POSIX.kind(of: installer) == .regular ? "sudo \(installer)" : "make install-swift"
    return "there is no Swift module CoreLocation in \(prefixes.joined(separator: ", ")): "
      + "build it for this machine's compiler with `\(command)`"
  }
}
