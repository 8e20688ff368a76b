import TestSupport
import Testing

@testable import LocationService

@Suite("Subordinate user ids")
struct SubordinateTests {
  private let users = ["pi": UInt32(1_000), "guest": 1_001]

  @Test("RES-3: a subordinate id belongs to its login user, by name or number")
  func logins() {
    let text = """
      pi:100000:65536
      1001:165536:65536

      """
    let subordinates = SubordinateUsers(text: text) { users[$0] }
    #expect(subordinates.login(of: 100_000) == 1_000)
    #expect(subordinates.login(of: 165_535) == 1_000)
    #expect(subordinates.login(of: 165_536) == 1_001)
    #expect(subordinates.login(of: 231_071) == 1_001)
    for other in [0, 1_000, 99_999, 231_072, .max] as [UInt32] {
      #expect(subordinates.login(of: other) == other)
    }
  }

  @Test(
    "malformed lines are ignored",
    arguments: [
      "", "pi", "pi:1", "pi:1:2:3", "nobody:1:5", "pi:-1:5", "pi:a:5", "pi:1:0", "pi::5", ":1:5",
      "pi:1:99999999999",
    ])
  func malformed(_ line: String) {
    let subordinates = SubordinateUsers(text: line + "\nguest:10:1\n") { users[$0] }
    #expect((0..<9).allSatisfy { subordinates.login(of: $0) == $0 })
    #expect(subordinates.login(of: 10) == 1_001)
  }

  @Test("a range may end at the highest possible id")
  func highest() {
    let subordinates = SubordinateUsers(text: "pi:4294967290:100") { users[$0] }
    #expect(subordinates.login(of: .max) == 1_000)
    #expect(subordinates.login(of: 0) == 0)
  }

  @Test("the first of several lines with the same id applies")
  func overlapping() {
    var random = SplitMix64(seed: 18)
    for _ in 0..<50 {
      var lines: [(ids: ClosedRange<UInt32>, login: UInt32)] = []
      var text = ""
      for login in 1_000..<1_020 as Range<UInt32> {
        let first = UInt32.random(in: 0..<100, using: &random)
        let count = UInt32.random(in: 1..<30, using: &random)
        lines.append((first...(first + count - 1), login))
        text += "\(login):\(first):\(count)\n"
      }
      let subordinates = SubordinateUsers(text: text) { users[$0] }
      for uid in 0..<140 as Range<UInt32> {
        #expect(subordinates.login(of: uid) == lines.first { $0.ids.contains(uid) }?.login ?? uid)
      }
    }
  }

  @Test("a file of any length is read in bounded time; a missing file counts as empty")
  func files() throws {
    let folder = TestFolder()
    let long = String(repeating: "x", count: 70_000) + "\n4711:100:5\n"
    folder.write(Array(long.utf8), to: "long")
    #expect(SubordinateUsers.system(path: folder.path + "/long") == SubordinateUsers())
    #expect(SubordinateUsers.system(path: folder.path + "/none") == SubordinateUsers())
    folder.write(Array("4711:100:5\n".utf8), to: "subuid")
    #expect(SubordinateUsers.system(path: folder.path + "/subuid").login(of: 104) == 4_711)
  }

  @Test("names are resolved from the file of local users, without a lookup for each")
  func localNames() {
    let folder = TestFolder()
    var passwd = ""
    var subuid = ""
    for number in 0..<1_000 {
      passwd += "u\(number):x:\(20_000 + number):100::/:/bin/sh\n"
      subuid += "u\(number):\(1_000_000 + 10 * number):10\n"
    }
    folder.write(Array((passwd + "u0:x:1:1::/:\nbad\n").utf8), to: "passwd")
    folder.write(Array(subuid.utf8), to: "subuid")
    let read = SubordinateUsers.system(
      path: folder.path + "/subuid", passwd: folder.path + "/passwd")
    #expect(read.login(of: 1_000_000) == 20_000, "the first line of a name applies")
    #expect(read.login(of: 1_009_999) == 20_999)
    var lookUps = 0
    var names = UserNames(path: folder.path + "/passwd") { _ in
      lookUps += 1
      return 7
    }
    for number in 0..<1_000 { #expect(names.number(of: "u\(number)") == UInt32(20_000 + number)) }
    #expect(lookUps == 0)
  }

  @Test("names that are not local are looked up once each, up to a limit")
  func lookUps() {
    var lookedUp: [String] = []
    var names = UserNames(path: TestFolder().path + "/none") {
      lookedUp.append($0)
      return $0 == "n1" ? 41 : nil
    }
    for _ in 0..<2 {
      for number in 0..<1_000 {
        #expect(names.number(of: "n\(number)") == (number == 1 ? 41 : nil))
      }
    }
    #expect(lookedUp == (0..<UserNames.lookUpsLimit).map { "n\($0)" })
  }
  @Test("RES-3: lines beyond the lookup limit are logged once, with their number")
  func unresolved() throws {
    let folder = TestFolder()
    folder.write(Array("local:x:41:100::/:/bin/sh\n".utf8), to: "passwd")
    var text = "local:100:1\n4711:101:1\n"
    for number in 0..<UserNames.lookUpsLimit + 3 { text += "n\(number):\(200 + number):1\n" }
    folder.write(Array(text.utf8), to: "subuid")
    let log = LogPipe()
    let file = SubordinateFile(path: folder.path + "/subuid", passwd: folder.path + "/passwd") {
      UInt32($0.dropFirst()).map { 1_000 + $0 }
    }
    let bench = try ServiceBench(Users.policy, clients: 64, log: log.log) {
      $0.subordinates = file
    }
    func login(_ uid: UInt32) -> UInt32 { bench.loop.clients.permissions.account(of: uid) }
    #expect(login(100) == 41 && login(101) == 4_711 && login(215) == 1_015)
    #expect(login(216) == 216 && login(218) == 218)
    func lines() -> [Substring] { log.text.split(separator: "\n").filter { $0.contains("subuid") } }
    #expect(lines().count == 1, "\(log.text)")
    #expect(
      lines().first?.contains("3 lines are ignored") == true
        && lines().first?.hasSuffix("use numbers in /etc/subuid") == true, "\(lines())")
    // Reading the file again logs nothing unless the number of such lines grows.
    folder.write(Array((text + "4712:102:1\n").utf8), to: "subuid")
    bench.adopt(Users.policy)
    #expect(login(102) == 4_712 && lines().count == 1)
    folder.write(Array((text + "n99:300:1\n").utf8), to: "subuid")
    bench.pass(2)
    _ = bench.program(of: 1)
    #expect(lines().count == 2 && lines().last?.contains("4 lines are") == true)
  }
}
