import LocationPolicy
import LocationWire
import Testing

@testable import CoreLocation

@Suite("Background sessions", .tags(.realTime))
struct BackgroundSessionTests {
  /// Whether a session is active according to its first diagnostic.
  private func isActive(_ background: CLBackgroundActivitySession) async throws -> Bool {
    var reasons = background.diagnostics.makeAsyncIterator()
    let reason = try #require(try await reasons.next())
    return !reason.insufficientlyInUse && !reason.authorizationRequestInProgress
  }

  /// Number of calls that closed a background session, after all calls so far have been received.
  private func closings(_ fake: FakeSession, _ permission: WirePermission) async -> Int {
    fake.session.send(.requestAuthorization(permission))
    #expect(await fake.received(.requestAuthorization(permission)))
    return fake.service.calls.count { $0 == .closeBackgroundSession }
  }

  @Test(
    "BKG-9, BKG-10: the end of an inactive background session leaves an active one open",
    arguments: [Authorization.always, .notDetermined], [true, false])
  func backgroundEnd(_ authorization: Authorization, isActive: Bool) async throws {
    let fake = FakeSession(authorization, backgroundReplies: [isActive])
    let background = CLBackgroundActivitySession(of: fake.session)
    var reasons = background.diagnostics.makeAsyncIterator()
    _ = try await reasons.next()
    background.invalidate()
    fake.session.send(.requestAuthorization(.always))
    #expect(await fake.received(.requestAuthorization(.always)))
    let isClosed = fake.service.calls.contains(.closeBackgroundSession)
    #expect(isClosed == (isActive || authorization == .notDetermined))
  }

  @Test("BKG-15: with the explicit key, a background session requires a service session")
  func explicitSession() async throws {
    let fake = FakeSession(backgroundReplies: [true, true], needsExplicitSessions: true)
    for hasService in [false, true] {
      let service =
        hasService
        ? CLServiceSession(.whenInUse, requiresFullAccuracy: false, of: fake.session) : nil
      let background = CLBackgroundActivitySession(of: fake.session)
      var reasons = background.diagnostics.makeAsyncIterator()
      let reason = try #require(try await reasons.next())
      #expect(reason.serviceSessionRequired == !hasService)
      withExtendedLifetime(service) {}
    }
  }

  @Test("BKG-10: each of two active background sessions ends by a call of its own")
  func twoSessions() async throws {
    let fake = FakeSession(backgroundReplies: [true, true])
    let first = CLBackgroundActivitySession(of: fake.session)
    let second = CLBackgroundActivitySession(of: fake.session)
    #expect(try await isActive(first))
    #expect(try await isActive(second))
    first.invalidate()
    first.invalidate()
    #expect(await closings(fake, .whenInUse) == 1)
    #expect(try await isActive(second))
    second.invalidate()
    #expect(await closings(fake, .always) == 2)
  }

  @Test(
    "BKG-8, BKG-10: the end of a session from before a decision leaves a later one active",
    arguments: [Authorization.notDetermined, .always])
  func endAfterDecision(_ initial: Authorization) async throws {
    let fake = FakeSession(initial, backgroundReplies: [initial == .always, true])
    let first = CLBackgroundActivitySession(of: fake.session)
    #expect(try await isActive(first) == (initial == .always))
    // The service counts the first session no longer: it was only pending, or location was denied meanwhile.
    let decisions: [Authorization] = initial == .always ? [.denied, .always] : [.always]
    for decision in decisions {
      fake.service.notify(.authorization(decision, isReduced: false))
      #expect(await wait { fake.session.read { $0.demand.authorization } == decision })
    }
    let second = CLBackgroundActivitySession(of: fake.session)
    #expect(try await isActive(second))
    first.invalidate()
    #expect(await closings(fake, .whenInUse) == 0)
    second.invalidate()
    #expect(await closings(fake, .always) == 1)
  }
}
