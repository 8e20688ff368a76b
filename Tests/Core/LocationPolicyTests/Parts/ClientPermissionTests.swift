import LocationTypes
import Testing

@testable import LocationPolicy

/// Every change of authorization and accuracy, in every state.
@Suite("Permission of a client") struct ClientPermissionTests {
  static let authorizations: [Authorization] = [
    .notDetermined, .restricted, .denied, .always, .whenInUse,
  ]
  static let before = Instant(seconds: 10)
  static let now = Instant(seconds: 20)

  static func permission(_ authorization: Authorization, isReduced: Bool) -> ClientPermission {
    var permission = ClientPermission()
    permission.setAuthorization(authorization, isConnected: false, at: before)
    if isReduced { permission.setReduced(true, isConnected: false, at: before) }
    return permission
  }

  @Test("RNG-6: fixes are denied up to a change between granted and not granted")
  func authorization() {
    for old in Self.authorizations {
      for new in Self.authorizations where new != old {
        for isReduced in [false, true] {
          var permission = Self.permission(old, isReduced: isReduced)
          let denied = permission.deniedUntil
          #expect(denied == (old.isGranted ? nil : Self.before))
          permission.setAuthorization(new, isConnected: true, at: Self.now)
          #expect(permission.authorization == new && permission.isReduced == isReduced)
          #expect(permission.isAuthorized == new.isGranted)
          #expect(permission.allowsFixes == (new.isGranted && !isReduced))
          #expect(permission.deniedUntil == (old.isGranted == new.isGranted ? denied : Self.now))
        }
      }
    }
  }

  @Test("AUT-6: fixes are denied up to the return to full accuracy", arguments: authorizations)
  func accuracy(_ authorization: Authorization) {
    var permission = Self.permission(authorization, isReduced: false)
    let denied = permission.deniedUntil
    permission.setReduced(true, isConnected: true, at: Self.now)
    #expect(permission.isReduced && !permission.allowsFixes && permission.deniedUntil == denied)
    permission.setReduced(false, isConnected: true, at: Self.now)
    #expect(!permission.isReduced && permission.allowsFixes == authorization.isGranted)
    #expect(permission.deniedUntil == Self.now && permission.authorization == authorization)
  }

  @Test("A fix is denied by its time of acquisition, at the change itself too")
  func isDenied() {
    let allowed = ClientPermission()
    #expect(!allowed.isDenied(fix(at: 0)))
    let denied = Self.permission(.denied, isReduced: false)
    #expect(denied.isDenied(fix(at: 9)) && denied.isDenied(fix(at: 10)))
    #expect(!denied.isDenied(fix(at: 10.000_001)))
  }

  @Test("DEF-40: a change is reported once, and only to a process that was attached")
  func notices() {
    var permission = ClientPermission()
    func next() -> NoticeValue? { permission.nextNotice().map { NoticeValue($0) } }
    #expect(next() == nil)
    permission.setAuthorization(.whenInUse, isConnected: true, at: Self.now)
    permission.setReduced(true, isConnected: true, at: Self.now)
    #expect(permission.hasUnreportedChange)
    #expect(next() == .authorization(.whenInUse, isReduced: true))
    #expect(!permission.hasUnreportedChange && next() == nil)

    permission.setReduced(false, isConnected: true, at: Self.now)
    permission.detach()
    #expect(next() == nil)
    permission.setAuthorization(.denied, isConnected: false, at: Self.now)
    #expect(next() == nil)
  }
}
