import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import LocationService

@Suite("Fixes of the past by gpsd's protocol")
struct GPSDHistoryTests {
  private let user = GPSDBench.user
  private let other: UInt32 = 2_000
  private let always = AccessRights(authorization: .always)

  /// Number of fixes of the past that a program receives.
  private func count(_ bench: ServiceBench, _ program: Program) -> Int {
    _ = program.lines()
    program.send(Array("?TORPOR={\"since\":0}".utf8))
    bench.settle()
    let lines = program.lines()
    let fixes = times(lines).count
    #expect(lines.last?.contains("\"fixes\":\(fixes),\"complete\":true") == true)
    return fixes
  }

  @Test("GPD-11: fixes of the past end with their number")
  func since() throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram(watchJSON, of: user)
    for _ in 0..<5 { bench.fix() }
    _ = program.lines()
    program.send(Array("?TORPOR={\"since\":1750000003}".utf8))
    bench.settle()
    let lines = program.lines()
    #expect(classes(lines) == ["TPV", "TPV", "TPV", "TORPOR"])
    #expect(lines.last?.contains("\"fixes\":3,\"complete\":true") == true)
  }

  @Test("GPD-11: a destroyed fix hides no other", arguments: 0..<5)
  func destroyed(_ sequence: UInt64) throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram(watchJSON, of: user)
    for _ in 0..<5 { bench.fix() }
    bench.destroyFix(sequence)
    #expect(count(bench, program) == 4)
  }

  @Test("GPD-11: without a WATCH, fixes of the past are an error")
  func withoutWatch() throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram("?TORPOR={\"since\":0}", of: user)
    let lines = program.lines()
    #expect(classes(lines) == ["VERSION", "ERROR"])
    #expect(lines.last?.contains("?WATCH") == true)
  }

  @Test("GPD-11, RNG-6: no fix from before the client's first program")
  func newClient() throws {
    let bench = try GPSDBench.make(others: [other: always])
    let recorder = bench.gpsdProgram(watchJSON, of: user)
    defer { recorder.quit() }
    for _ in 0..<7 { bench.fix() }
    let second = bench.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    #expect(count(bench, second) == 0)
    for _ in 0..<3 { bench.fix() }
    #expect(count(bench, second) == 3)
    second.quit()
    bench.settle()
    for _ in 0..<2 { bench.fix() }
    let third = bench.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    #expect(count(bench, third) == 5, "the client is permitted at any time")
  }

  @Test("GPD-11, RNG-6: no fix from a time with reduced accuracy, not even after a restart")
  func reduced() throws {
    let reduced = AccessRights(authorization: .always, isReduced: true)
    let bench = try GPSDBench.make(others: [other: reduced])
    let recorder = bench.gpsdProgram(watchJSON, of: user)
    defer { recorder.quit() }
    let program = bench.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    for _ in 0..<5 { bench.fix() }
    #expect(count(bench, program) == 0)
    bench.adopt(GPSDBench.policy(always, others: [other: always]))
    bench.settle()
    #expect(count(bench, program) == 0)
    for _ in 0..<2 { bench.fix() }
    #expect(count(bench, program) == 2)
    var next = try GPSDBench.make(others: [other: always], after: bench.killed())
    next = try GPSDBench.make(others: [other: always], after: next.killed())
    let again = next.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    #expect(count(next, again) == 0)
  }

  @Test(
    "GPD-11, RNG-6: no fix from a time in which a client with access when in use was not in use")
  func whenInUse() throws {
    let bench = try GPSDBench.make(others: [other: AccessRights(authorization: .whenInUse)])
    let recorder = bench.gpsdProgram(watchJSON, of: user)
    defer { recorder.quit() }
    let first = bench.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    for _ in 0..<3 { bench.fix() }
    #expect(count(bench, first) == 3)
    first.quit()
    bench.settle()
    for _ in 0..<4 { bench.fix() }
    let second = bench.gpsdProgram("?WATCH={\"enable\":true};", of: other)
    #expect(count(bench, second) == 0)
    bench.fix()
    #expect(count(bench, second) == 1)
  }
}
