import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationEngine
@testable import LocationService

@Suite("The feed of the system clock")
struct ClockFeedTests {
  private let folder = TestFolder()
  private var path: String { folder.file("chrony.sock") }

  /// A wall clock under the test's control.
  private final class Wall: @unchecked Sendable {
    var atBoot_ns: Int64 = 0
  }

  private func bench(
    _ wall: Wall = Wall(), log: SystemLog = SystemLog(threshold: .critical)
  ) throws -> ServiceBench {
    try ServiceBench(log: log) { [path] environment in
      environment.clockSocket = path
      environment.wallTimeAtBoot_ns = { wall.atBoot_ns }
    }
  }

  /// UTC minus wall clock of a message, s.
  private func offset(_ message: [UInt8]) -> Double {
    unsafe message.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: Double.self) }
  }

  private func clock(_ bench: ServiceBench) throws -> WireClock {
    guard case .status(let status)? = bench.call(.getStatus, bench.program()) else {
      throw SystemError("no status", code: ENOMSG)
    }
    return try #require(status.clock)
  }

  @Test(
    "STD-13: from the fourth fix on, each fix of a client's updates is a sample with its offset")
  func samples() throws {
    let chrony = FakeChrony(path)
    let wall = Wall()
    // ServiceBench's fix `n` arrives n + 1 s after boot.
    wall.atBoot_ns = 1_749_999_999_000_000_000 - 2_000_000_000
    let log = LogPipe()
    let bench = try bench(wall, log: log.log)
    _ = bench.clientWithFix("tracker")
    bench.fix()
    bench.fix()
    #expect(chrony.messages.isEmpty)
    #expect(try clock(bench).isFeeding == false)
    for _ in 0..<3 { bench.fix() }
    let messages = chrony.messages
    #expect(messages.count == 3 && messages.allSatisfy { offset($0) == 2 })
    let status = try clock(bench)
    #expect(status.isFeeding && status.samples == 3 && status.offset_us == 2_000_000)
    #expect(status.isPulse == false && status.suggestion == nil && status.socket == path)
    #expect(status.last?.acquired == bench.stage.now && status.last?.utc != nil)
    let lines = log.text.split(separator: "\n")
    #expect(
      lines.count == 1 && lines[0].contains("is fed") && lines[0].contains("+2.000 s"), "\(lines)")
  }

  @Test("a missing chronyd is logged once, and its start, end and restart are followed")
  func restarts() throws {
    let log = LogPipe()
    let bench = try bench(log: log.log)
    _ = bench.clientWithFix("tracker")
    for _ in 0..<20 { bench.fix() }
    #expect(try clock(bench).suggestion?.contains("refclock SOCK") == true)
    var chrony = FakeChrony(path)
    #expect(received(chrony, bench) > 0)
    chrony.kill()
    for _ in 0..<5 { bench.fix() }
    #expect(try clock(bench).suggestion?.contains("does not run") == true)
    chrony = FakeChrony(path)
    #expect(received(chrony, bench) > 0)
    let lines = log.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(lines)")
    #expect(lines.map { $0.contains("is not fed") } == [true, false, true, false])
  }

  /// Number of samples of 17 fixes: more than the longest delay between two attempts to connect.
  private func received(_ chrony: FakeChrony, _ bench: ServiceBench) -> Int {
    var count = 0
    for _ in 0..<17 {
      bench.fix()
      count += chrony.messages.count
    }
    return count
  }

  @Test("two minutes after the last fix the clock counts as not fed, and the status says why")
  func noFixes() throws {
    let chrony = FakeChrony(path)
    let bench = try bench()
    #expect(
      try clock(bench).suggestion == "no fix yet: no client needs one, or the receiver has none")
    _ = bench.clientWithFix("tracker")
    for _ in 0..<5 { bench.fix() }
    #expect(try clock(bench).isFeeding && clock(bench).suggestion == nil)
    bench.pass(110)
    #expect(try clock(bench).isFeeding && clock(bench).suggestion == nil)
    bench.pass(20)
    #expect(try !clock(bench).isFeeding)
    #expect(try clock(bench).suggestion?.contains("no fixes arrive") == true)
    #expect(chrony.messages.count == 3)
    bench.fix()
    #expect(try clock(bench).isFeeding && clock(bench).suggestion == nil)
  }

  /// Times of a fix `second` seconds after boot.
  private func epoch(
    _ second: Int64, pulse: Bool = false, _ change: (inout EpochTime) -> Void = { _ in }
  ) -> EpochTime {
    let utc = UTCTime(microseconds: 1_771_000_000_000_000) + .seconds(second)
    let time = Instant(microseconds: second * 1_000_000)
    var epoch = EpochTime(
      number: UInt64(second), utc: utc, arrival: time + .milliseconds(100),
      pulse: pulse ? EpochTime.Pulse(time: time, utc: utc) : nil)
    change(&epoch)
    return epoch
  }

  private func status(_ feed: ClockFeed, at second: Int64) -> WireClock {
    feed.description(at: Instant(microseconds: second * 1_000_000), UTCOffset())
  }

  @Test("STD-13: the clock counts as not fed from the first uncertain date on")
  func uncertainDate() {
    let chrony = FakeChrony(path)
    var feed = ClockFeed(path: path, usesPulse: false) { 0 }
    for second in 1...5 as ClosedRange<Int64> {
      _ = feed.handle(epoch(second), at: Instant(seconds: Double(second)))
    }
    #expect(status(feed, at: 5).isFeeding)
    _ = feed.handle(epoch(6) { $0.isDateUncertain = true }, at: Instant(seconds: 6))
    #expect(!status(feed, at: 6).isFeeding)
    #expect(status(feed, at: 6).suggestion == "the receiver's date is uncertain")
    #expect(chrony.messages.count == 2)
  }

  @Test("with a pulse, the fixes between two seconds are no problem; a missing pulse is one")
  func pulses() {
    let chrony = FakeChrony(path)
    var feed = ClockFeed(path: path, usesPulse: true) { 0 }
    for second in 1...5 as ClosedRange<Int64> {
      _ = feed.handle(epoch(second, pulse: true), at: Instant(seconds: Double(second)))
      let between = epoch(second) {
        $0.number += 1_000
        $0.utc = $0.utc + .milliseconds(500)
      }
      _ = feed.handle(between, at: Instant(seconds: Double(second) + 0.6))
      if second >= 4 { #expect(status(feed, at: second + 1).suggestion == nil) }
    }
    #expect(chrony.messages.count == 2)
    for second in 6...130 as ClosedRange<Int64> {
      _ = feed.handle(epoch(second), at: Instant(seconds: Double(second)))
    }
    #expect(!status(feed, at: 130).isFeeding && chrony.messages.isEmpty)
    #expect(status(feed, at: 130).suggestion?.contains("pulse_line") == true)
  }

  @Test("a socket that refuses a sample while chronyd starts is no failure, one that goes on is")
  func forbidden() {
    let chrony = FakeChrony(path)
    var feed = ClockFeed(path: path, usesPulse: false) { 0 }
    func refuse(_ times: Int) -> [Bool] {
      (0..<times).map { _ in feed.recordFailure(.forbidden) != nil }
    }
    #expect(refuse(2) == [false, false] && !status(feed, at: 1).isRefused)
    for second in 1...4 as ClosedRange<Int64> {
      _ = feed.handle(epoch(second), at: Instant(seconds: Double(second)))
    }
    #expect(chrony.messages.count == 1 && status(feed, at: 4).isFeeding)
    #expect(refuse(4) == [false, false, true, false])
    #expect(status(feed, at: 4).isRefused && !status(feed, at: 4).isFeeding)
    #expect(status(feed, at: 4).suggestion?.contains("may not write") == true)
  }

  @Test("AUT-9: a user without permission does not receive the state of the clock")
  func permission() throws {
    let bench = try bench()
    guard case .status(let status)? = bench.call(.getStatus, bench.program(of: 4_321)) else {
      Issue.record("no status")
      return
    }
    #expect(status.clock == nil)
  }

  @Test("without a socket in the options nothing is fed or reported")
  func disabled() throws {
    let bench = try ServiceBench()
    _ = bench.clientWithFix("tracker")
    guard case .status(let status)? = bench.call(.getStatus, bench.program()) else {
      Issue.record("no status")
      return
    }
    #expect(status.clock == nil)
  }

  @Test(
    "STD-13, LOC-8: a start in 1970 and a step of 56 years change nothing in ring, state, notices and log"
  )
  func step() throws {
    /// What a run with this wall clock leaves.
    struct Run {
      var ring: [UInt8] = []
      var state: [String] = []
      var notices: [UInt8] = []
      var reports: [UInt8] = []
      /// The log without the lines of the feed, which contain the offset.
      var log: [Substring] = []
      var offsets: [Double] = []
    }
    func run(_ atBoot_ns: (Int) -> Int64) throws -> Run {
      let wall = Wall()
      let log = LogPipe()
      let chrony = FakeChrony(path)
      let bench = try ServiceBench(servesGPSD: true, log: log.log) { [path] environment in
        environment.clockSocket = path
        environment.wallTimeAtBoot_ns = { wall.atBoot_ns }
      }
      wall.atBoot_ns = atBoot_ns(0)
      let (control, watch, _) = bench.client("tracker")
      _ = bench.call(.startUpdating, control)
      _ = bench.call(.startVisits, control)
      let gpsd = bench.gpsdProgram("?WATCH={\"enable\":true,\"json\":true};")
      _ = gpsd.bytes()
      var run = Run()
      for number in 1...40 {
        wall.atBoot_ns = atBoot_ns(number)
        bench.fix()
        run.offsets += chrony.messages.map(offset)
        if number % 10 == 0 { bench.save() }
      }
      let remains = try bench.killed()
      let rows = try StateStore(
        path: remains.folder.file("state.db"), at: UTCTime(microseconds: 0)
      ).rows
      func add(_ rows: some Sequence) { run.state += rows.map { "\($0)" }.sorted() }
      add(rows.clients.all)
      add(rows.cursors.all)
      add(rows.services.all)
      add(rows.regions.all)
      add(rows.events.all)
      add(rows.counters.all)
      run.ring = remains.ring
      run.notices = watch.bytes()
      run.reports = gpsd.bytes()
      run.log = log.text.split(separator: "\n").filter { !$0.contains("the system clock is") }
      return run
    }
    let years_ns = 56 * 31_556_952 * 1_000_000_000 as Int64
    let correct = try run { _ in years_ns }
    let stepped = try run { $0 < 20 ? 0 : years_ns }
    #expect(!correct.notices.isEmpty && correct.ring.contains { $0 != 0 })
    #expect(!correct.reports.isEmpty && correct.state.contains { $0.contains("tracker") })
    #expect(stepped.offsets.count == correct.offsets.count && stepped.offsets.count == 37)
    #expect(stepped.offsets != correct.offsets, "the feed alone follows the step")
    #expect(stepped.ring == correct.ring)
    #expect(stepped.notices == correct.notices)
    #expect(stepped.reports == correct.reports)
    #expect(stepped.log == correct.log)
    #expect(stepped.state == correct.state)
  }
}
