import ArgumentParser

/// `torpor manual`: the manual page, made of what `--help` says. For `make man`.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the manual page in troff, for `make man`.", shouldDisplay: false)

  func run() throws {
    var output = Output()
    try output.write(Array(ManualPage.text.utf8))
    try output.finish()
  }
}

/// The manual page torpor(1), in the macros of man(7).
///
/// All of it but its frame is the help of each command: what `--help` gains, the page gains.
enum ManualPage {
  /// The page.
  static var text: String {
    var page = ManualText()
    page.add(#".TH TORPOR 1 "\#(Torpor.date)" "torpor \#(Torpor.version)" "User Commands""#)
    page.section("NAME")
    page.fill("torpor \\- \(page.escaped(abstract(Torpor.self)))")
    page.section("SYNOPSIS")
    for (index, command) in commands.enumerated() {
      if index > 0 { page.add(".br") }
      page.usage(Help(command).usage)
    }
    page.section("DESCRIPTION")
    page.prose(Help(Torpor.self).discussion)
    page.section("COMMANDS")
    for command in commands { describe(command, &page) }
    frame(&page)
    return page.text
  }

  /// Every command that is shown and has no commands below it.
  static var commands: [any ParsableCommand.Type] { leaves(Torpor.self) }

  private static func leaves(
    _ command: any ParsableCommand.Type
  ) -> [any ParsableCommand.Type] {
    let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    return below.isEmpty ? [command] : below.flatMap(leaves)
  }

  private static func abstract(_ command: any ParsableCommand.Type) -> String {
    let text = command.configuration.abstract
    return (text.first?.lowercased() ?? "") + text.dropFirst().trimmed(".")
  }

  private static func describe(_ command: any ParsableCommand.Type, _ page: inout ManualText) {
    let help = Help(command)
    page.add(".SS \"\(page.escaped(help.name))\"")
    page.prose([help.overview] + [""] + help.discussion)
    for item in help.items {
      page.add(".TP")
      page.bold(item.label)
      page.fill(page.escaped(item.text))
    }
  }

  private static func frame(_ page: inout ManualText) {
    page.section("EXIT STATUS")
    page.item("0", "It did what was asked.")
    for code in CommandError.Code.allCases { page.item("\(code.rawValue)", code.meaning) }
    page.item("130, 143", "It was interrupted, by SIGINT or SIGTERM.")
    page.section("ENVIRONMENT")
    page.item("TORPOR_BOARDS", "The folder of board profiles; else they are looked for in Boards.")
    page.item("TORPOR_SOCKET", "The socket of the service, where --socket is not given.")
    page.item("NO_COLOR", "No colour on a terminal, if it is set to anything.")
    page.section("SEE ALSO")
    page.line("gpsd(8), gpsd_json(5), stty(1)")
  }
}

/// What the help of a command says, taken to pieces.
struct Help {
  /// An argument or option, and what it is about.
  struct Item: Equatable {
    var label: String
    var text: String
  }

  /// How the command is called, `torpor board show`.
  private(set) var name = ""
  /// Its first sentence.
  private(set) var overview = ""
  /// The lines that follow it.
  private(set) var discussion: [String] = []
  /// How it is called with its options.
  private(set) var usage = ""
  /// Arguments and options.
  private(set) var items: [Item] = []

  /// Takes the help of `command` to pieces.
  init(_ command: any ParsableCommand.Type) {
    // So wide that no line is broken.
    let lines = Torpor.helpMessage(for: command, columns: 1_000_000).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    var isListing = false
    for line in lines {
      if line.hasPrefix("OVERVIEW: ") {
        overview = String(line.dropFirst("OVERVIEW: ".count))
      } else if line.hasPrefix("USAGE: ") {
        usage = String(line.dropFirst("USAGE: ".count))
      } else if ["ARGUMENTS:", "OPTIONS:"].contains(line) {
        isListing = true
      } else if line == "SUBCOMMANDS:" {
        break
      } else if isListing {
        list(line)
      } else if usage.isEmpty {
        discussion.append(line)
      }
    }
    name = usage.split(separator: " ").prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }
      .joined(separator: " ")
  }

  /// A label and its text on one line, or the text of a long label on the next one.
  private mutating func list(_ line: String) {
    let isLabel = line.hasPrefix("  ") && !line.hasPrefix("   ")
    if !isLabel {
      let text = line.trimmed(" ")
      if !text.isEmpty, !items.isEmpty { items[items.count - 1].text += text }
      return
    }
    let core = line.dropFirst(2)
    let end = core.firstRange(of: "  ")?.lowerBound ?? core.endIndex
    items.append(Item(label: String(core[..<end]), text: String(core[end...]).trimmed(" ")))
  }
}

/// A manual page in the making.
struct ManualText {
  /// What was written so far.
  private(set) var text = ""

  /// Adds a line of troff.
  mutating func add(_ line: String) { text += line + "\n" }

  /// Adds a line of text that is escaped already, as it stands.
  mutating func line(_ line: some StringProtocol) {
    // A point at a line's start would begin a request.
    add(line.hasPrefix(".") ? "\\&" + line : String(line))
  }

  /// Adds text that is escaped already, in lines of at most 80 bytes where its words allow.
  mutating func fill(_ text: String) {
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > 79 {
        self.line(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " " + word
    }
    if !line.isEmpty { self.line(line) }
  }

  /// Begins a section.
  mutating func section(_ name: String) { add(".SH \(name)") }

  /// Adds words in bold.
  mutating func bold(_ words: String) { add(".B \"\(escaped(words))\"") }

  /// Adds a word and what it means.
  mutating func item(_ label: String, _ meaning: String) {
    add(".TP")
    bold(label)
    fill(escaped(meaning))
  }

  /// Adds how a command is called, its name in bold.
  mutating func usage(_ usage: String) {
    let words = usage.split(separator: " ")
    let name = words.prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }
    bold(name.joined(separator: " "))
    fill(escaped(words.dropFirst(name.count).joined(separator: " ")))
  }

  /// Adds paragraphs; what is indented is shown as it stands.
  mutating func prose(_ lines: [String]) {
    for (index, part) in lines.split(separator: "").enumerated() {
      // A section begins a paragraph by itself.
      if index > 0 { add(".PP") }
      let isLiteral = part.allSatisfy { $0.hasPrefix("  ") }
      if isLiteral { add(".in +4n\n.nf") }
      for line in part {
        if isLiteral { self.line(escaped(String(line.dropFirst(2)))) } else { fill(escaped(line)) }
      }
      if isLiteral { add(".fi\n.in") }
    }
  }

  /// `text` with the marks of troff made harmless, so that it can be copied from the page.
  func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "\"": result += "\\(dq"
      default: result.append(character)
      }
    }
    return result
  }
}

extension StringProtocol {
  /// Without `mark` at either end.
  fileprivate func trimmed(_ mark: Character) -> String {
    var core = self[...]
    while core.first == mark { core = core.dropFirst() }
    while core.last == mark { core = core.dropLast() }
    return String(core)
  }
}
