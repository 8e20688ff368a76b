import TestSupport
import Testing

@testable import torpor

@Suite("The command, end to end", .tags(.process))
struct EndToEndTests {
  static let drive = Array(
    ((0...9).map { RecordingDecoderTests.rmc($0, "010420") }.joined()).utf8)

  @Test("decode reads a pipe and reports its content on standard error")
  func pipe() {
    let result = Command.run(["decode", "-"], input: Self.drive)
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").count == 10)
    #expect(result.output.hasPrefix(#"{"class":"TPV","mode":2,"time":"2020-04-01T12:00:00.000Z""#))
    #expect(result.errors == "torpor: 10 epochs, 10 with a fix, 10 NMEA sentences\n")
    let quiet = Command.run(["decode", "-q", "-"], input: Self.drive)
    #expect(quiet.errors.isEmpty && quiet.output == result.output)
  }

  @Test("the command ends without an error when its output is closed")
  func closedOutput() {
    for arguments in [["decode", "-"], ["replay", "--json", "-"], ["board", "list"]] {
      let result = Command.run(arguments, input: Self.drive, closesOutput: true)
      #expect(result.status == 0 && result.errors.isEmpty, "\(arguments)")
    }
  }

  @Test("a missing file, a directory and an empty file each have their own exit code")
  func noInput() {
    let missing = Command.run(["decode", "/nonexistent/a.nmea"])
    #expect(missing.status == 66)
    #expect(missing.errors.contains("there is no such file"))
    let directory = Command.run(["decode", "/tmp"])
    #expect(directory.status == 66)
    #expect(directory.errors.contains("it is a directory"))
    let empty = Command.run(["decode", "-"])
    #expect(empty.status == 65)
    #expect(empty.errors.contains("standard input is empty"))
    #expect(Command.run(["decode", ""]).status == 66)
    for result in [missing, directory, empty] { #expect(result.output.isEmpty) }
  }

  @Test("garbage gives a message and no output, in every format", arguments: EpochFormat.allCases)
  func garbage(format: EpochFormat) {
    var garbage: [UInt8] = []
    var state: UInt32 = 1
    for _ in 0..<100_000 {
      state = state &* 1_664_525 &+ 1_013_904_223
      garbage.append(UInt8(state >> 24))
    }
    let result = Command.run(["decode", "--format", format.rawValue, "-"], input: garbage)
    #expect(result.status == 65)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("standard input contains no NMEA and no UBX"))
  }

  @Test(
    "invalid arguments are rejected before any input is read",
    arguments: [
      ["decode", "--date", "2019-02-30", "x"], ["decode", "--date", "yesterday", "x"],
      ["decode", "--format", "kml", "x"], ["decode"], ["decode", "a", "b"],
      ["replay", "--distance", "nan", "x"], ["replay", "--timeout", "-5", "x"],
      ["replay", "--capacity", "0", "x"], ["simulate", "--hours", "inf"],
      ["simulate", "--track", "a", "--scenario", "day"], ["simulate", "--accuracy", "NaN"],
      ["deocde", "x"], ["board", "chekc"],
    ])
  func usage(arguments: [String]) {
    let result = Command.run(arguments)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(!result.errors.isEmpty)
  }

  @Test("a misspelt command name gives a suggestion")
  func suggestion() {
    #expect(Command.run(["deocde"]).errors.contains("did you mean 'decode'?"))
  }

  @Test("an output file is complete or does not exist")
  func files() {
    let folder = Command.directory()
    let path = "\(folder)/track.gpx"
    let arguments = ["decode", "--format", "gpx", "-o", path, "-"]
    #expect(Command.run(arguments, input: Self.drive).status == 0)
    let complete = Command.read(path)
    #expect(complete?.hasSuffix("</gpx>\n") == true)
    // A replaced file keeps its permissions.
    Command.setPermissions(of: path, to: 0o600)
    #expect(Command.run(arguments, input: Self.drive).status == 0)
    #expect(Command.permissions(of: path) == 0o600)
    // A failed run leaves the file unchanged and no temporary file.
    #expect(Command.run(arguments, input: Array("garbage".utf8)).status == 65)
    #expect(Command.read(path) == complete)
    #expect(TestFolder.names(in: folder) == ["track.gpx"])
    #expect(Command.run(["decode", "-o", "\(folder)/b", "/nonexistent"]).status == 66)
    #expect(TestFolder.names(in: folder) == ["track.gpx"])
  }

  @Test("an output that cannot be written is reported")
  func unwritable() {
    for path in ["/nonexistent/a", "/tmp", "", "/tmp/"] {
      let result = Command.run(["decode", "-o", path, "-"], input: Self.drive)
      #expect(result.status == 73, "\(path)")
      #expect(result.errors.contains("cannot write"))
    }
    let full = Command.run(["decode", "-"], input: Self.drive, outputPath: "/dev/full")
    #expect(full.status == 74)
    #expect(full.errors.contains("writing standard output failed"))
    #expect(Command.run(["decode", "-o", "/dev/null", "-"], input: Self.drive).status == 0)
  }

  @Test("help and version end with 0, and with 74 if the output cannot be written")
  func help() {
    let help = Command.run(["--help"])
    #expect(help.status == 0 && help.output.contains("Four things to try"))
    for arguments in [["--help"], ["help", "decode"], ["--version"], ["manual"]] {
      let full = Command.run(arguments, outputPath: "/dev/full")
      #expect(full.status == 74 && full.errors.contains("writing standard output failed"))
      #expect(Command.run(arguments, closesOutput: true).status == 0)
    }
    #expect(Command.run(["--version"]).output == "torpor \(Torpor.version)\n")
  }

  /// The number of `key` in a line of JSON.
  static func number(_ key: String, in line: Substring) -> Double? {
    guard let start = line.firstRange(of: "\"\(key)\":")?.upperBound else { return nil }
    return Double(line[start...].prefix { !",}".contains($0) })
  }

  /// Energy of `part` in millijoules, summed from its records.
  static func energy(of part: String, in lines: [Substring]) -> Double {
    let own = lines.filter { $0.contains("\"kind\":\"\(part)\"") }
    return zip(own, own.dropFirst()).reduce(0) { sum, pair in
      let time = (number("t", in: pair.1) ?? .nan) - (number("t", in: pair.0) ?? .nan)
      return sum + (number("mw", in: pair.0) ?? .nan) * time
    }
  }

  @Test("simulate: every number in the summary can be computed from the trace")
  func simulate() throws {
    let folder = Command.directory()
    let result = Command.run([
      "simulate", "--scenario", "commute", "--hours", "0.5", "--timeout", "5min", "--json",
      "--trace", "\(folder)/t.jsonl",
    ])
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(TestFolder.names(in: folder) == ["t.jsonl"])
    var lines = result.output.split(separator: "\n")
    let summary = try #require(lines.last)
    lines.removeLast()
    #expect(summary.hasPrefix(#"{"kind":"summary","fixes":"#))
    // The file has the same records, without the summary.
    #expect(Command.read("\(folder)/t.jsonl") == lines.joined(separator: "\n") + "\n")
    let times = lines.map { Self.number("t", in: $0) ?? .nan }
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    func count(_ kind: String) -> Double {
      Double(lines.count { $0.contains("\"kind\":\"\(kind)\"") })
    }
    #expect(Self.number("fixes", in: summary) == count("fix"))
    #expect(Self.number("batches", in: summary) == count("batch"))
    #expect(Self.number("finishes", in: summary) == count("finish"))
    #expect(Self.number("host_wakes", in: summary) == count("wake"))
    let batches = lines.filter { $0.contains(#""kind":"batch""#) }
    let delivered = batches.reduce(0) { $0 + (Self.number("count", in: $1) ?? .nan) }
    #expect(Self.number("delivered", in: summary) == delivered && delivered == count("fix"))
    for (part, key) in [("receiver", "receiver_mj"), ("board", "board_mj")] {
      let reported = try #require(Self.number(key, in: summary))
      #expect(abs(Self.energy(of: part, in: lines) - reported) < reported * 1e-6)
    }
    #expect(Self.number("duration_s", in: summary) == times.last)
  }

  @Test("replay delivers every epoch once, in batches and in the summary")
  func replay() {
    let result = Command.run(["replay", "--timeout", "5", "--json", "-"], input: Self.drive)
    #expect(result.status == 0)
    let summary = result.output.split(separator: "\n").last ?? ""
    #expect(summary.hasPrefix(#"{"kind":"summary","fixes":10,"delivered":10,"#))
    #expect(Self.number("lost", in: summary) == 0)
    let human = Command.run(["replay", "-"], input: Self.drive)
    #expect(human.status == 0 && human.output.contains("fixes           10 in"))
    #expect(!human.output.contains("\u{1B}"))
    let none = Command.run(["replay", "-"], input: Array("nothing\n".utf8))
    #expect(none.status == 65 && none.output.isEmpty)
    #expect(none.errors.contains("standard input contains no NMEA and no UBX (7 bytes"))
    let empty = Command.run(["replay", "-"], input: Array("$GPTXT,01,01,02,a*2C\r\n".utf8))
    #expect(empty.status == 65 && empty.errors.contains("there is no epoch in standard input"))
  }

  @Test("an invalid track, an unknown board and an unwritable trace are reported")
  func wrongRuns() {
    let folder = Command.directory()
    let path = "\(folder)/track.csv"
    Command.write(Array("unix_time,lat,lon,alt,speed\n1,95,0,,\n".utf8), to: path)
    let track = Command.run(["simulate", "--track", path, "--trace", "\(folder)/t.jsonl"])
    #expect(track.status == 65 && track.errors.contains("line 2: lat 95 is out of range"))
    #expect(TestFolder.names(in: folder) == ["track.csv"])
    let board = Command.run(["simulate", "--board", "nope"])
    #expect(board.status == 78 && board.errors.contains("no board is named \"nope\""))
    let trace = Command.run(["simulate", "--hours", "0.1", "--trace", "/nonexistent/t"])
    #expect(trace.status == 73 && trace.output.isEmpty)
    let none = Command.run(["simulate", "--track", "/nonexistent"])
    #expect(none.status == 66 && none.errors.contains("give the path of a track"))
    #expect(Command.run(["replay", "/tmp"]).status == 66)
  }

  @Test("a shown profile passes board check, and a misspelt key or name gives a suggestion")
  func boards() {
    let list = Command.run(["board", "list", "--json"])
    #expect(list.status == 0 && list.output.contains(#"{"name":"simulated","#))
    let folder = Command.directory()
    let path = "\(folder)/mine.toml"
    let shown = Command.run(["board", "show", "simulated"])
    #expect(shown.status == 0)
    Command.write(Array(shown.output.utf8), to: path)
    #expect(Command.run(["board", "check", path]).status == 0)
    let wrong = shown.output.replacingFirst("power_mw", by: "powr_mw")
    Command.write(Array(wrong.utf8), to: path)
    let check = Command.run(["board", "check", path])
    #expect(check.status == 78)
    #expect(check.errors.hasPrefix("\(path):"))
    #expect(check.errors.contains("did you mean `power_mw`?"))
    let unknown = Command.run(["board", "show", "simulatde"])
    #expect(unknown.status == 78 && unknown.errors.contains("did you mean \"simulated\"?"))
  }

  @Test("board show --json is one object with every setting")
  func boardJSON() {
    let shown = Command.run(["board", "show", "--json"])
    #expect(shown.status == 0)
    #expect(shown.output.hasPrefix(#"{"name":"simulated","settings":[{"key":"name","value":"#))
    #expect(shown.output.contains(#""key":"receiver.time_to_fix.after_off","value":[{"off_s":0,"#))
  }
}

extension String {
  /// This string with the first `old` replaced.
  fileprivate func replacingFirst(_ old: String, by new: String) -> String {
    guard let range = firstRange(of: old) else { return self }
    return String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
  }
}
