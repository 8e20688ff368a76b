import Testing

@testable import torpor

@Suite("What a newcomer types amiss")
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
    #expect(try Values.accuracy("100m") == 100 && Values.accuracy("2km") == 2_000)
    #expect(try Values.accuracy("best") == -1 && Values.accuracy("50") == 50)
    #expect(try Values.distance("1000000km") == 1e9 && Values.timeout("876600h") == 3_155_760_000)
    func refusal(_ read: () throws -> Double) -> String {
      do { return "\(try read())" } catch { return "\(error)" }
    }
    #expect(refusal { try Values.accuracy("1e300") }.contains("too large"))
    #expect(refusal { try Values.distance("1000001km") }.contains("too large"))
    #expect(refusal { try Values.timeout("876601h") }.contains("too large"))
    #expect(refusal { try Values.accuracy("-3") }.contains("negative"))
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
      place.status == 73 && place.errors.contains("no file can be made there"), "\(place.errors)")
    let none = Command.run(["simulate", "--hours", "0.1", "--trace", "\(folder)/none/x"])
    #expect(none.status == 73 && none.errors.contains("mkdir -p"))
  }
}
