import BoardProfiles
import TestSupport
import Testing

@testable import torpor

@Suite("torpor board new", .tags(.process))
struct BoardNewTests {
  static func run(
    _ arguments: [String], in folder: String, _ input: String = ""
  ) -> Command.Result {
    Command.run(["board", "new", "-o", folder] + arguments, input: Array(input.utf8))
  }

  @Test("answers from a pipe create a valid board that can be simulated")
  func piped() {
    let folder = Command.directory()
    let answers = [
      "piped", "A board, by a pipe", "", "nmea", "L80", "/dev/ttyS1", "", "", "GPIO22", "y", "80",
      "60", "", "35", "y", "GPIO27", "1200", "400", "y", "40", "", "", "", "alarm, bytes, motion",
      "n", "", "", "",
    ]
    let created = Self.run([], in: folder, answers.joined(separator: "\n") + "\n")
    #expect(created.status == 0, "\(created.errors)")
    #expect(created.output == "\(folder)/piped/profile.toml\n\(folder)/piped/README.md\n")
    #expect(
      created.errors.contains("receiver.power.track_mw (a number of milliwatts, 0 to 100000) "))
    #expect(TestFolder.names(in: "\(folder)/piped") == ["README.md", "profile.toml"])
    let path = "\(folder)/piped/profile.toml"
    #expect(Command.run(["board", "check", path]).status == 0)
    let shown = Command.run(["board", "show", path]).output
    for line in [
      "track_mw = 60", "supply_line = \"GPIO22\"", "wakes_on = [\"alarm\", \"bytes\", \"motion\"]",
      "backup_supply = true", "cold_s = 35",
    ] {
      #expect(shown.contains("\n" + line + "\n"), "\(line)")
    }
    #expect(Command.run(["simulate", "--board", path, "--hours", "0.1", "-q"]).status == 0)
    let page = Command.read("\(folder)/piped/README.md") ?? ""
    for heading in ["## Wiring\n", "## Where the figures come from\n", "## Not found\n"] {
      #expect(page.contains("\n" + heading))
    }
    #expect(page.contains("| `receiver.power.track_mw` | 60 | |\n"))
    #expect(page.contains("- `board.suspended.resume_s`: 1 was proposed"))
    #expect(page.contains("| `GPIO22` (supply_line) | supply switch | switches its supply |\n"))
    #expect(page.contains("| `GPIO27` (motion line) | the sensor's interrupt | signals motion |\n"))
  }

  @Test("an invalid answer or end of input in a pipe writes nothing")
  func broken() {
    let folder = Command.directory()
    let bad = Self.run([], in: folder, "bad\n\n\nublox-m11\n")
    #expect(bad.status == 65 && bad.output.isEmpty)
    #expect(
      bad.errors.hasSuffix(
        "torpor: answer 4, receiver.family: unknown word \"ublox-m11\" (did you mean "
          + "\"ublox-m10\"?); expected \"ublox-m10\", \"ublox-m8\", \"mtk\", \"airoha\", "
          + "\"casic\", \"teseo\" or \"nmea\"; no file was written\n"))
    let ended = Self.run([], in: folder, "bad\n\n")
    #expect(ended.status == 65)
    #expect(ended.errors.contains("torpor: the answers ended before receiver; no file was written"))
    #expect(Self.run(["x"], in: folder).status == 65)
    #expect(Self.run([], in: folder, String(repeating: "x", count: 5_000)).status == 65)
    #expect(Self.run([], in: folder, "My Board\n").errors.contains("lower-case letters, digits"))
    #expect(TestFolder.names(in: folder).isEmpty)
  }

  @Test("options alone create a board without questions, for scripts")
  func options() {
    let folder = Command.directory()
    let created = Self.run(
      [
        "plain", "--yes", "--set", "board.suspended=yes", "--set", "board.suspended.power_mw=9",
        "--set", "receiver.batch.line=B", "--set", "receiver.batch.pio=4",
        "--set", "receiver.family=ublox-m10", "--set", "board.suspended.wakes_on=alarm,batch_pin",
      ], in: folder)
    #expect(created.status == 0, "\(created.errors)")
    let path = "\(folder)/plain/profile.toml"
    let shown = Command.run(["board", "show", path]).output
    #expect(
      shown.contains("wakes_on = [\"alarm\", \"batch_pin\"]") && shown.contains("line = \"B\""))
    let wrong: [([String], String)] = [
      (["--yes"], "--yes needs the board's name"),
      (["w", "--yes", "--set", "board.idle.power_mw"], "expected KEY=VALUE"),
      (["w", "--yes", "--set", "board.idle.power_mw="], "has no value"),
      (
        ["w", "--yes", "--set", "board.idle.power_mw=seventy"],
        "\"seventy\" is not a number; expected a number of milliwatts, 0 to 100000"
      ),
      (
        ["w", "--yes", "--set", "cache.capacity_fixes=many"],
        "\"many\" is not a whole number; expected a whole number of fixes"
      ),
      (["w", "--yes", "--set", "board.idle.powr_mw=1"], "did you mean `board.idle.power_mw`?"),
      (
        ["w", "--yes", "--set", "board.idle.power_mw=-1"],
        "-1 is out of range; expected a number of"
      ),
      (
        ["w", "--yes", "--set", "board.idle.power_mw=2000", "--set", "board.awake.power_mw=9"],
        "these values contradict each other; no file was written\nboard.awake.power_mw: 9 mW is less"
      ),
      (
        ["w", "--yes", "--set", "receiver=no", "--set", "receiver.family=nmea"],
        "--set receiver.family=nmea: receiver=no omits the table [receiver]"
      ),
      (
        ["w", "--yes", "--set", "receiver.batch.pio=4", "--set", "receiver=no"],
        "--set receiver=no: no omits the table [receiver], but a value was given for "
          + "receiver.batch.pio in it"
      ),
      (
        ["w", "--yes", "--set", "receiver=no", "--set", "receiver.batch=yes"],
        "receiver=no omits the table [receiver]"
      ),
      (["W", "--yes"], "lower-case letters, digits and hyphens"),
      (["../w", "--yes"], "lower-case letters, digits and hyphens"),
    ]
    for (arguments, message) in wrong {
      let result = Self.run(arguments, in: folder)
      #expect(result.status == 64 && result.output.isEmpty, "\(arguments)")
      #expect(result.errors.contains(message), "\(result.errors)")
    }
    #expect(TestFolder.names(in: folder) == ["plain"])
  }

  @Test("an omitted table is not in the profile, and its keys are not queried")
  func omittedTable() throws {
    let folder = Command.directory()
    for arguments in [["bare", "--yes"], ["asked"]] {
      let created = Self.run(
        arguments + ["--set", "receiver=no"], in: folder, String(repeating: "\n", count: 30))
      #expect(created.status == 0 && !created.errors.contains("receiver."), "\(created.errors)")
      let path = "\(folder)/\(arguments[0])/profile.toml"
      #expect(try BoardProfile.load(path: path).receiver == nil)
    }
  }

  @Test("an existing board is replaced only with --force; a bad output folder is reported first")
  func existing() {
    let folder = Command.directory()
    #expect(Self.run(["a", "--yes"], in: folder).status == 0)
    let path = "\(folder)/a/profile.toml"
    let first = Command.read(path)
    let again = Self.run(["a", "--yes", "--set", "board.awake.power_mw=7000"], in: folder)
    #expect(again.status == 73 && again.errors.contains("exists already; replace it with --force"))
    #expect(Command.read(path) == first)
    // Reported before the first question, or before the second if the name is an answer.
    let unforced = Self.run([], in: folder, "a\n")
    #expect(unforced.status == 73 && !unforced.errors.contains("description"))
    let forced = Self.run(
      ["a", "--yes", "--force", "--set", "board.awake.power_mw=7000"], in: folder)
    #expect(forced.status == 0 && Command.read(path)?.contains("power_mw = 7000") == true)
    Command.write(Array("x".utf8), to: "\(folder)/file")
    #expect(Self.run(["file", "--yes", "--force"], in: folder).status == 73)
    let missing = Self.run(["b", "--yes"], in: "\(folder)/none")
    #expect(missing.status == 73 && missing.errors.contains("mkdir -p"))
    #expect(TestFolder.names(in: folder) == ["a", "file"])
    #expect(TestFolder.names(in: "\(folder)/a") == ["README.md", "profile.toml"])
  }

  @Test("the reference page lists the options of board new")
  func reference() {
    let section = ReferenceTests.section("`torpor board`")
    let lines = ReferenceTests.synopsis(section).split(separator: "\n")
    let first = lines.firstIndex { $0.hasPrefix("torpor board new") } ?? lines.endIndex
    let synopsis = lines[first...].joined(separator: "\n")
    #expect(ReferenceTests.options(in: synopsis) == ReferenceTests.options(of: BoardNew.self))
    #expect(ReferenceTests.options(of: BoardNew.self).count == 4)
    for option in ReferenceTests.options(of: BoardNew.self) {
      #expect(section.contains("--\(option)`") || section.contains("--\(option) "), "\(option)")
    }
  }
}
