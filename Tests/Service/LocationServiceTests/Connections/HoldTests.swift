import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Reasons that keep the board awake")
struct HoldTests {
  @Test("the status lists reasons against sleep: every fix, an acknowledgement, the profile")
  func holds() throws {
    let bench = try ServiceBench(canIdle: true)
    let program = bench.program()
    let idle = try status(bench, program).holds.map(\.reason)
    #expect(idle == [.receiverCannotSleep, .noSuspend])
    let (control, watch, _) = bench.client("tracker")
    defer { watch.quit() }
    _ = bench.call(.startUpdating, control)
    let tracker = WireClientName(user: geteuid(), name: "tracker")
    let updating = try status(bench, program).holds
    #expect(updating == [WireHold(.everyFix, client: tracker), WireHold(.noSuspend)])
    bench.fix()
    let unacknowledged = try status(bench, program).holds
    #expect(unacknowledged.first == WireHold(.acknowledgement, client: tracker))
    let newest = FixName(generation: bench.generation, sequence: 0)
    #expect(bench.call(.acknowledge(newest), control) == .done)
    #expect(try status(bench, program).holds == updating)
  }

  @Test("AUT-7: only a permitted user sees clients and receiver, and no other user's name")
  func holdsOfOthers() throws {
    let bench = try ServiceBench(policy(.always), canIdle: true)
    let (other, watch, _) = bench.client("theirs", of: 4_711)
    defer { watch.quit() }
    _ = bench.call(.startUpdating, other)
    let holds = try status(bench, bench.program(of: 1_000)).holds
    #expect(holds == [WireHold(.everyFix), WireHold(.noSuspend)])
    bench.adopt(policy(.notDetermined))
    #expect(try status(bench, bench.program(of: 1_000)).holds == [WireHold(.noSuspend)])
  }

  @Test("`--no-pins` is named as the reason for a running receiver; the kernel's reason is quoted")
  func systemHolds() throws {
    let bench = try ServiceBench(canIdle: true) { $0.ignoresPins = true }
    let detail = try status(bench, bench.program()).holds.first?.detail
    #expect(detail?.contains("--no-pins") == true)
    bench.loop.clients.setPowerOffBlocker(.noAlarm)
    let last = try #require(try status(bench, bench.program()).holds.last)
    #expect(last == WireHold(.staysOn, detail: SleepBlocker.noAlarm.description))
  }
}
