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
    let found = try settings("[[destination]]\nhost = \"localhost\"\n")
    #expect(found.device == device)
    #expect(found.interval == .seconds(3_600) && found.slack == .seconds(900))
    #expect(found.confirmation == .store)
    #expect(!found.sendsVisits && found.regions.isEmpty && found.decimals == 9)
    #expect(!found.publishesNewest && !found.announces)
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
      decimals = 4
      visits = true
      newest = true
      home_assistant = true
      [[region]]
      name = "home"
      latitude = 52.5
      longitude = -13
      radius_m = 150
      [[destination]]
      host = "a"
      port = 1
      tls = true
      user = "u"
      password_file = "p"
      ca = "c"
      certificate = "d"
      key = "k"
      [[destination]]
      host = "b"
      ca = "c"
      [[destination]]
      host = "10.0.0.1"
      tls = false
      """)
    #expect(found.device.description == "A_z-9")
    #expect(found.interval == .seconds(60) && found.slack == .milliseconds(500))
    #expect(found.confirmation == .broker)
    #expect(found.sendsVisits && found.publishesNewest && found.announces && found.decimals == 4)
    let center = Coordinate(latitude_e9: 52_500_000_000, longitude_e9: -13_000_000_000)
    #expect(found.regions == [UplinkSettings.Region(name: "home", center: center, radius: 150)])
    #expect(found.destinations.map(\.port) == [1, 8_883, 1_883])
    #expect(found.destinations[0].certificate == "d" && found.destinations[0].key == "k")
  }

  @Test(
    "a problem names line, key and what to do",
    arguments: [
      ("", "u.toml:1:1: destination: is missing; expected at least one table [[destination]]"),
      (
        "devise = 'a'\n[[destination]]\nhost = '::1'",
        "u.toml:1:1: devise: unknown key; did you mean `device`?"
      ),
      (
        "device = 'a b'\n[[destination]]\nhost = '::1'",
        "u.toml:1:10: device: \"a b\" is not a name of a board; expected 1 to 64 letters, digits, _ or -"
      ),
      (
        "every_s = 5\n[[destination]]\nhost = '::1'",
        "u.toml:1:11: every_s: is out of range; expected a number of seconds, 10 to 86400"
      ),
      (
        "receipt = 'no'\n[[destination]]\nhost = '::1'",
        "u.toml:1:11: receipt: unknown word \"no\"; expected \"store\" or \"broker\""
      ),
      (
        "destination = []",
        "u.toml:1:1: destination: is empty; expected at least one table [[destination]]"
      ),
      (
        "decimals = 10\n[[destination]]\nhost = '::1'",
        "u.toml:1:12: decimals: is not a number of decimals; expected 1 to 9"
      ),
      (
        "visits = 1\n[[destination]]\nhost = '::1'",
        "u.toml:1:10: visits: is a whole number; expected true or false"
      ),
      (
        "home_assistant = true\n[[destination]]\nhost = '::1'",
        "u.toml:1:1: home_assistant: needs the key `newest`; add `newest = true`"
      ),
      (
        "[[region]]\nname = 'a'\nlatitude = 91\n[[destination]]\nhost = '::1'",
        "u.toml:3:12: region[0].latitude: is out of range; expected a number of degrees, -90 to 90"
      ),
      (
        "[[region]]\nname = 'a'\nlatitude = 9\n[[destination]]\nhost = '::1'",
        "u.toml:1:1: region[0]: has a key too few; expected name, latitude, longitude, radius_m"
      ),
      (
        "[[destination]]\nport = 5",
        "u.toml:1:1: destination[0].host: is missing; expected a host name or an address"
      ),
      (
        "[[destination]]\nhost = '::1'\nport = 0",
        "u.toml:3:8: destination[0].port: is not a port; expected 1 to 65535"
      ),
      (
        "[[destination]]\nhost = '::1'\nca = 'open'\ncertificate = 'open'\nkey = 'open'",
        "u.toml:5:7: destination[0].key: can be read; run chmod"
      ),
      (
        "[[destination]]\nhost = '::1'\ncertificate = 'c'",
        "u.toml:1:1: destination[0].certificate: needs the key `key`, and the reverse"
      ),
    ])
  func problem(text: String, expected: String) {
    #expect(problems(text).first == expected)
  }

  @Test("fixes leave the board unencrypted only if the settings say so")
  func clearText() {
    for host in ["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "::1"] {
      #expect(problems("[[destination]]\nhost = '\(host)'").isEmpty, "\(host)")
    }
    for host in ["mqtt.example.org", "10.0.0.1", "128.0.0.1", "::2", "127.0.0.1.example.org"] {
      #expect(
        problems("[[destination]]\nport = 1883\nhost = '\(host)'") == [
          "u.toml:3:8: destination[0].tls: is missing: fixes and password would be sent unencrypted to "
            + "\"\(host)\"; add the key `ca` to use TLS, or `tls = false` for a network of your own"
        ])
      #expect(problems("[[destination]]\nhost = '\(host)'\ntls = false").isEmpty)
      #expect(problems("[[destination]]\nhost = '\(host)'\nca = 'c'\ntls = true").isEmpty)
    }
    #expect(
      problems("[[destination]]\nhost = 'b'\ntls = true") == [
        "u.toml:3:7: destination[0].tls: needs the key `ca`; name the file with the certificate of the "
          + "broker's authority"
      ])
    #expect(
      problems("[[destination]]\nhost = 'b'\ntls = false\nca = 'c'") == [
        "u.toml:3:7: destination[0].tls: contradicts the key `ca`; remove one of the two keys"
      ])
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
    let found = problems("[[destination]]\nhost = '::1'", device: nil)
    #expect(found.count == 1 && found[0].contains("device: is missing"))
  }
}
