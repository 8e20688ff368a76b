import ArgumentParser
import BoardProfiles
import Glibc

/// `torpor board new`: prompts for the values of a board and writes its folder.
struct BoardNew: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Prompt for the values of a board and write its profile.",
    discussion: """
      Prompts for one value after the other, on a terminal or from a pipe with one answer a line; \
      an empty answer accepts the value in brackets. Each answer is checked immediately. The \
      result is a folder with a commented profile.toml and a README.md that lists which values were \
      given and which are only proposed. Nothing is written before the last answer.

        torpor board new my-board
        torpor board new my-board --yes --set receiver.power.track_mw=70 --set board.suspended=yes
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The folder in which to create the board's folder; if not given, Boards in the working "
        + "directory if that exists, else the working directory.",
      valueName: "folder"),
    completion: .directory)
  var output: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set a key instead of prompting for it; yes or no for an optional table. May be repeated.",
      valueName: "key=value"))
  var settings: [String] = []

  @Flag(
    name: .shortAndLong,
    help: "Do not prompt: use the proposed value for every unset key.")
  var yes = false

  @Flag(help: "Replace an existing profile and README.")
  var force = false

  @Argument(help: "The board's name: lower-case letters, digits and hyphens.")
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
    // Check the folder before the questions, not only after them.
    if !new.name.isEmpty { try folder(for: new).check(replacing: force) }
    if !yes { try ask(&new) }
    let folder = folder(for: new)
    try check(new, folder)
    try folder.write(new, replacing: force)
    try Output.print("\(folder.profile)\n\(folder.readme)\n")
    POSIX.printError(
      "torpor: review both files, then run: torpor board check \(folder.profile)")
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
      try new.answer(path, value, deferringRules: path != "name")
    } catch let rejection as NewProfile.Rejection {
      throw CommandError(.usage, "\(option): \(rejection.message)")
    }
  }

  /// Checks the rules that involve several keys.
  private func check(_ new: NewProfile, _ folder: BoardFolder) throws {
    do {
      _ = try new.profile(file: folder.profile)
    } catch {
      let problems = error.problems.map { "\($0.key): \($0.message)" }
      throw CommandError(
        .usage,
        "these values contradict each other; no file was written\n"
          + problems.joined(separator: "\n"))
    }
  }

  private func ask(_ new: inout NewProfile) throws {
    var answers = AnswerPrompt()
    while let question = new.next {
      // The name determines the folder: report an existing folder before the next question.
      try answers.ask(question) { answer in
        try new.answer(question.path, answer)
        if question.path == "name" { try folder(for: new).check(replacing: force) }
      }
    }
  }
}
