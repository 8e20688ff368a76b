import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import CoreLocation

@Suite("Live updates for programs", .tags(.realTime))
struct LiveLoopTests {
  private func element(
    _ iterator: Int, _ sequence: UInt64?, _ flags: LiveFlags = .empty, stationary: Bool = false,
    dropped: UInt32 = 0
  ) -> LiveElement {
    LiveElement(
      iterator: iterator, location: sequence.map(storedFix), flags: flags, isStationary: stationary,
      dropped: dropped)
  }

  @Test("LIV-1, LIV-2: the service starts with each loop and ends when the loop is left")
  func loops() async throws {
    let fake = FakeSession()
    let updates = CLLocationUpdate.Updates(configuration: .fitness, session: fake.session)
    for round in 0..<2 {
      let received = Task {
        for try await update in updates { return update.location?.coordinate.longitude }
        return nil
      }
      #expect(
        await wait { fake.service.calls.count { $0 == .openLive(.fitness) } == round + 1 })
      fake.service.notify(.live(element(round, 9)))
      #expect(try await received.value == 9e-9)
      #expect(await fake.received(.closeLive(round)))
    }
  }

  @Test("LIV-9: loops are independent, and a fifth one is refused")
  func independent() async throws {
    let fake = FakeSession()
    var loops = (0..<4).map { _ in LiveLoop(.default, fake.session) }
    for number in 0..<4 {
      let next = Task { [loop = loops[number]] in try await loop.next() }
      #expect(
        await wait { fake.service.calls.count { $0 == .openLive(.default) } == number + 1 })
      fake.service.notify(.live(element(number, UInt64(number))))
      #expect(try await next.value?.location == storedFix(UInt64(number)))
    }
    let fifth = LiveLoop(.default, fake.session)
    await #expect(throws: ClientError.refused(.limitExceeded(what: "live updates", limit: 4))) {
      try await fifth.next()
    }
    loops.removeFirst()
    #expect(await fake.received(.closeLive(0)))
    #expect(!fake.service.calls.contains(.closeLive(1)))
  }

  @Test("LIV-10: a slow loop gets the newest location and the number of dropped ones")
  func slow() async throws {
    let core = LiveLoopCore(.default)
    for sequence in 1...5 as ClosedRange<UInt64> {
      _ = core.receive(.live(element(0, sequence, dropped: 2)))
    }
    _ = core.receive(.live(element(0, nil, stationary: true)))
    let newest = try #require(try await core.queue.next())
    #expect(newest.location == storedFix(5) && newest.isStationary)
    #expect(newest.dropped == 14, "two dropped in each of five, and four of the five")
  }

  @Test("AUT-6: a pending location is discarded when a right or full accuracy is lost")
  func forgotten() async throws {
    for flag in [LiveFlags.accuracyLimited, .authorizationDenied] {
      let core = LiveLoopCore(.default)
      _ = core.receive(.live(element(0, 1)))
      _ = core.receive(.live(element(0, nil, flag)))
      let newest = try #require(try await core.queue.next())
      #expect(newest.location == nil && newest.dropped == 1)
    }
  }

  @Test("LIV-7, LIV-12: a lost connection is reported by an update, and the loop continues")
  func lost() async throws {
    let fake = FakeSession()
    let loop = LiveLoop(.default, fake.session)
    let first = Task { try await loop.next() }
    #expect(await fake.received(.openLive(.default)))
    fake.closesNextCall()
    #expect(try await first.value?.flags == .locationUnavailable)
    let second = Task { try await loop.next() }
    #expect(await wait { fake.service.calls.count { $0 == .openLive(.default) } == 2 })
    // The loop has another number on the second connection.
    fake.service.notify(.live(element(1, 6)))
    #expect(try await second.value?.location == storedFix(6))
  }

  @Test(
    "LIV-6: each flag has its own property",
    arguments: [
      (LiveFlags.authorizationDenied, \CLLocationUpdate.authorizationDenied),
      (.authorizationDeniedGlobally, \.authorizationDeniedGlobally),
      (.authorizationRestricted, \.authorizationRestricted),
      (.insufficientlyInUse, \.insufficientlyInUse),
      (.locationUnavailable, \.locationUnavailable), (.accuracyLimited, \.accuracyLimited),
      (.serviceSessionRequired, \.serviceSessionRequired),
      (.authorizationRequestInProgress, \.authorizationRequestInProgress),
    ] as [(LiveFlags, KeyPath<CLLocationUpdate, Bool> & Sendable)])
  func flags(_ flag: LiveFlags, _ property: KeyPath<CLLocationUpdate, Bool> & Sendable) {
    let all: [KeyPath<CLLocationUpdate, Bool>] = [
      \.authorizationDenied, \.authorizationDeniedGlobally, \.authorizationRestricted,
      \.insufficientlyInUse, \.locationUnavailable, \.accuracyLimited, \.serviceSessionRequired,
      \.authorizationRequestInProgress, \.stationary, \.isStationary,
    ]
    let update = CLLocationUpdate(element(0, nil, flag))
    #expect(all.filter { update[keyPath: $0] } == [property])
    let stationary = CLLocationUpdate(element(0, nil, stationary: true))
    #expect(all.filter { stationary[keyPath: $0] } == [\.stationary, \.isStationary])
  }
}
