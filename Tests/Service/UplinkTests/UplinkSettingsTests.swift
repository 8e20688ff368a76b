import LocationTypes
import TOMLFiles
import Testing
import UplinkPayload

@testable import Uplink

@Suite("Settings of the uplink")
struct UplinkSettingsTests {
  private let device = DeviceName("board-1")

  private func settings(_ text: String) throws -> UplinkSettings {
    try UplinkSettings(
      parsing: Array(text.utf8), file: "u.toml", defaultDevice: device, checkFile: { _, _ in nil })
  }

  private func problems(_ text: String, device: DeviceName? = DeviceName("a")) -> [String] {
    do throws(FileProblems) {
      _ = try UplinkSettings(
        parsing: Array(text.utf8), file: "u.toml", defaultDevice: device
      ) { path, isSecret in
        path == "open" && isSecret
          ? PrivateFile.Problem(problem: "can be read", suggestion: "run chmod") : nil
      }
      return []
    } catch { return error.problems.map(\.description) }
  }

  @Test("the shortest file has a destination; everything else has a default")
  func shortest() throws {
    let found = try settings("[[destination]]\nhost = \"b\"\n")
    #expect(found.device == device)
    #expect(found.interval == .seconds(3_600) && found.slack == .seconds(900))
    #expect(found.confirmation == .store)
    #expect(found.destinations.count == 1 && found.destinations[0].port == 1_883)
  }

  @Test("every key is read")
  func complete() throws {
    let found = try settings(
      """
      device = "A_z-9"
      every_s = 60
      slack_s = 0.5
      receipt = "broker"
      [[destination]]
      host = "a"
      port = 1
      user = "u"
      password_file = "p"
      ca = "c"
      certificate = "d"
      key = "k"
      [[destination]]
      host = "b"
      ca = "c"
      """)
    #expect(found.device.description == "A_z-9")
    #expect(found.interval == .seconds(60) && found.slack == .milliseconds(500))
    #expect(found.confirmation == .broker)
    #expect(found.destinations.map(\.port) == [1, 8_883])
    #expect(found.destinations[0].certificate == "d" && found.destinations[0].key == "k")
  }

  @Test(
    "a problem names line, key and what to do",
    arguments: [
      ("", "u.toml:1:1: destination: is missing; expected at least one table [[destination]]"),
      (
        "devise = 'a'\n[[destination]]\nhost = 'b'",
        "u.toml:1:1: devise: unknown key; did you mean `device`?"
      ),
      (
        "device = 'a b'\n[[destination]]\nhost = 'b'",
        "u.toml:1:10: device: \"a b\" is not a name of a board; expected 1 to 64 letters, digits, _ or -"
      ),
      (
        "every_s = 5\n[[destination]]\nhost = 'b'",
        "u.toml:1:11: every_s: is out of range; expected a number of seconds, 10 to 86400"
      ),
      (
        "receipt = 'no'\n[[destination]]\nhost = 'b'",
        "u.toml:1:11: receipt: unknown word \"no\"; expected \"store\" or \"broker\""
      ),
      (
        "destination = []",
        "u.toml:1:1: destination: is empty; expected at least one table [[destination]]"
      ),
      (
        "[[destination]]\nport = 5",
        "u.toml:1:1: destination[0].host: is missing; expected a host name or an address"
      ),
      (
        "[[destination]]\nhost = 'b'\nport = 0",
        "u.toml:3:8: destination[0].port: is not a port; expected 1 to 65535"
      ),
      (
        "[[destination]]\nhost = 'b'\nca = 'open'\ncertificate = 'open'\nkey = 'open'",
        "u.toml:5:7: destination[0].key: can be read; run chmod"
      ),
      (
        "[[destination]]\nhost = 'b'\ncertificate = 'c'",
        "u.toml:1:1: destination[0].certificate: needs the key `key`, and the reverse"
      ),
    ])
  func problem(text: String, expected: String) {
    #expect(problems(text).first == expected)
  }

  @Test("a folder or a pipe is no file of the settings")
  func noFile() {
    #expect(PrivateFile.problem(with: "/", isSecret: false)?.problem == "'/' is not a file")
    #expect(
      PrivateFile.problem(with: "/dev/null", isSecret: false)?.problem.contains("not a file")
        == true)
  }

  @Test("without a machine id the name of the board is required")
  func noDefault() {
    let found = problems("[[destination]]\nhost = 'b'", device: nil)
    #expect(found.count == 1 && found[0].contains("device: is missing"))
  }
}
