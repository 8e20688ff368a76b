import TestSupport
import Testing

@testable import torpor

@Suite("What a newcomer types amiss", .tags(.process))
struct BadUseTests {
  @Test("a slip in the name of a command of `board` is told, as one of `torpor` is")
  func commands() {
    func said(_ words: [String]) -> String {
      do throws(CommandError) {
        try Torpor.checkSubcommand(words)
        return ""
      } catch { return "\(error.code.rawValue) \(error.message)" }
    }
    #expect(
      said(["board", "chek"]).contains(
        "64 there is no command 'board chek'; did you mean 'board check'?"))
    #expect(said(["simulat"]).contains("did you mean 'simulate'?"))
    for right in [
      ["board"], ["board", "list"], ["board", "--help"], ["board", "help"], ["simulate", "x"], [],
    ] {
      #expect(said(right).isEmpty, "\(right)")
    }
  }

  @Test("an accuracy may have its unit, and what has no end is refused as too large")
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

  @Test("garbage for a track is told what a track is; a place without files is told as such")
  func files() {
    let folder = Command.directory()
    Command.write([0x80, 0xFF, 0x00, 0x81, 0x0A, 0x99], to: "\(folder)/garbage")
    let track = Command.run(["simulate", "--track", "\(folder)/garbage"])
    #expect(
      track.status == 65 && track.errors.contains("it should be a track: GPX, or"),
      "\(track.errors)")
    let place = Command.run(["simulate", "--hours", "0.1", "--trace", "/proc/none"])
    #expect(
      place.status == 73 && place.errors.contains("no file can be created there"), "\(place.errors)"
    )
    let none = Command.run(["simulate", "--hours", "0.1", "--trace", "\(folder)/none/x"])
    #expect(none.status == 73 && none.errors.contains("mkdir -p"))
  }
}

@Suite("Small things that must be told as they are", .tags(.process))
struct SmallThingsTests {
  @Test("a track of one point is refused with what to do; with --hours it is a place to stay at")
  func onePoint() {
    let folder = Command.directory()
    let track = "\(folder)/one.csv"
    Command.write(
      Array("unix_time,lat,lon,alt,speed\n1767225600,52,13,,\n".utf8), to: track)
    let refused = Command.run(["simulate", "--track", track])
    #expect(refused.status == 65 && refused.output.isEmpty)
    #expect(refused.errors.contains("one.csv is too short") && refused.errors.contains("--hours"))
    #expect(Command.run(["simulate", "--track", track, "--hours", "0.1", "--quiet"]).status == 0)
  }

  @Test("one epoch is one epoch")
  func plural() {
    let sentence = "$GNRMC,094107.000,A,5222.31832,N,00454.58062,E,0.31,251.2,221126,,,A*49\r\n"
    let told = Command.run(["decode", "-"], input: Array(sentence.utf8))
    #expect(
      told.errors.contains("torpor: 1 epoch, 1 with a fix, 1 NMEA sentence\n"), "\(told.errors)")
  }

  @Test("board check: 66 where a file cannot be read at all, 78 where it is no profile")
  func boardCheck() {
    let folder = Command.directory()
    Command.write(Array(repeating: 0x41, count: 70_000), to: "\(folder)/large.toml")
    Command.write(Array("$GNRMC\r\n".utf8), to: "\(folder)/wrong.toml")
    for (name, code, words) in [
      ("", 66, "is a folder; give the path of the profile.toml in it"),
      ("/none.toml", 66, "No such file"), ("/large.toml", 78, "is longer than 64 KiB; is it"),
      ("/wrong.toml", 78, "not valid TOML"),
    ] as [(String, Int32, String)] {
      let result = Command.run(["board", "check", "\(folder)\(name)"])
      #expect(result.status == code && result.errors.contains(words), "\(name): \(result.errors)")
    }
    let both = Command.run(["board", "check", "\(folder)/none.toml", "\(folder)/large.toml"])
    #expect(both.status == 78)
  }

  @Test("tune --quiet prints what is best, and no run")
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
