import LocationWire
import Testing

@Suite("The command that lets a client use location")
struct AllowCommandTests {
  @Test(
    "the command names user and client, quoted for the shell where necessary",
    arguments: [
      ("trail-log", nil, "torpor clients allow 1000/trail-log"),
      ("trail-log", "pi", "torpor clients allow pi/trail-log"),
      ("my app", "pi", "torpor clients allow 'pi/my app'"),
      ("a'b;reboot", nil, #"torpor clients allow '1000/a'\''b;reboot'"#),
      ("'", nil, #"torpor clients allow '1000/'\'''"#),
      ("$(x)", nil, "torpor clients allow '1000/$(x)'"),
      ("ö", nil, "torpor clients allow '1000/ö'"),
      (
        "a'\u{301};reboot;'\u{301}", nil,
        "torpor clients allow '1000/a'\\''\u{301};reboot;'\\''\u{301}'"
      ),
    ] as [(String, String?, String)])
  func command(_ name: String, _ user: String?, _ expected: String) {
    let client = WireClientName(user: 1_000, name: name)
    #expect(
      client.allowCommand(userName: user, socket: ServiceSocket.standardPath) == expected)
  }

  @Test("the command names a socket at another path, quoted where necessary")
  func socket() {
    let client = WireClientName(user: 1_000, name: "a")
    #expect(
      client.allowCommand(userName: "pi", socket: "/tmp/t.sock")
        == "torpor clients allow --socket /tmp/t.sock pi/a")
    #expect(
      client.allowCommand(socket: "/tmp/my socket")
        == "torpor clients allow --socket '/tmp/my socket' 1000/a")
  }
}
