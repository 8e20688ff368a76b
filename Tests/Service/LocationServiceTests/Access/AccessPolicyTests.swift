import Foundation
import GPSDProtocol
import LocationPolicy
import TOMLFiles
import Testing

@testable import LocationService

@Suite("The access policy file")
struct AccessPolicyTests {
  static let users: [String: UInt32] = ["anna": 1_000, "bert": 1_001]

  static func policy(_ text: String) throws -> AccessPolicy {
    try AccessPolicy.parse(bytes: Array(text.utf8), file: "clients.toml") { users[$0] }
  }

  static let sample = """
    default = "ask"
    administrators = ["bert", 0]

    [[rule]]
    client = "map"
    access = "when-in-use"

    [[rule]]
    user = "anna"
    access = "deny"

    [[rule]]
    user = 1000
    client = "tracker"
    access = "always"
    reduced = true
    relaunch = "tracker.service"

    [[rule]]
    user = "bert"
    access = "ask"
    reduced = true
    """

  @Test(
    "AUT-7: rules for user and name precede rules for a user, then for a name, then the default")
  func specificity() throws {
    let policy = try Self.policy(Self.sample)
    let tracker = policy.access(uid: 1_000, client: "tracker")
    #expect(tracker.authorization == .always && tracker.isReduced && tracker.mayUseBackground)
    #expect(tracker.relaunch == .unit("tracker.service") && tracker.source == .rule(line: 12))
    let map = policy.access(uid: 1_000, client: "map")
    #expect(map.authorization == .denied && map.source == .rule(line: 8) && !map.mayUseBackground)
    #expect(policy.access(uid: 7, client: "map").authorization == .whenInUse)
    let other = policy.access(uid: 7, client: "tracker")
    #expect(other.authorization == .notDetermined && other.source == .policyDefault)
    #expect(!other.authorization.isGranted)
  }

  @Test("AUT-2, AUT-7: a command decides where the file says \"ask\", and does not override a rule")
  func decisions() throws {
    let policy = try Self.policy(Self.sample)
    let allow = AccessDecision(.always)
    let open = policy.access(uid: 7, client: "radio", decision: allow)
    #expect(open.authorization == .always && open.source == .decision && open.mayUseBackground)
    let reduced = policy.access(
      uid: 7, client: "radio", decision: .init(.whenInUse, isReduced: true))
    #expect(reduced.isReduced && reduced.authorization == .whenInUse)
    let denied = policy.access(uid: 1_000, client: "map", decision: allow)
    #expect(denied.authorization == .denied && denied.source == .rule(line: 8))
    let radio = policy.access(uid: 1_001, client: "radio", decision: allow)
    #expect(radio.authorization == .always && radio.isReduced && radio.source == .decision)
    #expect(
      policy.access(uid: 7, client: "radio", decision: .init(.denied)).authorization == .denied)
  }

  @Test("AUT-7: without a file every client is undetermined and none is permitted")
  func noFile() throws {
    for policy in [AccessPolicy(), try Self.policy("")] {
      #expect(policy.access(uid: 0, client: "x").authorization == .notDetermined)
      #expect(!policy.access(uid: 0, client: "x").mayUseBackground)
      #expect(policy.isAdministrator(0) && !policy.isAdministrator(1_000))
    }
    let open = try Self.policy("default = \"always\"\ndefault_reduced = true")
    #expect(open.access(uid: 5, client: "x").authorization == .always)
    #expect(open.access(uid: 5, client: "x").isReduced)
  }

  @Test("GPD-7, GPD-4: a rule names savings of programs written for gpsd; whole numbers and others")
  func savings() throws {
    let policy = try Self.policy(
      "[[rule]]\nuser = 1\naccess = \"always\"\ninterval_s = 60\naccuracy_m = 99.5\n"
        + "defer_s = 86400\nstale_after_s = 1\n[[rule]]\nuser = 2\naccess = \"always\"\n")
    let settings = policy.access(uid: 1, client: "gpsd").gpsd
    #expect(settings.saving == GPSDSaving(interval_s: 60, accuracy_m: 99.5, defer_s: 86_400))
    #expect(settings.staleAfter_s == 1)
    #expect(policy.access(uid: 2, client: "gpsd").gpsd == GPSDSettings())
  }

  @Test(
    "GPD-7: savings out of range are refused",
    arguments: [
      ("interval_s", "86400"), ("accuracy_m", "100000"), ("defer_s", "86400"),
      ("stale_after_s", "86400"),
    ])
  func savingRanges(_ key: String, _ greatest: String) {
    let position = key.utf8.count + 4
    for (value, problem) in [
      ("0.5", "is out of range"), (greatest + ".1", "is out of range"), ("nan", "is out of range"),
      ("\"60\"", "is text"),
    ] {
      do {
        _ = try Self.policy("[[rule]]\nuser = 1\naccess = \"always\"\n\(key) = \(value)")
        Issue.record("accepted: \(value)")
      } catch {
        #expect(
          "\(error)"
            == "clients.toml:4:\(position): rule[0].\(key): \(problem); expected 1 to \(greatest)")
      }
    }
  }

  @Test("administrators are root and the users that the file lists")
  func administrators() throws {
    let policy = try Self.policy(Self.sample)
    #expect(policy.isAdministrator(0) && policy.isAdministrator(1_001))
    #expect(!policy.isAdministrator(1_000))
  }

  static let wrong: [(String, String)] = [
    ("defualt = \"ask\"", "1:1: defualt: unknown key; did you mean `default`?"),
    (
      "default = \"allways\"",
      "1:11: default: unknown word \"allways\"; expected \"ask\", \"always\", \"when-in-use\" "
        + "or \"deny\"; did you mean \"always\"?"
    ),
    (
      "default = 3",
      "1:11: default: is a whole number; expected \"ask\", \"always\", \"when-in-use\" or \"deny\""
    ),
    (
      "administrators = [\"carl\"]",
      "1:19: administrators[0]: no user is named \"carl\" on this system; "
        + "create the user or correct the name (`getent passwd`)"
    ),
    ("administrators = [\"anna\", 1000]", "1:27: administrators[1]: is listed twice"),
    ("rule = 3", "1:1: rule: is a whole number; expected tables [[rule]]"),
    (
      "[[rule]]\nclient = \"x\"",
      "1:1: rule[0].access: is missing; expected \"ask\", \"always\", \"when-in-use\" or \"deny\""
    ),
    (
      "[[rule]]\naccess = \"deny\"",
      "1:1: rule[0]: names no user and no client; expected user, client or both; "
        + "use `default` for all other clients"
    ),
    (
      "[[rule]]\nuser = \"1000\"\naccess = \"deny\"",
      "2:8: rule[0].user: no user is named \"1000\" on this system; write a number without quotes"
    ),
    (
      "[[rule]]\nuser = -1\naccess = \"deny\"",
      "2:8: rule[0].user: -1 is out of range; expected 0 to 4294967294"
    ),
    (
      "[[rule]]\nclient = \"\"\naccess = \"deny\"",
      "2:10: rule[0].client: cannot be the name of a client; "
        + "expected text of 1 to 64 bytes, on one line"
    ),
    (
      "[[rule]]\nclient = \"x\"\naccess = \"deny\"\nreduced = 1",
      "4:11: rule[0].reduced: is a whole number; expected true or false"
    ),
    (
      "[[rule]]\nclient = \"x\"\naccess = \"deny\"\nrelaunch = \"/bin/x\"",
      "4:12: rule[0].relaunch: is not the name of a unit; expected the name of a unit, "
        + "\"tracker.service\", or a list, [\"/usr/bin/tracker\", …]; put the command into a list"
    ),
    (
      "[[rule]]\nuser = 1\naccess = \"always\"\nrelaunch = \"x.service\"",
      "1:1: rule[0].relaunch: starts one client, and the rule does not name one; expected client"
    ),
    (
      "[[rule]]\nuser = \"anna\"\naccess = \"deny\"\n\n[[rule]]\nuser = 1000\naccess = \"always\"",
      "5:1: rule[1]: has the same user and client as the rule at line 1; keep one of them"
    ),
    (
      "[[rule]]\nclient = \"x\"\nacess = \"deny\"",
      "3:1: rule[0].acess: unknown key; did you mean `access`?"
    ),
  ]

  @Test("an invalid entry is reported with file, line, key and suggestion", arguments: wrong)
  func errors(_ text: String, _ message: String) {
    do {
      _ = try Self.policy(text)
      Issue.record("accepted: \(text)")
    } catch {
      #expect("\(error)" == "clients.toml:" + message)
    }
  }

  @Test("all errors are reported together, from top to bottom")
  func many() {
    #expect(throws: FileProblems.self) { try Self.policy("a = 1\nb = 2") }
    do { _ = try Self.policy("b = 1\n[[rule]]\nuser = true\n") } catch let errors as FileProblems {
      #expect(errors.problems.map(\.line) == [1, 3])
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("a relaunch command is a list that starts with an absolute path; no shell parses it")
  func command() throws {
    let policy = try Self.policy(
      "[[rule]]\nclient = \"x\"\naccess = \"always\"\nbackground = false\n"
        + "relaunch = [\"/usr/bin/x\", \"--as client\"]")
    let access = policy.access(uid: 3, client: "x")
    #expect(access.relaunch == .command(["/usr/bin/x", "--as client"]))
    #expect(!access.mayUseBackground)
  }

  @Test("a file writable by others is refused; user names are those of the system")
  func file() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).toml")
    defer { try? FileManager.default.removeItem(at: url) }
    try Data("[[rule]]\nuser = \"root\"\naccess = \"deny\"".utf8).write(to: url)
    for (mode, isTaken) in [(0o644, true), (0o664, false), (0o646, false)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
      let policy = try? AccessPolicy.load(path: url.path)
      #expect((policy != nil) == isTaken)
      if let policy { #expect(policy.access(uid: 0, client: "x").authorization == .denied) }
    }
    #expect(throws: FileProblems.self) { try AccessPolicy.load(path: url.path + ".none") }
  }
}
