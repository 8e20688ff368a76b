import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Why the board does not sleep")
struct HoldTests {
  @Test(
    "why the board does not sleep: who wants every fix, who owes an acknowledgement, the profile")
  func holds() throws {
    let bench = try ServiceBench(canIdle: true)
    let program = bench.program()
    let resting = try status(bench, program).holds.map(\.reason)
    #expect(resting == [.receiverCannotSleep, .noSuspend])
    let (control, watch, _) = bench.client("tracker")
    defer { watch.quit() }
    _ = bench.ask(.startUpdating, control)
    let mine = WireClientName(user: geteuid(), name: "tracker")
    let wanting = try status(bench, program).holds
    #expect(wanting == [WireHold(.everyFix, client: mine), WireHold(.noSuspend)])
    bench.fix()
    let owing = try status(bench, program).holds
    #expect(owing.first == WireHold(.acknowledgement, client: mine))
    let newest = FixName(generation: bench.generation, sequence: 0)
    #expect(bench.ask(.acknowledge(newest), control) == .done)
    #expect(try status(bench, program).holds == wanting)
  }

  @Test(
    "AUT-7: who may not know is told of no client and no receiver, who may of no other user's name")
  func holdsOfOthers() throws {
    let bench = try ServiceBench(policy(.always), canIdle: true)
    let (theirs, watch, _) = bench.client("theirs", of: 4_711)
    defer { watch.quit() }
    _ = bench.ask(.startUpdating, theirs)
    let told = try status(bench, bench.program(of: 1_000)).holds
    #expect(told == [WireHold(.everyFix), WireHold(.noSuspend)])
    bench.adopt(policy(.notDetermined))
    #expect(try status(bench, bench.program(of: 1_000)).holds == [WireHold(.noSuspend)])
  }

  @Test(
    "without pins it is told why a receiver cannot rest; what the kernel has against sleep, in its words"
  )
  func systemHolds() throws {
    let bench = try ServiceBench(canIdle: true) { $0.ignoresPins = true }
    let detail = try status(bench, bench.program()).holds.first?.detail
    #expect(detail?.contains("--no-pins") == true)
    bench.loop.clients.powerOffObstacle = .noAlarm
    let last = try #require(try status(bench, bench.program()).holds.last)
    #expect(last == WireHold(.staysOn, detail: SleepBlocker.noAlarm.description))
  }
}
