import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import TestSupport
import Testing

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
      lines.count == 1 && lines[0].contains("is fed") && lines[0].contains("+2 s"), "\(lines)")
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
    func run(_ setClock: (Wall, Int) -> Void) throws -> (
      ring: [UInt8], state: [[UInt8]], notices: [UInt8], log: String
    ) {
      let wall = Wall()
      let log = LogPipe()
      // The clock is not fed, because the log would contain the offset.
      let bench = try ServiceBench(log: log.log) { $0.wallTimeAtBoot_ns = { wall.atBoot_ns } }
      setClock(wall, 0)
      let (control, watch, _) = bench.client("tracker")
      _ = bench.call(.startUpdating, control)
      _ = bench.call(.startVisits, control)
      for number in 1...40 {
        setClock(wall, number)
        bench.fix()
        if number % 10 == 0 { bench.save() }
      }
      let remains = try bench.killed()
      let state = remains.folder.names.map { remains.folder.read($0) }
      return (remains.ring, state, watch.bytes(), log.text)
    }
    let years_ns = 56 * 31_556_952 * 1_000_000_000 as Int64
    let correct = try run { wall, _ in wall.atBoot_ns = years_ns }
    let stepped = try run { wall, number in wall.atBoot_ns = number < 20 ? 0 : years_ns }
    #expect(!correct.notices.isEmpty && correct.ring.contains { $0 != 0 })
    #expect(stepped.ring == correct.ring)
    #expect(stepped.notices == correct.notices)
    #expect(stepped.log == correct.log)
    #expect(stepped.state.map(\.count) == correct.state.map(\.count))
  }
}
