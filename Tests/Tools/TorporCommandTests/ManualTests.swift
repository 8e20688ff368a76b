import ArgumentParser
import TestSupport
import Testing

@testable import torpor

@Suite("Manual page and shell completion", .tags(.process))
struct ManualTests {
  @Test("the manual page names every command and every option that --help lists")
  func options() {
    let page = ManualPage.text.replacing("\\-", with: "-")
    let commands = ManualPage.commands
    #expect(commands.count >= 8)
    for command in commands {
      let help = Help(command)
      let sections = page.split(separator: ".SS ").filter { $0.hasPrefix("\"\(help.name)\"") }
      #expect(sections.count == 1, "\(help.name)")
      let section = sections.first ?? ""
      let options = ReferenceTests.options(of: command)
      #expect(!options.isEmpty && help.items.count > options.count)
      for option in options { #expect(section.contains("--\(option)"), "\(help.name)") }
      for item in help.items { #expect(!item.text.isEmpty && !item.label.contains("  ")) }
    }
    #expect(!page.contains("torpor manual"))
  }

  @Test("a line of the page is a known request or text without troff markup")
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

  @Test("troff control characters in a text are escaped")
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

  /// The completions that bash lists for the last of `words`.
  func completions(_ words: [String], in folder: String = "/") -> [String] {
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
    #expect(completions(["de"]) == ["decode"])
    #expect(
      Set(completions([""])).isSuperset(
        of: ["decode", "replay", "simulate", "tune", "optimum", "board"]))
    #expect(!completions([""]).contains("manual"))
    #expect(completions(["decode", "--fo"]).sorted() == ["--follow", "--format"])
    #expect(completions(["decode", "--format", ""]) == EpochFormat.allCases.map(\.rawValue))
    #expect(completions(["decode", "--baud", "96"]) == ["9600"])
    #expect(completions(["simulate", "--service", "d"]) == ["deferred"])
    #expect(completions(["simulate", "--scenario", "co"]) == ["commute"])
  }

  @Test("bash completes boards by name and by path, and tracks by file extension")
  func bashFiles() {
    #expect(completions(["replay", "--board", "simu"]) == ["simulated"])
    let folder = Command.directory()
    for name in ["track.gpx", "track.csv", "track.nmea", "mine.toml", "mine.txt"] {
      Command.write([], to: "\(folder)/\(name)")
    }
    #expect(completions(["simulate", "--board", "mi"], in: folder) == ["mine.toml"])
    #expect(completions(["simulate", "--board", "\(folder)/m"]) == ["\(folder)/mine.toml"])
    #expect(
      completions(["simulate", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
    #expect(
      completions(["optimum", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
    #expect(
      completions(["tune", "--track", "tr"], in: folder).sorted() == ["track.csv", "track.gpx"])
  }
}
