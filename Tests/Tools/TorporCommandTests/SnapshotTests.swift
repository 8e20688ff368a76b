import BoardHardware
import Foundation
import TestSupport
import Testing

/// The interfaces that programs and scripts depend on: names of commands, options and values, shell
/// completion, and machine-readable output. The prose of help and messages is excluded.
@Suite("Snapshots of the command's interfaces", .tags(.process))
struct SnapshotTests {
  /// The recording in `Tests/Snapshots`, the input of all samples.
  private static let recording = "\(packageRoot)/Tests/Snapshots/recording.nmea"

  /// Standard output of a run that must succeed.
  private func output(_ arguments: String...) -> String {
    let result = Command.run(arguments)
    #expect(result.status == 0, "\(arguments): \(result.errors)")
    return result.output.replacing(packageRoot, with: "PACKAGE")
  }

  // MARK: Commands and options

  /// One argument of a command without its prose: names, kind, values, default.
  private func line(of argument: [String: Any]) -> String {
    let names = (argument["names"] as? [[String: Any]] ?? []).compactMap { name -> String? in
      guard let text = name["name"] as? String else { return nil }
      return (name["kind"] as? String == "long" ? "--" : "-") + text
    }
    var words = [argument["kind"] as? String ?? "?"] + names
    if argument["kind"] as? String != "flag", let value = argument["valueName"] as? String {
      words.append("<\(value)>")
    }
    for property in ["isOptional", "isRepeating", "shouldDisplay"]
    where argument[property] as? Bool == true {
      words.append(property)
    }
    if let values = argument["allValues"] as? [String] {
      words.append("values:" + values.joined(separator: ","))
    }
    if let value = argument["defaultValue"] as? String { words.append("default:" + value) }
    if let completion = argument["completionKind"] as? [String: Any] {
      words.append("completion:" + completion.keys.sorted().joined())
    }
    return words.joined(separator: " ")
  }

  private func lines(of command: [String: Any], below path: String) -> [String] {
    let name = path + (command["commandName"] as? String ?? "?")
    var lines = [name]
    for argument in command["arguments"] as? [[String: Any]] ?? [] {
      lines.append("  " + line(of: argument))
    }
    for subcommand in command["subcommands"] as? [[String: Any]] ?? [] {
      lines += self.lines(of: subcommand, below: name + " ")
    }
    return lines
  }

  @Test("options: every command, its options, their values and defaults")
  func options() throws {
    let dump = Data(output("--experimental-dump-help").utf8)
    let tree = try #require(try JSONSerialization.jsonObject(with: dump) as? [String: Any])
    let command = try #require(tree["command"] as? [String: Any])
    let text = lines(of: command, below: "").joined(separator: "\n") + "\n"
    #expect(differenceFromSnapshot("options.txt", text) == nil)
  }

  /// Compares option names only: the text of the scripts changes with the library's version.
  @Test("completions: the options that each shell completes", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) throws {
    let script = output("--generate-completion-script", shell)
    let option = shell == "fish" ? #/-l '([a-z][a-z-]*)'/# : #/--([a-z][a-z-]*)/#
    let names = Set(script.matches(of: option).map(\.output.1)).sorted()
    let text = names.map { "--\($0)\n" }.joined()
    #expect(differenceFromSnapshot("completions.\(shell)", text) == nil)
  }

  // MARK: Machine-readable output

  @Test("decode: every format", arguments: ["tpv", "jsonl", "csv", "gpx"])
  func decode(format: String) {
    let text = output("decode", "--quiet", "--format", format, Self.recording)
    #expect(differenceFromSnapshot("decode.\(format)", text) == nil)
  }

  @Test("replay: records and summary, and the trace") func replay() {
    let trace = Command.directory() + "/trace"
    let text = output(
      "replay", "--json", "--trace", trace, "--distance", "unlimited", "--timeout", "5",
      Self.recording)
    #expect(differenceFromSnapshot("replay.jsonl", text) == nil)
    let records = text.split(separator: "\n").dropLast()
    #expect(Command.read(trace)?.split(separator: "\n") == Array(records), "all but the summary")
  }

  @Test(
    "simulate: the summary of every service",
    arguments: ["standard", "deferred", "significant", "visits", "live", "region"])
  func simulate(service: String) {
    let records = output(
      "simulate", "--json", "--service", service, "--scenario", "drive", "--hours", "0.5")
    // The first record of each kind, including the summary.
    var kinds = Set<Substring>()
    let chosen = records.split(separator: "\n").filter { record in
      guard let kind = record.firstMatch(of: #/"kind":"([a-z_]+)"/#)?.output.1 else { return true }
      return kinds.insert(kind).inserted
    }
    let text = chosen.joined(separator: "\n") + "\n"
    #expect(differenceFromSnapshot("simulate-\(service).jsonl", text) == nil)
  }

  @Test("optimum, and board list, show and check") func tools() {
    let track = Command.directory() + "/track.gpx"
    Command.write(
      Array(output("decode", "--quiet", "--format", "gpx", Self.recording).utf8), to: track)
    let optimum = output("optimum", "--json", "--track", track, "--accuracy", "100")
      .replacing(track, with: "TRACK")
    #expect(differenceFromSnapshot("optimum.jsonl", optimum) == nil)
    let show = output("board", "show", "--json", "simulated")
      .replacing(#/"meaning":"(?:[^"\\]|\\.)*"/#, with: "").replacing("},{", with: "},\n{")
    #expect(differenceFromSnapshot("board-show.json", show) == nil)
    let list = output("board", "list", "--json").replacing(#/"summary":"[^"]*"/#, with: "")
    #expect(differenceFromSnapshot("board-list.jsonl", list) == nil)
    let check = output("board", "check", "--json", "simulated")
    #expect(differenceFromSnapshot("board-check.jsonl", check) == nil)
  }

  @Test("board new: the profile that it writes") func profileTemplate() throws {
    let folder = Command.directory()
    _ = output("board", "new", "myboard", "--yes", "--output", folder)
    // Comments are prose and are excluded.
    let lines = (Command.read("\(folder)/myboard/profile.toml") ?? "")
      .split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { $0.replacing(#/ *#.*$/#, with: "") }
    #expect(differenceFromSnapshot("profile.toml", lines.joined(separator: "\n") + "\n") == nil)
  }

  // MARK: Exit codes and the environment

  @Test("the exit codes of usage errors") func exitCodes() {
    let missing = Command.directory() + "/none"
    let folder = Command.directory()
    Command.write(Array("[receiver]\nfamily = 1\n".utf8), to: folder + "/profile.toml")
    Command.write(Array("nothing of a receiver\n".utf8), to: folder + "/prose")
    let uses: [(String, [String])] = [
      ("no such option", ["status", "--no-such-option"]),
      ("data of another kind", ["decode", "--quiet", folder + "/prose"]),
      ("no such file", ["decode", missing]),
      ("no service", ["status", "--socket", missing]),
      ("no such folder to write to", ["decode", Self.recording, "-o", missing + "/file"]),
      ("a broken profile", ["board", "check", folder]),
      ("no such board", ["board", "show", "no-such-board"]),
      ("version", ["--version"]),
    ]
    let text = uses.map { name, arguments in
      "\(Command.run(arguments).status) \(name)\n"
    }
    #expect(differenceFromSnapshot("exit-codes.txt", text.joined()) == nil)
  }

  @Test("the page on uploads has the table of radios")
  func radios() {
    var text =
      "| radio | `--uplink` | radio, J an exchange | board waits, s | source |\n|---|---|---|---|---|\n"
    for radio in UplinkRadio.allCases {
      text += "| \(radio.text) | `\(radio.rawValue)` | \(radio.exchange_J.formatted()) "
      text += "| \(Int(radio.hold.seconds)) | \(radio.source). |\n"
    }
    let page = "Docs/Reference/uplink.md"
    #expect(differenceFromGeneratedPart(of: page, named: "radios", text) == nil)
  }

  @Test("the environment variables that the programs read") func environment() throws {
    let patterns = [
      "TORPOR_[A-Z_]+", "NOTIFY_SOCKET", "LISTEN_[A-Z]+", "WATCHDOG_[A-Z]+", "[A-Z]+_STREAM",
      "[A-Z_]+_DIRECTORY", "XDG_[A-Z_]+", "COLUMNS", "LINES", "NO_COLOR", "TERM", "HOME",
    ]
    let variable = try Regex<(Substring, Substring)>("\"(\(patterns.joined(separator: "|")))\"")
    var names = Set<Substring>()
    let sources = "\(packageRoot)/Sources"
    let files = try #require(FileManager.default.enumerator(atPath: sources))
    for case let file as String in files where file.hasSuffix(".swift") {
      let text = String(decoding: readFile("\(sources)/\(file)"), as: UTF8.self)
      for match in text.matches(of: variable) { names.insert(match.output.1) }
    }
    let text = names.sorted().joined(separator: "\n") + "\n"
    #expect(differenceFromSnapshot("environment.txt", text) == nil)
  }
}

/// Refactorings must not change these digests; a change of behaviour updates them in a separate
/// commit.
@Suite("Digests of simulated behaviour", .tags(.process))
struct BehaviourDigestTests {
  @Test("every board of the catalogue with every service has its recorded digest") func boards() {
    let boards = TestFolder.names(in: "\(packageRoot)/Boards")
    #expect(boards.count >= 6)
    var lines: [String] = []
    for board in boards {
      let profile = "\(packageRoot)/Boards/\(board)/profile.toml"
      guard !readFile(profile).isEmpty else { continue }
      for service in ["standard", "deferred", "significant", "visits", "live", "region"] {
        let result = Command.run([
          "simulate", "--json", "--board", profile, "--service", service, "--scenario", "drive",
          "--hours", "0.4", "--seed", "7",
        ])
        lines.append("\(board) \(service) \(result.status) \(digest(of: result.output))\n")
      }
    }
    #expect(differenceFromSnapshot("boards.digests", lines.joined()) == nil)
  }
}
