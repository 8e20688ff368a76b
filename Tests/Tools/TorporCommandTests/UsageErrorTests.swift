import TestSupport
import Testing

@testable import torpor

@Suite("Usage errors", .tags(.process))
struct UsageErrorTests {
  @Test("a misspelt subcommand of `board` gives a suggestion, as one of `torpor` does")
  func commands() {
    func refusal(_ words: [String]) -> String {
      do throws(CommandError) {
        try Torpor.checkSubcommand(words)
        return ""
      } catch { return "\(error.code.rawValue) \(error.message)" }
    }
    #expect(
      refusal(["board", "chek"]).contains(
        "64 there is no command 'board chek'; did you mean 'board check'?"))
    #expect(refusal(["simulat"]).contains("did you mean 'simulate'?"))
    for right in [
      ["board"], ["board", "list"], ["board", "--help"], ["board", "help"], ["simulate", "x"], [],
    ] {
      #expect(refusal(right).isEmpty, "\(right)")
    }
  }

  @Test("an accuracy may have a unit, and a huge value is rejected as too large")
  func values() throws {
    #expect(try ArgumentValues.accuracy("100m") == 100 && ArgumentValues.accuracy("2km") == 2_000)
    #expect(try ArgumentValues.accuracy("best") == -1 && ArgumentValues.accuracy("50") == 50)
    #expect(
      try ArgumentValues.distance("1000000km") == 1e9
        && ArgumentValues.timeout("876600h") == 3_155_760_000)
    func refusal(_ read: () throws -> Double) -> String {
      do { return "\(try read())" } catch { return "\(error)" }
    }
    #expect(refusal { try ArgumentValues.accuracy("1e300") }.contains("too large"))
    #expect(refusal { try ArgumentValues.distance("1000001km") }.contains("too large"))
    #expect(refusal { try ArgumentValues.timeout("876601h") }.contains("too large"))
    #expect(refusal { try ArgumentValues.accuracy("-3") }.contains("negative"))
  }

  @Test("an invalid track gives the expected formats; an unwritable path gives the reason")
  func files() {
    let folder = Command.directory()
    Command.write([0x80, 0xFF, 0x00, 0x81, 0x0A, 0x99], to: "\(folder)/garbage")
    let track = Command.run(["simulate", "--track", "\(folder)/garbage"])
    #expect(
      track.status == 65 && track.errors.contains("it should be a track: GPX, or"),
      "\(track.errors)")
    let unwritable = Command.run(["simulate", "--hours", "0.1", "--trace", "/proc/none"])
    #expect(
      unwritable.status == 73 && unwritable.errors.contains("no file can be created there"),
      "\(unwritable.errors)")
    let none = Command.run(["simulate", "--hours", "0.1", "--trace", "\(folder)/none/x"])
    #expect(none.status == 73 && none.errors.contains("mkdir -p"))
  }
}

@Suite("Details of output and exit codes", .tags(.process))
struct OutputDetailTests {
  @Test("a track of one point is rejected with a suggestion; with --hours the device stays there")
  func onePoint() {
    let folder = Command.directory()
    let track = "\(folder)/one.csv"
    Command.write(
      Array("unix_time,lat,lon,alt,speed\n1767225600,52,13,,\n".utf8), to: track)
    let refused = Command.run(["simulate", "--track", track])
    #expect(refused.status == 65 && refused.output.isEmpty)
    #expect(
      refused.errors.contains("too short: it has only one point")
        && refused.errors.contains("--hours"))
    #expect(Command.run(["simulate", "--track", track, "--hours", "0.1", "--quiet"]).status == 0)
  }

  @Test("a single epoch is reported in the singular")
  func plural() {
    let sentence = "$GNRMC,094107.000,A,5222.31832,N,00454.58062,E,0.31,251.2,221126,,,A*49\r\n"
    let result = Command.run(["decode", "-"], input: Array(sentence.utf8))
    #expect(
      result.errors.contains("torpor: 1 epoch, 1 with a fix, 1 NMEA sentence\n"),
      "\(result.errors)")
  }

  @Test("board check: 66 for an unreadable file, 78 for a file that is not a profile")
  func boardCheck() {
    let folder = Command.directory()
    Command.write(Array(repeating: 0x41, count: 70_000), to: "\(folder)/large.toml")
    Command.write(Array("$GNRMC\r\n".utf8), to: "\(folder)/wrong.toml")
    for (name, code, words) in [
      ("", 66, "is a folder; give the path of the profile.toml in it"),
      ("/none.toml", 66, "No such file"), ("/large.toml", 78, "is longer than 64 KiB; check that"),
      ("/wrong.toml", 78, "not valid TOML"),
    ] as [(String, Int32, String)] {
      let result = Command.run(["board", "check", "\(folder)\(name)"])
      #expect(result.status == code && result.errors.contains(words), "\(name): \(result.errors)")
    }
    let both = Command.run(["board", "check", "\(folder)/none.toml", "\(folder)/large.toml"])
    #expect(both.status == 78)
  }

  @Test("tune --quiet prints the best settings and no runs")
  func quietTune() {
    let folder = Command.directory()
    let rows = (0..<120).map { "\(1_767_225_600 + $0 * 5),52.\(1_000 + $0),13,,\n" }
    Command.write(
      Array(("unix_time,lat,lon,alt,speed\n" + rows.joined()).utf8), to: "\(folder)/walk.csv")
    let quiet = Command.run(["tune", "--track", "\(folder)/walk.csv", "-q"])
    #expect(quiet.status == 0 && quiet.output.hasPrefix("Best setting for each use case\n"))
    #expect(!quiet.output.contains("receiver mW"))
  }
}
