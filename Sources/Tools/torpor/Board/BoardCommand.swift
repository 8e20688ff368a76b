import ArgumentParser
import BoardProfiles
import TextFormats

/// `torpor board`: the group of commands for board profiles.
struct BoardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board",
    abstract: "List, show, check and create board profiles.",
    discussion: """
      A board profile describes the capabilities and the power consumption of a board and its \
      receiver. To describe your own board, answer the questions of `new`, review the profile, and \
      check it:

        torpor board new my-board
        torpor board check my-board/profile.toml
        torpor simulate --board my-board/profile.toml
      """,
    subcommands: [BoardList.self, BoardShow.self, BoardCheck.self, BoardNew.self]
  )
}

/// `torpor board list`.
struct BoardList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List all boards.",
    discussion: """
      Boards are searched for in the folder that TORPOR_BOARDS names, else in the folder Boards \
      near the program and near the working directory.
      """)

  @Flag(help: "Print one JSON object a line: name, summary, profile.")
  var json = false

  func run() throws {
    let catalog = try BoardCatalog.standard()
    var text = TextBuffer()
    var writer = JSONOutput()
    let names = try catalog.names()
    let width = names.map(\.count).max() ?? 0
    var failures: [ProfileErrors] = []
    for name in names {
      do {
        let summary = try catalog.find(name).summary
        writer.line { writer in
          writer.member("name", name)
          writer.member("summary", summary)
          writer.member("profile", catalog.profilePath(of: name))
        }
        let mark = name == BoardCatalog.defaultBoard ? " (default)" : ""
        text.add(name + String(repeating: " ", count: width - name.count + 2))
        text.add("\(summary)\(mark)\n")
      } catch { failures.append(error) }
    }
    try Output.print(json ? writer.bytes : text.bytes)
    // Valid profiles are listed even if others are invalid.
    for errors in failures { POSIX.printError(errors.description) }
    if !failures.isEmpty { throw ExitCode(ProfileErrors.exitCode) }
  }
}

/// `torpor board show`.
struct BoardShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all values of a board profile with their units and meaning.",
    discussion: "The output is itself a valid profile, with all defaults written out.")

  @Flag(help: "Print one JSON object: name, and key, value, unit, meaning of every setting.")
  var json = false

  @Argument(help: "A board's name, or the path of a profile or of its folder.")
  var board = BoardCatalog.defaultBoard

  func run() throws {
    let profile = try BoardProfile.named(board)
    try Output.print(json ? ProfilePrinter.json(profile) : ProfilePrinter.text(profile))
  }
}

/// `torpor board check`.
struct BoardCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check board profiles.",
    discussion: """
      Each problem is printed on standard error as FILE:LINE:COLUMN: key: problem. The exit code \
      is 78 if a profile has a problem, 66 if the only problem is that files are missing or cannot \
      be read. Without an argument, all boards are checked.
      """)

  @Flag(help: "Print one JSON object a line for each problem and each profile.")
  var json = false

  @Argument(
    help: "Names of boards, or paths of profiles or of their folders.", completion: .file())
  var boards: [String] = []

  func run() throws {
    let named = try boards.isEmpty ? BoardCatalog.standard().names() : boards
    var output = Output()
    var worst: Int32 = 0
    for board in named {
      var lines = JSONOutput()
      do {
        let file = try BoardProfile.file(named: board)
        let profile = try BoardProfile.named(board)
        ProfilePrinter.write(board, file: file, nil, to: &lines)
        let suffix = file == board ? "" : " (\(file))"
        try output.write(
          json ? lines.text.bytes : Array("\(board): \(profile.name) is valid\(suffix)\n".utf8))
      } catch let errors as ProfileErrors {
        worst = max(worst, errors.exitCode)
        ProfilePrinter.write(board, errors, to: &lines)
        if json { try output.write(lines.text.bytes) } else { POSIX.printError(errors.description) }
      }
    }
    try output.finish()
    if worst > 0 { throw ExitCode(worst) }
  }
}

extension BoardProfile {
  /// The profile of the board with this name, or at this path; a path works without a board catalogue.
  ///
  /// - Throws: `ProfileErrors`.
  static func named(_ name: String) throws -> BoardProfile { try catalog(for: name).find(name) }

  /// The path of the profile of the board with this name, or at this path.
  ///
  /// - Throws: `ProfileErrors`.
  static func file(named name: String) throws -> String { try catalog(for: name).file(of: name) }

  private static func catalog(for name: String) throws -> BoardCatalog {
    if BoardCatalog.isPath(name) { return BoardCatalog(directory: "Boards") }
    do { return try BoardCatalog.standard() } catch {
      guard BoardCatalog.localFile(of: name) != nil else { throw error }
      return BoardCatalog(directory: "Boards")
    }
  }
}
