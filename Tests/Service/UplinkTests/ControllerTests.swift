import Foundation
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization
import TestSupport
import Testing
import UplinkPayload

@testable import Uplink

/// A service and a broker for a controller, which runs until ``stop()``.
private final class ControllerBench: Sendable {
  let service: FakeService
  private let reports = Mutex<[UplinkStatus]>([])
  private let hasEnded = Mutex(false)

  /// Reports so far.
  var all: [UplinkStatus] { reports.withLock { $0 } }

  init() {
    service = FakeService { call in
      switch call {
      case .watch, .acknowledge: ([], false)
      case .connect:
        (FakeService.frame(.connected(ControllerBench.session)), false)
      case .getStatus:
        (
          FakeService.frame(
            .status(
              WireStatus(
                version: "1", board: "b", now: FixTime(acquired: .boot, utc: nil), generation: 2,
                nextSequence: 100,
                ringCapacity: 1_000, clients: 1))), false
        )
      case .listRegions: (FakeService.frame(.regions([])), false)
      case .beginHold: (FakeService.frame(.holding(1)), false)
      default: (FakeService.frame(.done), false)
      }
    }
  }

  private static var session: WireSession {
    var session = WireSession(
      session: 1, authorization: .always, isReduced: false, isDeferralAvailable: true)
    session.ringID = RingIdentifier(0xAB)
    return session
  }

  /// Starts a controller with these settings, and waits until it has allowed a deferral.
  func start(_ settings: UplinkSettings) {
    let thread = Thread { [self] in
      var controller = UplinkController(settings, socket: service.path, log: { _ in }) { report in
        self.reports.withLock { $0.append(report) }
      }
      _ = try? controller.run()
      hasEnded.withLock { $0 = true }
    }
    thread.start()
    #expect(waits { self.count { if case .allowDeferred = $0 { true } else { false } } == 1 })
  }

  /// Ends the controller.
  func stop() {
    service.notify(.takenOver)
    #expect(waits { self.hasEnded.withLock { $0 } })
    service.stop()
  }

  /// Number of calls of a kind.
  func count(_ isIncluded: (WireCall) -> Bool) -> Int { service.calls.count(where: isIncluded) }

  /// Delivers fixes and the end of the deferral.
  func deliver(_ notices: [WireNotice]) {
    for notice in notices + [.finished(nil)] { service.notify(notice) }
  }

  /// Waits until a condition is true, at most 10 s. Returns whether it is.
  func waits(_ condition: () -> Bool) -> Bool {
    for _ in 0..<1_000 {
      if condition() { return true }
      usleep(10_000)
    }
    return condition()
  }
}

@Suite("The uplink between a service and a broker", .serialized, .tags(.realTime))
struct ControllerTests {
  private func settings(_ ports: [Int], _ keys: String = "") throws -> UplinkSettings {
    let destinations = ports.map { "[[destination]]\nhost = '127.0.0.1'\nport = \($0)\n" }
    return try UplinkSettings(
      parsing: Array((keys + "\n" + destinations.joined()).utf8), file: "u.toml",
      defaultDevice: DeviceName("b"), checkFile: { _, _ in nil })
  }

  private func fixes(_ generation: UInt32, _ sequences: Range<UInt64>) -> WireNotice {
    .fixes(
      sequences.map { sequence in
        var fix = Fix(
          acquired: Instant(seconds: Double(sequence)),
          coordinate: Coordinate(latitude_e9: 1_234_567, longitude_e9: 2))
        fix.utc = UTCTime(microseconds: 1_767_225_600_000_000)
        return StoredFix(name: FixName(generation: generation, sequence: sequence), fix: fix)
      })
  }

  private static func content(_ message: FakeMQTTServer.Message) -> UplinkContent? {
    (try? UplinkMessage(decoding: message.payload))?.content
  }

  /// Receipts of everything.
  private static func confirm(_ message: FakeMQTTServer.Message) -> [FakeMQTTServer.Answer] {
    let ring = #"{"ring":"00000000000000ab","#
    let receipt: String? =
      switch content(message) {
      case .fixes(let fixes):
        fixes.last.map {
          ring + #""generation":\#($0.name.generation),"sequence":\#($0.name.sequence)}"#
        }
      case .gap(let gap, let generation):
        ring + #""gap":{"generation":\#(generation),"next":\#(gap.range.upperBound)}}"#
      case .event(let number, _): ring + #""event":\#(number)}"#
      case nil: nil
      }
    return [.acknowledgement(0)] + [receipt].compactMap { $0.map { .receipt($0) } }
  }

  @Test(
    "fixes, gaps and events are sent in their order, then the newest position; all are acknowledged"
  )
  func order() throws {
    let broker = FakeMQTTServer { ControllerTests.confirm($0) }
    defer { broker.stop() }
    let bench = ControllerBench()
    bench.start(try settings([broker.port], "visits = true\nnewest = true\ndecimals = 4"))
    let visit = Visit(
      coordinate: Coordinate(latitude_e9: 1_234_567, longitude_e9: 0), horizontalAccuracy: 10,
      arrival: nil)
    bench.deliver([
      .gap(Gap(1..<3, from: nil, to: nil)), fixes(1, 3..<5), .visit(visit, number: 7),
      fixes(2, 5..<6),
    ])
    #expect(bench.waits { bench.all.last?.uploads == 1 })
    #expect(
      broker.messages.map(\.topic)
        == ["gap", "fixes", "event", "fixes", "newest"].map { "torpor/b/" + $0 })
    #expect(broker.messages.map(\.isRetained) == [false, false, false, false, true])
    if case .event(7, let json)? = ControllerTests.content(broker.messages[2]) {
      #expect(String(decoding: json, as: UTF8.self).contains(#""latitude_deg":0.0012"#), "rounded")
    } else {
      Issue.record("no event")
    }
    #expect(
      String(decoding: broker.messages[4].payload, as: UTF8.self).contains(#""lat":0.0012,"#))
    #expect(
      bench.waits {
        bench.count { $0 == .acknowledge(FixName(generation: 2, sequence: 5)) } == 1
          && bench.count { $0 == .acknowledgeEvents(7) } == 1
      })
    #expect(broker.versions == [5], "one connection")
    bench.stop()
  }

  @Test(
    "AUT-6, RNG-6: a permission that is reduced or revoked during an upload stops it",
    arguments: [true, false])
  func narrowed(isRevoked: Bool) throws {
    let bench = ControllerBench()
    let broker = FakeMQTTServer { message in
      bench.service.notify(
        isRevoked
          ? .authorization(.denied, isReduced: false) : .authorization(.always, isReduced: true))
      return ControllerTests.confirm(message)
    }
    defer { broker.stop() }
    bench.start(try settings([broker.port], "newest = true"))
    bench.deliver([fixes(1, 3..<5), fixes(2, 5..<6)])
    #expect(bench.waits { broker.messages.count == 1 })
    if isRevoked {
      #expect(bench.waits { bench.all.last?.problem?.contains("was revoked") == true })
      bench.service.notify(.authorization(.always, isReduced: false))
    }
    // A new session begins behind the fixes that may not be sent.
    #expect(
      bench.waits { bench.count { if case .connect = $0 { true } else { false } } == 2 })
    #expect(
      bench.waits { bench.count { if case .allowDeferred = $0 { true } else { false } } >= 3 })
    #expect(broker.messages.count == 1, "neither the second message nor the newest position")
    bench.stop()
  }

  @Test(
    "a destination whose connections end is left after smaller messages, and the next one gets the fixes"
  )
  func nextDestination() throws {
    let first = FakeMQTTServer { _ in [.end] }
    let second = FakeMQTTServer(knowsVersion5: false) { ControllerTests.confirm($0) }
    defer {
      first.stop()
      second.stop()
    }
    let bench = ControllerBench()
    bench.start(try settings([first.port, second.port]))
    bench.deliver([fixes(1, 0..<8)])
    #expect(bench.waits { bench.all.last?.uploads == 1 })
    #expect(first.messages.count == 4, "8, 4, 2 fixes and 1 fix, each over a new connection")
    #expect(second.versions == [5, 4] && second.messages.count == 1)
    // What is known of the broker is used again, and the one that has worked is tried first.
    bench.deliver([fixes(1, 8..<16)])
    #expect(bench.waits { bench.all.last?.uploads == 2 })
    #expect(first.messages.count == 4 && second.versions == [5, 4, 4])
    bench.stop()
  }

  @Test("a message that the store has refused and kept does not stop the next ones")
  func refused() throws {
    let broker = FakeMQTTServer { message in
      guard case .fixes(let fixes)? = ControllerTests.content(message),
        fixes[0].name.generation == 1
      else { return ControllerTests.confirm(message) }
      let digits = message.payload.suffix(4).reversed().map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      let refusal = #"{"refused":"\#(digits.joined())","reason":"no such version"}"#
      return [.acknowledgement(0), .receipt(refusal)]
    }
    defer { broker.stop() }
    let bench = ControllerBench()
    bench.start(try settings([broker.port]))
    bench.deliver([fixes(1, 3..<5), fixes(2, 5..<6)])
    #expect(bench.waits { bench.all.last?.uploads == 1 })
    #expect(broker.messages.count == 2 && broker.versions == [5])
    for name in [FixName(generation: 1, sequence: 4), FixName(generation: 2, sequence: 5)] {
      #expect(bench.waits { bench.count { $0 == .acknowledge(name) } == 1 }, "\(name)")
    }
    bench.stop()
  }

  @Test("a failed upload acknowledges nothing, and is repeated after the back-off")
  func failure() throws {
    let broker = FakeMQTTServer { _ in [.acknowledgement(0x87)] }
    defer { broker.stop() }
    let bench = ControllerBench()
    bench.start(try settings([broker.port]))
    bench.deliver([fixes(1, 0..<2)])
    #expect(bench.waits { bench.all.last?.failures == 1 })
    let report = try #require(bench.all.last)
    #expect(report.pending == 2 && report.problem?.contains("refused the message") == true)
    let wait = try #require(report.nextAttempt).microseconds - UplinkClock.utc.microseconds
    #expect(wait > 55_000_000 && wait < 121_000_000)
    #expect(bench.count { if case .acknowledge = $0 { true } else { false } } == 0)
    #expect(broker.messages.count == 1)
    bench.stop()
  }
}
