import ArgumentParser
import BoardProfiles
import Glibc

/// `torpor board new`.
struct BoardNew: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Ask for a board's figures and write its profile.",
    discussion: """
      Asks one thing after the other, on a terminal or from a pipe with an answer a line; an empty \
      answer takes what stands in brackets. Each answer is checked at once. What is written is a \
      folder with a commented profile.toml and a README.md that says which figures were given and \
      which are only proposed. Nothing is written before the last answer.

        torpor board new my-board
        torpor board new my-board --yes --set receiver.power.track_mw=70 --set board.suspended=yes
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The folder in which the board's folder is made: Boards if there is one here, else here.",
      valueName: "folder"),
    completion: .directory)
  var output: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Give a key and do not ask for it; yes or no for an optional table. May be repeated.",
      valueName: "key=value"))
  var settings: [String] = []

  @Flag(name: .shortAndLong, help: "Ask nothing: take what is proposed for all that is not set.")
  var yes = false

  @Flag(help: "Replace a profile and README that are there.")
  var force = false

  @Argument(help: "The board's name: small letters, digits and hyphens.")
  var name: String?

  func run() throws {
    var new = NewProfile()
    if let name { try set("name", name, as: "'\(name)'", in: &new) }
    for setting in settings {
      guard let mark = setting.firstIndex(of: "=") else {
        throw CommandError(
          .usage, "--set '\(setting)': expected KEY=VALUE, for instance board.idle.power_mw=500")
      }
      let value = String(setting[setting.index(after: mark)...])
      try set(String(setting[..<mark]), value, as: "--set \(setting)", in: &new)
    }
    if yes, new.name.isEmpty {
      throw CommandError(
        .usage, "--yes needs the board's name: torpor board new NAME --yes")
    }
    // Whoever will be refused at the end should not have to answer first.
    if !new.name.isEmpty { try folder(for: new).check(replacing: force) }
    if !yes { try ask(&new) }
    let folder = folder(for: new)
    try check(new, folder)
    try folder.write(new, replacing: force)
    var output = Output()
    try output.write(Array("\(folder.profile)\n\(folder.readme)\n".utf8))
    try output.finish()
    POSIX.tell(
      "torpor: look through both, then: torpor board check \(folder.profile)")
  }

  private func folder(for new: NewProfile) -> BoardFolder {
    BoardFolder(
      name: new.name, in: output ?? (POSIX.kind(of: "Boards") == .directory ? "Boards" : "."))
  }

  private func set(
    _ path: String, _ value: String, as option: String, in new: inout NewProfile
  ) throws {
    do {
      if value.isEmpty { throw NewProfile.Rejection("has no value") }
      try new.answer(path, value, alone: path != "name")
    } catch let rejection as NewProfile.Rejection {
      throw CommandError(.usage, "\(option): \(rejection.message)")
    }
  }

  /// What only all answers together can break.
  private func check(_ new: NewProfile, _ folder: BoardFolder) throws {
    do {
      _ = try new.profile(file: folder.profile)
    } catch {
      let problems = error.problems.map { "\($0.key): \($0.message)" }
      throw CommandError(
        .usage, "this is no board; nothing was written\n" + problems.joined(separator: "\n"))
    }
  }

  private func ask(_ new: inout NewProfile) throws {
    var answers = Answers()
    while let question = new.next {
      // The folder is known with the name, and a place that is taken should be told then.
      try answers.put(question) { answer in
        try new.answer(question.path, answer)
        if question.path == "name" { try folder(for: new).check(replacing: force) }
      }
    }
  }
}
