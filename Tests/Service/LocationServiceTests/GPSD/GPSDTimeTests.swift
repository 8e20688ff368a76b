import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine
@testable import LocationService

@Suite("Times of gpsd's protocol")
struct GPSDTimeTests {
  private let user = GPSDBench.user
  private static let boot = UTCTime(microseconds: 1_700_000_000_000_000)

  private func bench() throws -> ServiceBench {
    try GPSDBench.make { environment in
      environment.wallTimeAtBoot_ns = { Self.boot.microseconds * 1_000 }
    }
  }

  @Test("TOFF has the time of the fix and of its arrival; it needs pps or timing, not json")
  func toff() throws {
    for (form, expected) in [
      ("\"json\":true,\"pps\":true", ["TPV", "SKY", "TOFF"]), ("\"pps\":true", ["TOFF"]),
      ("\"timing\":true", ["TOFF"]), ("\"json\":true", ["TPV", "SKY"]),
    ] {
      let bench = try bench()
      let program = bench.gpsdProgram("?WATCH={\(form)}", of: user)
      _ = program.lines()
      #expect(bench.isDemanding)
      bench.fix()
      let lines = program.lines()
      #expect(classes(lines) == expected, "\(form)")
      guard expected.contains("TOFF"), let toff = lines.last else { continue }
      let clock = 1_700_000_000 + (bench.stage.now - .boot).microseconds / 1_000_000
      #expect(toff.contains("\"real_sec\":1750000001,\"real_nsec\":0,\"clock_sec\":\(clock),"))
      #expect(toff.contains("\"precision\":-1"))
    }
  }

  @Test(
    "a fix without a time has none in its report, and no TOFF: the system's clock is not the receiver's"
  )
  func withoutTime() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"json\":true,\"pps\":true}", of: user)
    _ = program.lines()
    bench.fixWithoutTime()
    let lines = program.lines()
    #expect(classes(lines) == ["TPV", "SKY"])
    #expect(lines.first?.contains("\"lat\":48") == true)
    #expect(lines.allSatisfy { !$0.contains("\"time\"") && !$0.contains("\"ept\"") })
  }

  @Test("with a pulse per second, PPS follows TOFF, with the time of the pulse")
  func pps() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"pps\":true}", of: user)
    for _ in 0..<3 {
      _ = program.lines()
      // The fix arrives 0.3 s after the pulse of its second.
      bench.stage.pulse = bench.stage.now + .milliseconds(700)
      bench.fix()
    }
    let lines = program.lines()
    #expect(classes(lines) == ["TOFF", "PPS"])
    let pulse = Self.boot + (bench.stage.now - .boot) - .milliseconds(300)
    let seconds = pulse.microseconds / 1_000_000
    #expect(
      lines.last?.contains("\"clock_sec\":\(seconds),\"clock_nsec\":700000000,\"precision\":-20")
        == true, "\(lines)")
    #expect(lines.last?.contains("\"real_sec\":1750000003,\"real_nsec\":0,") == true)
  }

  private static func times(_ change: (inout EpochTime) -> Void) -> GPSDTimes? {
    var epoch = EpochTime(
      number: 1, utc: UTCTime(microseconds: 1_750_000_000_980_000),
      arrival: .boot + .milliseconds(5_400),
      pulse: EpochTime.Pulse(
        time: .boot + .milliseconds(5_020), utc: UTCTime(microseconds: 1_750_000_001_000_000)))
    change(&epoch)
    return GPSDTimes(epoch) { boot + ($0 - .boot) }
  }

  @Test("PPS has the whole second nearest to the fix, and the time of the pulse")
  func pulse() throws {
    let times = try #require(Self.times { _ in })
    #expect(times.utc.microseconds == 1_750_000_000_980_000)
    #expect(times.arrival == Self.boot + .milliseconds(5_400))
    #expect(times.pulse?.real.microseconds == 1_750_000_001_000_000)
    #expect(times.pulse?.clock == Self.boot + .milliseconds(5_020))
    #expect(try #require(Self.times { $0.pulse = nil }).pulse == nil)
  }

  @Test("without a known arrival, or with an uncertain date, there is neither TOFF nor PPS")
  func uncertain() {
    #expect(Self.times { $0.arrival = nil } == nil)
    #expect(Self.times { $0.isDateUncertain = true } == nil)
  }
}
