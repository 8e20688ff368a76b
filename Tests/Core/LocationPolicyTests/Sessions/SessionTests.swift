import LocationTypes
import Testing

@testable import LocationPolicy

/// Sessions by reference, so that code in an expectation can change them.
@dynamicMemberLookup
private final class SessionsReference {
  var all: ClientSessions

  init(_ all: ClientSessions = ClientSessions()) { self.all = all }

  subscript<Value>(dynamicMember path: KeyPath<ClientSessions, Value>) -> Value {
    all[keyPath: path]
  }

  func setAuthorization(_ authorization: Authorization, isReduced: Bool) {
    all.setAuthorization(authorization, isReduced: isReduced)
  }

  func launch(_ state: ExecutionState, needsExplicit: Bool, at now: Instant) {
    all.launch(state, needsExplicit: needsExplicit, at: now)
  }

  func end() { all.end() }
  func setExecution(_ state: ExecutionState) { all.setExecution(state) }
  func setImplied(_ count: Int) { all.setImplied(count) }
  func allowBackground(_ isAllowed: Bool) { all.allowBackground(isAllowed) }
  func openBackground(at now: Instant) -> Bool { all.openBackground(at: now) }
  func closeBackground() { all.closeBackground() }
  func elapse(at now: Instant) { all.elapse(at: now) }
  func close(_ number: Int) { all.close(number) }

  func open(
    _ requirement: SessionRequirement, requiresFullAccuracy: Bool, at now: Instant
  ) -> Int? {
    all.open(requirement, requiresFullAccuracy: requiresFullAccuracy, at: now)
  }

  func nextDiagnostics() -> (number: Int, diagnostics: SessionDiagnostics)? {
    all.nextDiagnostics()
  }
}

@Suite("Sessions, and whether a client is in use")
struct SessionTests {
  private func at(_ second: Int64) -> Instant { Instant(microseconds: second * 1_000_000) }

  /// A client whose process started at 100 s.
  private func client(
    _ authorization: Authorization = .always, _ state: ExecutionState = .foreground,
    explicit: Bool = false
  ) -> SessionsReference {
    let sessions = SessionsReference()
    sessions.setAuthorization(authorization, isReduced: false)
    sessions.launch(state, needsExplicit: explicit, at: at(100))
    return sessions
  }

  @Test("BKG-12: session requirements have Core Location's numbers")
  func numbers() {
    #expect(SessionRequirement.none.rawValue == 0 && SessionRequirement.whenInUse.rawValue == 1)
    #expect(SessionRequirement.always.rawValue == 2)
    #expect(SessionRequirement.none < .whenInUse && SessionRequirement.whenInUse < .always)
  }

  @Test("BKG-8: a background session is active only if authorized and created in the foreground")
  func active() {
    let foreground = client()
    #expect(foreground.openBackground(at: at(500)) && foreground.isBackgroundActive)
    let background = client(.always, .background)
    #expect(!background.openBackground(at: at(101)) && !background.hasBackground)
    for authorization in [Authorization.notDetermined, .restricted, .denied] {
      let refused = client(authorization)
      #expect(!refused.openBackground(at: at(101)) && !refused.hasBackground)
    }
    // Another object of an active session is active wherever it is created.
    foreground.setExecution(.background)
    #expect(foreground.openBackground(at: at(501)))
  }

  @Test("AUT-8: an undecided authorization is requested as when-in-use until it is decided")
  func undecided() {
    let sessions = client(.notDetermined)
    #expect(!sessions.openBackground(at: at(101)))
    #expect(sessions.requested == .whenInUse && sessions.requirement == .none)
    #expect(!sessions.openBackground(at: at(101)))
    sessions.closeBackground()
    #expect(sessions.requested == .whenInUse, "one of two is still open")
    sessions.closeBackground()
    #expect(sessions.requested == .none)
    sessions.closeBackground()
    #expect(!sessions.openBackground(at: at(101)) && sessions.requested == .whenInUse)
    sessions.setAuthorization(.denied, isReduced: false)
    #expect(sessions.requested == .none)
    let unused = client(.notDetermined, .background)
    #expect(!unused.openBackground(at: at(101)) && unused.requested == .none)
    let explicit = client(.notDetermined, explicit: true)
    #expect(!explicit.openBackground(at: at(101)) && explicit.requested == .none)
  }

  @Test("BKG-9: a session survives backgrounding, a crash, and 10 s of the next run")
  func survives() {
    let sessions = client()
    _ = sessions.openBackground(at: at(101))
    sessions.setExecution(.background)
    #expect(sessions.isInUse && sessions.hasBackground && sessions.deadline == .distantFuture)
    sessions.end()
    #expect(!sessions.isInUse && !sessions.isBackgroundActive && sessions.hasBackground)
    sessions.launch(.background, needsExplicit: false, at: at(200))
    #expect(sessions.deadline == at(210))
    sessions.elapse(at: Instant(microseconds: at(210).microseconds - 1))
    #expect(sessions.hasBackground)
    let again = SessionsReference(sessions.all)
    #expect(again.openBackground(at: at(209)) && again.isInUse)
    again.elapse(at: at(300))
    #expect(again.isBackgroundActive)
    sessions.elapse(at: at(210))
    #expect(!sessions.hasBackground && !sessions.openBackground(at: at(211)))
  }

  @Test("BKG-9: a second crash before the session is created again keeps its full grace time")
  func crashTwice() {
    let sessions = client()
    _ = sessions.openBackground(at: at(101))
    sessions.end()
    sessions.launch(.background, needsExplicit: false, at: at(200))
    sessions.end()
    #expect(sessions.background == .dormant)
    sessions.launch(.background, needsExplicit: false, at: at(300))
    #expect(sessions.deadline == at(310))
    let restored = SessionsReference(ClientSessions(grace: .seconds(3), hasBackground: true))
    restored.setAuthorization(.always, isReduced: false)
    restored.launch(.background, needsExplicit: false, at: at(1))
    #expect(restored.deadline == at(4))
  }

  @Test("BKG-10: invalidating the last object ends the session immediately and permanently")
  func invalidate() {
    let sessions = client()
    _ = sessions.openBackground(at: at(101))
    _ = sessions.openBackground(at: at(101))
    sessions.closeBackground()
    #expect(sessions.isBackgroundActive)
    sessions.closeBackground()
    #expect(!sessions.hasBackground)
    sessions.end()
    sessions.launch(.background, needsExplicit: false, at: at(200))
    #expect(!sessions.openBackground(at: at(201)))
    let resuming = SessionsReference(ClientSessions(hasBackground: true))
    resuming.setAuthorization(.always, isReduced: false)
    resuming.launch(.background, needsExplicit: false, at: at(1))
    resuming.closeBackground()
    #expect(resuming.background == .none)
    resuming.closeBackground()
    #expect(resuming.background == .none)
  }

  @Test("BKG-13: a session created neither in use nor promptly at launch does not count")
  func prompt() {
    func flags(createdAt second: Int64) -> LiveFlags {
      let sessions = client(.always, .background)
      _ = sessions.open(.always, requiresFullAccuracy: false, at: at(second))
      return sessions.use.flags
    }
    #expect(flags(createdAt: 110) == .empty)
    #expect(flags(createdAt: 111) == .insufficientlyInUse)
    let late = client(.always, .background)
    _ = late.open(.always, requiresFullAccuracy: false, at: at(500))
    #expect(late.nextDiagnostics()?.diagnostics.flags == .insufficientlyInUse)
    late.setExecution(.foreground)
    #expect(late.nextDiagnostics()?.diagnostics.flags == .empty)
    late.setExecution(.background)
    #expect(late.use.flags == .empty && late.nextDiagnostics() == nil)
  }

  @Test("BKG-14: authorized always, without an always session: no live updates when not in use")
  func always() {
    let sessions = client()
    sessions.setImplied(1)
    #expect(sessions.use == ClientUse())
    sessions.setExecution(.background)
    #expect(sessions.use == ClientUse(flags: .insufficientlyInUse))
    sessions.setExecution(.foreground)
    let number = sessions.open(.always, requiresFullAccuracy: false, at: at(200))
    sessions.setExecution(.background)
    #expect(sessions.use == ClientUse() && number == 0)
    sessions.close(0)
    #expect(sessions.use.flags == .insufficientlyInUse)
    // A background session counts as use.
    sessions.setExecution(.foreground)
    _ = sessions.openBackground(at: at(300))
    sessions.setExecution(.suspended)
    #expect(sessions.use == ClientUse(keepsRunning: true))
  }

  @Test("BKG-15: an iterator implies a session unless explicit sessions are required")
  func implied() {
    let sessions = client()
    #expect(sessions.requirement == .none && sessions.use.flags == .empty)
    sessions.setImplied(1)
    #expect(sessions.requirement == .whenInUse)
    sessions.setImplied(0)
    _ = sessions.openBackground(at: at(101))
    #expect(sessions.requirement == .whenInUse)
    let explicit = client(.always, .foreground, explicit: true)
    explicit.setImplied(1)
    _ = explicit.openBackground(at: at(101))
    #expect(explicit.requirement == .none && explicit.use.flags == .serviceSessionRequired)
    _ = explicit.open(.whenInUse, requiresFullAccuracy: false, at: at(102))
    #expect(explicit.use.flags == .empty)
  }

  @Test("BKG-16: of several sessions the highest requirement counts")
  func layers() {
    let sessions = client()
    _ = sessions.open(.none, requiresFullAccuracy: false, at: at(101))
    #expect(sessions.requirement == .none)
    _ = sessions.open(.always, requiresFullAccuracy: false, at: at(101))
    _ = sessions.open(.whenInUse, requiresFullAccuracy: false, at: at(101))
    #expect(sessions.requirement == .always)
    sessions.close(1)
    #expect(sessions.requirement == .whenInUse)
    sessions.close(-1)
    sessions.close(8)
    // The slot is free again, and the capacity is eight.
    for number in [1, 3, 4, 5, 6, 7] {
      #expect(sessions.open(.none, requiresFullAccuracy: false, at: at(102)) == number)
    }
    #expect(sessions.open(.none, requiresFullAccuracy: false, at: at(102)) == nil)
    sessions.end()
    #expect(sessions.requirement == .none)
  }

  @Test("BKG-17: diagnostics come immediately, then once for each change")
  func diagnostics() {
    let sessions = client(.notDetermined)
    _ = sessions.open(.always, requiresFullAccuracy: true, at: at(101))
    _ = sessions.open(.none, requiresFullAccuracy: true, at: at(101))
    func next() -> (Int, SessionDiagnostics)? {
      sessions.nextDiagnostics().map { ($0.number, $0.diagnostics) }
    }
    #expect(next() ?? (9, .init()) == (0, .init(flags: .authorizationRequestInProgress)))
    #expect(next() ?? (9, .init()) == (1, .init()))
    #expect(next() == nil)
    sessions.setAuthorization(.whenInUse, isReduced: true)
    let denied = SessionDiagnostics(fullAccuracyDenied: true, alwaysAuthorizationDenied: true)
    #expect(next() ?? (9, .init()) == (0, denied))
    #expect(next() == nil)
    sessions.setExecution(.background)
    #expect(next()?.1.flags == .insufficientlyInUse)
    for (authorization, flag) in [
      (Authorization.denied, LiveFlags.authorizationDenied),
      (.restricted, .authorizationRestricted),
    ] {
      sessions.setAuthorization(authorization, isReduced: false)
      #expect(next() ?? (9, .init()) == (0, .init(flags: flag)))
    }
    sessions.setAuthorization(.always, isReduced: false)
    #expect(next() ?? (9, .init()) == (0, .init()))
  }

  @Test("BKG-13: authorized when in use but not in use: only updates begun in the foreground")
  func whenInUse() {
    let sessions = client(.whenInUse)
    #expect(sessions.use == ClientUse())
    sessions.setExecution(.background)
    for level in [ServiceLevel.updates, .visits, .regions, .significantChange] {
      #expect(sessions.use.withheld.contains(level))
    }
    #expect(sessions.use.flags == .insufficientlyInUse)
    // BKG-18.
    sessions.allowBackground(true)
    #expect(!sessions.use.withheld.contains(.updates) && sessions.use.withheld.contains(.regions))
    sessions.end()
    #expect(sessions.use.withheld.contains(.updates))
    sessions.launch(.background, needsExplicit: false, at: at(200))
    #expect(sessions.use.withheld.contains(.updates))
  }

  @Test("RNG-6: losing the authorization ends the background session")
  func denied() {
    let sessions = client()
    _ = sessions.openBackground(at: at(101))
    sessions.setAuthorization(.denied, isReduced: false)
    #expect(!sessions.hasBackground && !sessions.use.keepsRunning)
  }
}
