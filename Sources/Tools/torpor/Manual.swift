import ArgumentParser

/// `torpor manual`: prints the manual page, generated from the help texts. For `make man`.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the manual page in troff, for `make man`.", shouldDisplay: false)

  func run() throws { try Output.print(ManualPage.text) }
}

/// The manual page torpor(1), in the macros of man(7).
///
/// Except for the exit codes, environment variables and references, the text is the help of each command, so a new
/// command or option appears without a change here.
enum ManualPage {
  /// The complete page.
  static var text: String {
    var page = ManualText()
    page.add(#".TH TORPOR 1 "\#(Torpor.date)" "torpor \#(Torpor.version)" "User Commands""#)
    page.section("NAME")
    page.fill("torpor \\- \(page.escaped(abstract(Torpor.self)))")
    page.section("SYNOPSIS")
    for (index, command) in commands.enumerated() {
      if index > 0 { page.add(".br") }
      page.usage(Help(command))
    }
    page.section("DESCRIPTION")
    page.prose(Help(Torpor.self).discussion)
    page.section("COMMANDS")
    for command in commands { describe(command, &page) }
    addFixedSections(&page)
    return page.text
  }

  /// Every displayed command without subcommands.
  static var commands: [any ParsableCommand.Type] { leaves(Torpor.self) }

  private static func leaves(
    _ command: any ParsableCommand.Type
  ) -> [any ParsableCommand.Type] {
    let subcommands = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    return subcommands.isEmpty ? [command] : subcommands.flatMap(leaves)
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

  private static func addFixedSections(_ page: inout ManualText) {
    page.section("EXIT STATUS")
    page.item("0", "Success.")
    for code in CommandError.Code.allCases { page.item("\(code.rawValue)", code.meaning) }
    page.item("130, 143", "Interrupted by SIGINT or SIGTERM.")
    page.section("ENVIRONMENT")
    page.item("TORPOR_BOARDS", "The folder of board profiles; if unset, the nearest folder Boards.")
    page.item("TORPOR_SOCKET", "The socket of the service, if --socket is not given.")
    page.item("NO_COLOR", "If set to any value, no colour is used on a terminal.")
    page.section("SEE ALSO")
    page.line("gpsd(8), gpsd_json(5), stty(1)")
  }
}

/// The help text of a command, parsed into its parts.
struct Help {
  /// An argument or option and its description.
  struct Item: Equatable {
    var label: String
    var text: String
  }

  /// Full name of the command, for example `torpor board show`.
  private(set) var name = ""
  /// First sentence of the description.
  private(set) var overview = ""
  /// Lines of the description after the first sentence.
  private(set) var discussion: [String] = []
  /// Synopsis with all options.
  private(set) var usage = ""
  /// Arguments and options.
  private(set) var items: [Item] = []

  /// Parses the help text of `command`.
  init(_ command: any ParsableCommand.Type) {
    // Wide enough that `ArgumentParser` breaks no line.
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
        parseItem(line)
      } else if usage.isEmpty {
        discussion.append(line)
      }
    }
    name = usage.split(separator: " ").prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }
      .joined(separator: " ")
  }

  /// Parses a line of the option list: a label with its text, or the text of a long label on the previous line.
  private mutating func parseItem(_ line: String) {
    let isLabel = line.hasPrefix("  ") && !line.hasPrefix("   ")
    if !isLabel {
      let text = line.trimmed(" ")
      if !text.isEmpty, !items.isEmpty { items[items.count - 1].text += text }
      return
    }
    let content = line.dropFirst(2)
    let end = content.firstRange(of: "  ")?.lowerBound ?? content.endIndex
    items.append(Item(label: String(content[..<end]), text: String(content[end...]).trimmed(" ")))
  }
}

/// Builder for the troff source of a manual page.
struct ManualText {
  /// Source written so far.
  private(set) var text = ""

  /// Adds a line of troff.
  mutating func add(_ line: String) { text += line + "\n" }

  /// Adds a line of text that is already escaped, without filling.
  mutating func line(_ line: some StringProtocol) {
    // troff parses a line that starts with a dot as a request.
    add(line.hasPrefix(".") ? "\\&" + line : String(line))
  }

  /// Adds text that is already escaped, broken into lines of at most 79 bytes; longer words get a line of their own.
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

  /// Adds a line in bold.
  mutating func bold(_ words: String) { add(".B \"\(escaped(words))\"") }

  /// Adds a tagged paragraph: a label in bold and its description.
  mutating func item(_ label: String, _ meaning: String) {
    add(".TP")
    bold(label)
    fill(escaped(meaning))
  }

  /// Adds a synopsis with the command's name in bold.
  mutating func usage(_ help: Help) {
    bold(help.name)
    fill(escaped(String(help.usage.dropFirst(help.name.count))))
  }

  /// Adds paragraphs, separated by empty lines; paragraphs indented by two blanks are printed unfilled.
  mutating func prose(_ lines: [String]) {
    for (index, part) in lines.split(separator: "").enumerated() {
      // `.SH` and `.SS` already start a paragraph.
      if index > 0 { add(".PP") }
      let isLiteral = part.allSatisfy { $0.hasPrefix("  ") }
      if isLiteral { add(".in +4n\n.nf") }
      for line in part {
        if isLiteral { self.line(escaped(String(line.dropFirst(2)))) } else { fill(escaped(line)) }
      }
      if isLiteral { add(".fi\n.in") }
    }
  }

  /// `text` with troff's special characters escaped, so that commands can be copied from the rendered page.
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
  /// The text without leading and trailing `mark`.
  fileprivate func trimmed(_ mark: Character) -> String {
    var remaining = self[...]
    while remaining.first == mark { remaining = remaining.dropFirst() }
    while remaining.last == mark { remaining = remaining.dropLast() }
    return String(remaining)
  }
}
