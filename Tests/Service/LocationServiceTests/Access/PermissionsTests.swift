import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

@Suite("Permissions without a server: standings, login users, the check of the file")
struct PermissionsTests {
  private let start = Instant(microseconds: 10_000_000)

  @Test("RES-1: a user is permitted by the policy, or by a permitted client of the same login user")
  func standings() {
    let users = SubordinateUsers(text: "4711:100000:10") { _ in nil }
    var permissions = Permissions(Users.policy, SubordinateFile(users))
    #expect(permissions.standing(of: Users.me) == .administrator)
    #expect(permissions.standing(of: Users.friend) == .permitted)
    #expect(permissions.standing(of: 4_711) == .unpermitted)
    permissions.setPermitted([permissions.account(of: 100_003)])
    #expect(permissions.standing(of: 4_711) == .permitted)
    #expect(permissions.standing(of: 100_009) == .permitted)
    permissions.setPermitted([])
    #expect(permissions.standing(of: 100_009) == .unpermitted)
  }

  @Test("RES-3: the file is checked at most once a second, and read only after a change was found")
  func fileCheck() {
    let folder = TestFolder()
    folder.write(Array("4711:100000:10\n".utf8), to: "subuid")
    var permissions = Permissions(
      Users.policy, SubordinateFile(path: folder.path + "/subuid"))
    permissions.checkSubordinates(at: start)
    var isRead = permissions.refreshIfChanged()
    #expect(!isRead, "it has not changed")
    folder.write(Array("4712:100000:10\n#\n".utf8), to: "subuid")
    permissions.checkSubordinates(at: start + .seconds(1) - Interval(microseconds: 1))
    isRead = permissions.refreshIfChanged()
    #expect(!isRead, "too early for a check")
    permissions.checkSubordinates(at: start + .seconds(1))
    #expect(permissions.account(of: 100_000) == 4_711, "a check reads nothing")
    isRead = permissions.refreshIfChanged()
    #expect(isRead)
    #expect(permissions.account(of: 100_000) == 4_712)
    isRead = permissions.refreshIfChanged()
    #expect(!isRead, "once for each change")
  }

  @Test("AUT-7: a policy without rules has a warning, any other has none")
  func emptyPolicy() {
    var permissions = Permissions(AccessPolicy(), SubordinateFile())
    let warning = permissions.emptyPolicyWarning(socket: "/tmp/t.sock")
    #expect(
      warning?.contains(
        "\"ask\", so clients without a decision may not use location before "
          + "`torpor clients allow --socket /tmp/t.sock USER/NAME`") == true)
    permissions.adopt(Users.policy)
    #expect(permissions.emptyPolicyWarning(socket: "") == nil)
    #expect(permissions.consumeUnresolvedWarning() == nil)
  }
}
