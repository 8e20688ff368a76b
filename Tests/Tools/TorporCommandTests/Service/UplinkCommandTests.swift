import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("The status of the uplink")
struct UplinkStatusTests {
  private func text(_ json: String, at seconds: Int64 = 1_000) -> String? {
    UplinkStatusText(Array(json.utf8))?.text(at: UTCTime(microseconds: seconds * 1_000_000))
  }

  @Test("before the first upload")
  func first() {
    #expect(
      text(#"{"device":"a","fixes":0,"uploads":0,"pending":3,"failures":0}"#)
        == "board     a\nuploaded  none yet\ntotal     0 fixes in 0 uploads\npending   3\n")
  }

  @Test("after a failure: the problem and the next attempt")
  func failure() {
    let json =
      #"{"device":"a","broker":"b:1","last_upload_us":700000000,"fixes":5,"uploads":2,"pending":0,"failures":3,"#
      + #""next_attempt_us":1060000000,"problem":"no broker"}"#
    #expect(
      text(json)
        == "board     a\nuploaded  5 min ago to b:1\ntotal     5 fixes in 2 uploads\npending   0\n"
        + "problem   no broker\nattempts  3 failed, the next one in 1 min\n")
    #expect(text(json, at: 2_000)?.hasSuffix("3 failed, the next one at the next wake\n") == true)
  }

  @Test("other content is no status", arguments: ["", "[]", "{}", #"{"device":1}"#])
  func noStatus(_ json: String) { #expect(text(json) == nil) }
}

@Suite("The commands for the uplink", .tags(.process))
struct UplinkCommandTests {
  @Test("status prints the file, or says that the program does not run")
  func status() {
    let folder = TestFolder()
    let json = #"{"device":"a","fixes":0,"uploads":0,"pending":0,"failures":0}"# + "\n"
    folder.write(Array(json.utf8), to: "status.json")
    let path = folder.path + "/status.json"
    #expect(Command.run(["uplink", "status", "--file", path, "--json"]).output == json)
    #expect(Command.run(["uplink", "status", "--file", path]).output.hasPrefix("board     a\n"))
    let absent = Command.run(["uplink", "status", "--file", folder.path + "/none"])
    #expect(absent.status == 69 && absent.errors.contains("torpor-uplink does not run"))
  }

  @Test("check starts the program, which reports problems of the settings with their lines")
  func check() {
    let folder = TestFolder()
    folder.write(Array("every_s = 5\n[[destination]]\nhost = 'a'\n".utf8), to: "u.toml")
    let path = folder.path + "/u.toml"
    let result = Command.run(["uplink", "check", "--config", path])
    #expect(result.status == 78, "\(result.errors)")
    #expect(result.errors.contains("\(path):1:11: every_s: is out of range"), "\(result.errors)")
  }
}
