import ArgumentParser
import TestSupport
import Testing

@testable import torpor

@Suite("What the command says of itself to man and to shells", .tags(.process))
struct ManualTests {
  @Test("the manual page names every command and every option that --help lists")
  func options() {
    let page = ManualPage.text
    let commands = ManualPage.commands
    #expect(commands.count >= 8)
    for command in commands {
      let help = Help(command)
      let sections = page.split(separator: ".SS ").filter { $0.hasPrefix("\"\(help.name)\"") }
      #expect(sections.count == 1, "\(help.name)")
      let section = (sections.first ?? "").replacing("\\-", with: "-")
      let options = ReferenceTests.options(of: command)
      #expect(!options.isEmpty && help.items.count > options.count)
      for option in options { #expect(section.contains("--\(option)"), "\(help.name)") }
      for item in help.items { #expect(!item.text.isEmpty && !item.label.contains("  ")) }
    }
    #expect(!page.contains("torpor manual"))
  }

  @Test("a line of the page is a known request or text that troff takes as it is")
  func lines() {
    let requests: Set = [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".br", ".nf", ".fi", ".in"]
    for line in ManualPage.text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix(".") {
        #expect(requests.contains(line.prefix { $0 != " " }.description), "\(line)")
      }
      #expect(!line.hasPrefix("'") && !line.contains("`"))
    }
    for code in CommandError.Code.allCases {
      #expect(ManualPage.text.contains(".B \"\(code.rawValue)\"\n"))
    }
  }

  @Test("marks of troff in a text are made harmless")
  func escaping() {
    var page = ManualText()
    page.prose(["a\\b -x 'q' `c`", "", "  .PP \"d\"", "", "e f"])
    #expect(
      page.text == #"""
        a\eb \-x \(aqq\(aq \(gac\(ga
        .PP
        .in +4n
        .nf
        \&.PP \(dqd\(dq
        .fi
        .in
        .PP
        e f

        """#)
    page = ManualText()
    page.fill(String(repeating: "word ", count: 40))
    #expect(page.text.split(separator: "\n").allSatisfy { $0.utf8.count <= 80 })
  }

  /// What bash offers for the last of `words`.
  func offered(_ words: [String], in folder: String = "/") -> [String] {
    let script = """
      cd "$1" || exit 1
      shift
      source <("$1" --generate-completion-script bash) || exit 1
      called=$(complete -p torpor | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
      "$called" torpor "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = Command.run(
      ["-c", script, "bash", folder, Command.path] + words, program: "/bin/bash")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test("bash completes commands, options and values")
  func bash() {
    #expect(offered(["de"]) == ["decode"])
    #expect(
      Set(offered([""])).isSuperset(
        of: ["decode", "replay", "simulate", "tune", "optimum", "board"]))
    #expect(!offered([""]).contains("manual"))
    #expect(offered(["decode", "--fo"]).sorted() == ["--follow", "--format"])
    #expect(offered(["decode", "--format", ""]) == EpochFormat.allCases.map(\.rawValue))
    #expect(offered(["decode", "--baud", "96"]) == ["9600"])
    #expect(offered(["simulate", "--service", "d"]) == ["deferred"])
    #expect(offered(["simulate", "--scenario", "co"]) == ["commute"])
  }

  @Test("bash completes boards by name and by path, and tracks by their endings")
  func bashFiles() {
    #expect(offered(["replay", "--board", "simu"]) == ["simulated"])
    let folder = Command.directory()
    for name in ["track.gpx", "track.csv", "track.nmea", "mine.toml", "mine.txt"] {
      Command.write([], to: "\(folder)/\(name)")
    }
    #expect(offered(["simulate", "--board", "mi"], in: folder) == ["mine.toml"])
    #expect(offered(["simulate", "--board", "\(folder)/m"]) == ["\(folder)/mine.toml"])
    #expect(
      offered(["simulate", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
    #expect(
      offered(["optimum", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
    #expect(offered(["tune", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
  }
}
