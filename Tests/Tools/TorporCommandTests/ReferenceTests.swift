import ArgumentParser
import TestSupport
import Testing

@testable import torpor

@Suite("The reference page of the command")
struct ReferenceTests {
  static let page =
    Command.read("\(packageRoot)/Docs/Reference/torpor.md") ?? ""

  /// All `--names` in a text except the options that every command has.
  static func options(in text: some StringProtocol) -> Set<String> {
    let names = String(text).matches(of: /(?:^|[^-a-z])--([a-z][a-z-]*)/).map {
      String($0.output.1)
    }
    return Set(names).subtracting(["help", "version"])
  }

  /// The options in the list of a command's help, without those only mentioned in prose.
  static func options(of command: any ParsableCommand.Type) -> Set<String> {
    let lines = Torpor.helpMessage(for: command, columns: 100).split(separator: "\n")
    let listed = lines.filter { $0.hasPrefix("  -") }.map { $0.dropFirst(2) }
    // Format: `-q, --quiet` or `--board <board>`, then the description.
    return options(
      in: listed.map { line in
        String(
          line.split(separator: " ").prefix(2).filter { $0.hasPrefix("-") }.joined(separator: " "))
      }.joined(separator: "\n"))
  }

  /// The text below a heading, up to the next heading of the same level.
  static func section(_ name: String) -> Substring {
    let parts = page.split(separator: "\n## ", omittingEmptySubsequences: false)
    return parts.first { $0.hasPrefix(name + "\n") } ?? ""
  }

  /// The first code block: the synopsis of a command.
  static func synopsis(_ section: Substring) -> Substring {
    let parts = section.split(separator: "```", omittingEmptySubsequences: false)
    return parts.count > 1 ? parts[1] : ""
  }

  @Test("the page lists exactly the options of --help")
  func options() {
    let commands: [(String, any ParsableCommand.Type)] = [
      ("`torpor decode`", Decode.self), ("`torpor replay`", Replay.self),
      ("`torpor simulate`", Simulate.self), ("`torpor optimum`", OptimumCommand.self),
      ("`torpor tune`", Tune.self), ("`torpor status`", StatusCommand.self),
      ("`torpor monitor`", MonitorCommand.self), ("`torpor visits`", VisitsCommand.self),
      ("`torpor export`", ExportCommand.self), ("`torpor flush`", FlushCommand.self),
      ("`torpor energy`", EnergyCommand.self), ("`torpor metrics`", MetricsCommand.self),
      ("`torpor doctor`", DoctorCommand.self),
      ("`torpor swift-flags`", SwiftFlagsCommand.self),
    ]
    let replays = Self.options(in: Self.section("`torpor replay`"))
    for (name, command) in commands {
      let section = Self.section(name)
      let options = Self.options(of: command)
      #expect(!options.isEmpty, "\(name)")
      #expect(Self.options(in: Self.synopsis(section)) == options, "\(name)")
      // Every option has a row, except options documented elsewhere: those of simulate that
      // replay has, and --socket, which is documented with status.
      let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `-") }.joined()
      let elsewhere = command == Simulate.self ? replays : ["socket"]
      let documented = Self.options(in: rows).union(elsewhere)
      #expect(documented.isSuperset(of: options), "\(name): \(options.subtracting(documented))")
    }
    let lines = ["board", "clients", "uplink"].flatMap {
      Self.synopsis(Self.section("`torpor \($0)`")).split(separator: "\n")
    }
    let groups: [(String, any ParsableCommand.Type)] = [
      ("board list", BoardList.self), ("board show", BoardShow.self),
      ("board check", BoardCheck.self), ("clients list", ClientsList.self),
      ("clients allow", ClientsAllow.self), ("clients deny", ClientsDeny.self),
      ("clients reduce", ClientsReduce.self), ("uplink status", UplinkStatusCommand.self),
      ("uplink check", UplinkCheckCommand.self),
    ]
    for (name, command) in groups {
      let line = lines.first { $0.hasPrefix("torpor \(name)") } ?? ""
      #expect(Self.options(in: line) == Self.options(of: command), "\(name)")
    }
  }

  @Test("page and help name every exit code")
  func exitCodes() {
    let section = Self.section("Exit codes")
    let help = Torpor.helpMessage(columns: 1_000)
    for code in CommandError.Code.allCases {
      #expect(section.contains("| \(code.rawValue) |"))
      #expect(help.contains("\(code.rawValue) "))
    }
  }
}
