import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization
import TestSupport
import Testing

@testable import TorporLocation

/// A service that numbers iterators and sessions and records the calls it receives.
final class StagedService: Sendable {
  let service: FakeService
  let center: LocationCenter

  init(
    _ authorization: Authorization = .always, regions: [WireMonitoredRegion] = [],
    storesRegions: Bool = true
  ) {
    let next = Mutex(0)
    service = FakeService { call in
      let reply: WireReply?
      switch call {
      case .connect:
        reply = .connected(
          WireSession(
            session: 7, authorization: authorization, isReduced: false, isDeferralAvailable: true))
      case .setExecution(.suspended): return ([], true)
      case .watch: reply = nil
      case .openLive, .openServiceSession:
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        reply =
          number < 4 ? .opened(number) : .error(.limitExceeded(what: "live updates", limit: 4))
      case .openBackgroundSession: reply = .active(true)
      case .listRegions: reply = .regions(regions)
      case .addRegion where !storesRegions: reply = .error(.notAvailable(what: "the disk"))
      default: reply = .done
      }
      return (reply.map { FakeService.frame($0) } ?? [], false)
    }
    center = LocationCenter(name: "test", socket: service.path)
  }

  deinit { service.stop() }

  /// Waits until the service has received this call.
  func received(_ call: WireCall, times: Int = 1) async -> Bool {
    for _ in 0..<20_000 {
      if service.calls.filter({ $0 == call }).count >= times { return true }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  static func fix(_ sequence: UInt64) -> StoredFix {
    StoredFix(
      name: FixName(generation: 1, sequence: sequence),
      fix: Fix(
        acquired: Instant(seconds: Double(sequence)),
        coordinate: Coordinate(latitude_e9: 1, longitude_e9: Int64(sequence))))
  }

  static func element(
    _ iterator: Int, _ sequence: UInt64?, _ flags: LiveFlags = .empty, stationary: Bool = false,
    dropped: UInt32 = 0
  ) -> LiveElement {
    LiveElement(
      iterator: iterator, location: sequence.map(fix), flags: flags, isStationary: stationary,
      dropped: dropped)
  }
}

@Suite("Live updates for programs", .tags(.realTime))
struct LiveTests {
  @Test("LIV-1, LIV-2: the service starts with each loop and ends when the loop is left")
  func loops() async throws {
    let staged = StagedService()
    let updates = LocationUpdate.liveUpdates(.fitness, of: staged.center)
    #expect(staged.service.calls.isEmpty, "not started yet")
    for round in 0..<2 {
      let received = Task {
        for try await update in updates { return update.location }
        return nil
      }
      #expect(await staged.received(.openLive(.fitness), times: round + 1))
      staged.service.notify(.live(StagedService.element(round, 9)))
      #expect(try await received.value == StagedService.fix(9).fix)
      #expect(await staged.received(.closeLive(round)))
    }
  }

  @Test("LIV-2: cancelling a loop's task ends it without an error, and its demand")
  func cancelled() async throws {
    let staged = StagedService()
    let loop = Task {
      var count = 0
      for try await _ in LocationUpdate.liveUpdates(of: staged.center) { count += 1 }
      return count
    }
    #expect(await staged.received(.openLive(.default)))
    loop.cancel()
    #expect(try await loop.value == 0)
    #expect(await staged.received(.closeLive(0)))
  }

  @Test("LIV-9: two loops are independent, and a fifth one is refused")
  func independent() async throws {
    let staged = StagedService()
    var loops = (0..<4).map { _ in
      LocationUpdate.liveUpdates(of: staged.center).makeAsyncIterator()
    }
    for number in 0..<4 {
      let next = Task { [loop = loops[number].loop] in try await loop.next() }
      #expect(await staged.received(.openLive(.default), times: number + 1))
      staged.service.notify(.live(StagedService.element(number, UInt64(number))))
      #expect(try await next.value?.location == StagedService.fix(UInt64(number)).fix)
    }
    var fifth = LocationUpdate.liveUpdates(of: staged.center).makeAsyncIterator()
    await #expect(throws: ClientError.refused(.limitExceeded(what: "live updates", limit: 4))) {
      try await fifth.next()
    }
    loops.removeFirst()
    #expect(await staged.received(.closeLive(0)))
    #expect(!staged.service.calls.contains(.closeLive(1)))
  }

  @Test(
    "LIV-6: each flag has its own property",
    arguments: [
      (LiveFlags.authorizationDenied, \LocationUpdate.authorizationDenied),
      (.authorizationDeniedGlobally, \.authorizationDeniedGlobally),
      (.authorizationRestricted, \.authorizationRestricted),
      (.insufficientlyInUse, \.insufficientlyInUse),
      (.locationUnavailable, \.locationUnavailable), (.accuracyLimited, \.accuracyLimited),
      (.serviceSessionRequired, \.serviceSessionRequired),
      (.authorizationRequestInProgress, \.authorizationRequestInProgress),
    ] as [(LiveFlags, KeyPath<LocationUpdate, Bool> & Sendable)])
  func flags(_ flag: LiveFlags, _ property: KeyPath<LocationUpdate, Bool> & Sendable) {
    let all: [KeyPath<LocationUpdate, Bool>] = [
      \.authorizationDenied, \.authorizationDeniedGlobally, \.authorizationRestricted,
      \.insufficientlyInUse, \.locationUnavailable, \.accuracyLimited, \.serviceSessionRequired,
      \.authorizationRequestInProgress, \.stationary, \.isStationary,
    ]
    let update = LocationUpdate(StagedService.element(0, nil, flag))
    #expect(all.filter { update[keyPath: $0] } == [property])
    let stationary = LocationUpdate(StagedService.element(0, nil, stationary: true))
    #expect(all.filter { stationary[keyPath: $0] } == [\.stationary, \.isStationary])
  }

  @Test("LIV-11: denial is an element; only a lost connection throws")
  func denied() async throws {
    let staged = StagedService(.denied)
    let center = staged.center
    let received = Task {
      var updates: [LocationUpdate] = []
      do {
        for try await update in LocationUpdate.liveUpdates(of: center) { updates.append(update) }
      } catch {
        return (updates, error as? ClientError)
      }
      return (updates, nil)
    }
    #expect(await staged.received(.openLive(.default)))
    staged.service.notify(.live(StagedService.element(0, nil, .authorizationDenied)))
    staged.service.notify(.takenOver)
    let (updates, error) = await received.value
    #expect(updates.map(\.authorizationDenied) == [true] && error == .takenOver)
    await #expect(throws: ClientError.takenOver) { try await center.authorization }
    #expect(staged.service.calls.filter { $0 == .connect(name: "test") }.count == 1)
  }

  @Test("a lost connection ends loops with an error, and the next call reconnects")
  func lost() async throws {
    let staged = StagedService()
    let center = staged.center
    var loop = LocationUpdate.liveUpdates(of: center).makeAsyncIterator()
    let first = Task { [loop = loop.loop] in try await loop.next() }
    #expect(await staged.received(.openLive(.default)))
    await #expect(throws: ClientError.disconnected) { try await center.setExecution(.suspended) }
    await #expect(throws: ClientError.disconnected) { try await first.value }
    #expect(try await loop.next() == nil, "the loop has ended")
    // Its number belongs to another loop on the next connection; the old loop's end must not close
    // it.
    let second = Task { [updates = LocationUpdate.liveUpdates(of: center)] in
      for try await update in updates { return update.location }
      return nil
    }
    #expect(await staged.received(.openLive(.default), times: 2))
    loop = LocationUpdate.liveUpdates(of: center).makeAsyncIterator()
    _ = try await center.authorization
    #expect(!staged.service.calls.contains(.closeLive(0)))
    staged.service.notify(.live(StagedService.element(1, 6)))
    #expect(try await second.value == StagedService.fix(6).fix)
    #expect(try await center.authorization.status == .always)
    #expect(staged.service.calls.filter { $0 == .connect(name: "test") }.count == 2)
  }

  @Test("LIV-11: without a service a loop throws an error with a suggestion")
  func absent() async {
    let center = LocationCenter(name: "test", socket: "/tmp/torpor-no-such-socket")
    var loop = LocationUpdate.liveUpdates(of: center).makeAsyncIterator()
    await #expect(throws: ClientError.noSocket(path: "/tmp/torpor-no-such-socket")) {
      try await loop.next()
    }
  }

  @Test("LIV-10: a slow loop gets the newest location and the number of dropped ones")
  func slow() async throws {
    let staged = StagedService()
    var loop = LocationUpdate.liveUpdates(of: staged.center).makeAsyncIterator()
    let first = Task { [loop = loop.loop] in try await loop.next() }
    #expect(await staged.received(.openLive(.default)))
    staged.service.notify(.live(StagedService.element(0, 0)))
    _ = try await first.value
    for sequence in 1...5 as ClosedRange<UInt64> {
      staged.service.notify(.live(StagedService.element(0, sequence, dropped: 2)))
    }
    staged.service.notify(.live(StagedService.element(0, nil, stationary: true)))
    try await synchronize(staged)
    let update = try #require(try await loop.next())
    #expect(update.location == StagedService.fix(5).fix && update.stationary)
    #expect(update.dropped == 14, "two dropped in each of five, and four of the five")
  }

  @Test("AUT-6: a pending location is discarded when a right or full accuracy is lost")
  func forgotten() async throws {
    let staged = StagedService()
    var loop = LocationUpdate.liveUpdates(of: staged.center).makeAsyncIterator()
    let first = Task { [loop = loop.loop] in try await loop.next() }
    #expect(await staged.received(.openLive(.default)))
    staged.service.notify(.live(StagedService.element(0, 0)))
    _ = try await first.value
    for flag in [LiveFlags.accuracyLimited, .authorizationDenied] {
      staged.service.notify(.live(StagedService.element(0, 1)))
      staged.service.notify(.live(StagedService.element(0, nil, flag)))
      try await synchronize(staged)
      let update = try #require(try await loop.next())
      #expect(update.location == nil && update.dropped == 1)
    }
  }

  /// Waits until all notices are handled: replies come after them.
  private func synchronize(_ staged: StagedService) async throws {
    staged.service.notify(.authorization(.whenInUse, isReduced: true))
    while try await !staged.center.authorization.isReduced { await Task.yield() }
    staged.service.notify(.authorization(.whenInUse, isReduced: false))
    while try await staged.center.authorization.isReduced { await Task.yield() }
  }
}
