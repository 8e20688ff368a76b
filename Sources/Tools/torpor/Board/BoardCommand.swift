import ArgumentParser
import BoardProfiles

/// `torpor board`.
struct BoardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board",
    abstract: "List, show, check and make board profiles.",
    discussion: """
      A board profile says what a board and its receiver can do and what they draw. To describe \
      your own, be asked for it, look it through, and check it:

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
    abstract: "List the boards there are.",
    discussion: """
      They are looked for in the folder that TORPOR_BOARDS names, else in Boards near the program \
      and near the working directory.
      """)

  @Flag(help: "One JSON object a line: name, summary, profile.")
  var json = false

  func run() throws {
    let catalog = try BoardCatalog.standard()
    var output = Output()
    var text = TextBuffer()
    var writer = JSONWriter()
    let names = try catalog.names()
    let width = names.map(\.count).max() ?? 0
    var broken: [ProfileErrors] = []
    for name in names {
      do {
        let summary = try catalog.find(name).summary
        writer.begin()
        writer.member("name", name)
        writer.member("summary", summary)
        writer.member("profile", catalog.profilePath(of: name))
        writer.end()
        let mark = name == BoardCatalog.defaultBoard ? " (default)" : ""
        text.add(name + String(repeating: " ", count: width - name.count + 2))
        text.add("\(summary)\(mark)\n")
      } catch { broken.append(error) }
    }
    try output.write(json ? writer.text.bytes : text.bytes)
    try output.finish()
    // The others are of use all the same.
    for errors in broken { POSIX.tell(errors.description) }
    if !broken.isEmpty { throw ExitCode(ProfileErrors.exitCode) }
  }
}

/// `torpor board show`.
struct BoardShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all values of a board with their units and meaning.",
    discussion: "What is printed is itself a profile: defaults are written out.")

  @Flag(help: "One JSON object: name, and key, value, unit, meaning of every setting.")
  var json = false

  @Argument(help: "A board's name, or the path of a profile or of its folder.")
  var board = BoardCatalog.defaultBoard

  func run() throws {
    let profile = try BoardProfile.named(board)
    var output = Output()
    try output.write(json ? ProfilePrinter.json(profile) : ProfilePrinter.text(profile))
    try output.finish()
  }
}

/// `torpor board check`.
struct BoardCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check board profiles.",
    discussion: """
      Each problem is told on standard error as FILE:LINE:COLUMN: key: what is wrong. The exit \
      code is 78 when there is one, 66 where files are only not there or not to be read. Without \
      an argument all boards are checked.
      """)

  @Flag(help: "One JSON object a line for each problem and each profile.")
  var json = false

  @Argument(
    help: "Names of boards, or paths of profiles or of their folders.", completion: .file())
  var boards: [String] = []

  func run() throws {
    let named = try boards.isEmpty ? BoardCatalog.standard().names() : boards
    var output = Output()
    var worst: Int32 = 0
    for board in named {
      var lines = JSONWriter()
      do {
        let file = try BoardProfile.file(named: board)
        let profile = try BoardProfile.named(board)
        ProfilePrinter.write(board, file: file, nil, to: &lines)
        let place = file == board ? "" : " (\(file))"
        try output.write(
          json ? lines.text.bytes : Array("\(board): \(profile.name) is fine\(place)\n".utf8))
      } catch let errors as ProfileErrors {
        worst = max(worst, errors.exitCode)
        ProfilePrinter.write(board, errors, to: &lines)
        if json { try output.write(lines.text.bytes) } else { POSIX.tell(errors.description) }
      }
    }
    try output.finish()
    if worst > 0 { throw ExitCode(worst) }
  }
}

extension BoardProfile {
  /// The board of that name, or the profile at that path; a path needs no folder of boards.
  static func named(_ name: String) throws -> BoardProfile { try catalog(for: name).find(name) }

  /// The file of the board of that name, or of the profile at that path.
  static func file(named name: String) throws -> String { try catalog(for: name).file(of: name) }

  private static func catalog(for name: String) throws -> BoardCatalog {
    if BoardCatalog.isPath(name) { return BoardCatalog(directory: "Boards") }
    do { return try BoardCatalog.standard() } catch {
      guard BoardCatalog.localFile(of: name) != nil else { throw error }
      return BoardCatalog(directory: "Boards")
    }
  }
}
