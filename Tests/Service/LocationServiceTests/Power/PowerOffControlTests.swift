import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LinuxHAL
@testable import LocationService

/// The whole service but its process: connections, clients, engine and the decision to switch the board off, in virtual
/// time.
@Suite("A board that is off until an alarm, and programs that use it") struct PowerOffControlTests {
  /// An alarm that records for which time it was set.
  private final class FakeAlarm: PowerOnAlarm {
    private(set) var interval: Interval?
    let name = "fake"
    var time_s: Int64? { nil }
    var setting: Int64? { nil }
    var hasPoweredOn: Bool? { nil }

    func set(in interval: Interval, minimumDistance: Interval) -> Int32 {
      self.interval = interval
      return 0
    }

    func restore(_ before: Int64?) { interval = nil }
  }

  private static let shortest = Interval.seconds(60)
  private static let startup = Interval.seconds(11)

  private let alarm = FakeAlarm()
  private let kernel = TestFolder()
  private let bench: ServiceBench

  /// The client "tracker" has used significant change since an earlier run of the service; the service launches it for
  /// the report of the first fix.
  init() throws {
    let board = try #require(
      BoardParameters().whenUnattended(
        saved_mW: 595, boot_mJ: 995 * 10, startupTime: Self.startup, shortest: Self.shortest))
    let rights = AccessRights(authorization: .always, relaunch: .command(["/bin/tracker"]))
    let policy = AccessPolicy(
      defaultRights: AccessRights(authorization: .always),
      rules: [AccessRule(AccessSubject(client: "tracker"), rights, line: 1)],
      administrators: [geteuid()])
    let previous = try ServiceBench(policy)
    let tracker = previous.client("tracker")
    #expect(previous.call(.startSignificantChange, tracker.control) == .done)
    tracker.watch.quit()
    tracker.control.quit()
    previous.settle()
    bench = try ServiceBench(
      policy, after: previous.killed(), canIdle: true, unattendedBoard: board)
    bench.loop.ignoresUnneededReceiver = true
    let powerOff = BoardPowerOff(
      alarm, minimumOffTime: Self.shortest, lead: Self.startup,
      record: bench.folder.file("wake-intent"), boot: BootIdentity(id: [1]),
      KernelFiles(root: kernel.path))
    bench.powerOff = PowerOffControl(powerOff, board, after: .byAlarm, at: bench.stage.now)
  }

  /// Runs the service for that time or until it switches the board off.
  ///
  /// - Parameter hasFix: Whether the receiver sends a fix each second while it is on.
  /// - Returns: After how many seconds the board was switched off; nil if it is still on.
  private func run(_ seconds: Int, hasFix: Bool = true) -> Int? {
    for second in 1...seconds {
      if hasFix, bench.loop.engine.isReceiverAwake {
        bench.fix(at: 0, after: 1)
      } else {
        bench.pass(1)
      }
      if bench.timeOff != nil { return second }
    }
    return nil
  }

  /// Checks that the board stays on for that time without a program, and is switched off soon after.
  private func expectOff(
    after seconds: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(run(seconds - 1) == nil, "too early", sourceLocation: sourceLocation)
    #expect(run(5) != nil, "too late", sourceLocation: sourceLocation)
  }

  @Test("PWR-14: a board that its alarm has switched on is off after 30 s, and its alarm is set")
  func unused() throws {
    bench.fix()
    expectOff(after: 29)
    let time = try #require(bench.timeOff)
    #expect(time >= Self.startup + Self.shortest)
    #expect(alarm.interval == time - Self.startup)
    let intent = try #require(WakeIntent.read(bench.folder.file("wake-intent")))
    #expect(intent.until == bench.stage.now + time && intent.off == bench.stage.now)
  }

  @Test(
    "PWR-14: a program that uses location keeps the board on, and for the minimum time after it has left"
  )
  func attended() {
    let viewer = bench.client("viewer")
    #expect(bench.call(.startUpdating, viewer.control) == .done)
    #expect(run(600) == nil)
    #expect(viewer.watch.fixes().count > 100)
    #expect(bench.powerOffCheck == .distantFuture, "no wake for a check")
    viewer.watch.quit()
    viewer.control.quit()
    bench.settle()
    expectOff(after: 60)
  }

  @Test("PWR-14: a program that is connected without a request keeps the board on")
  func idleProgram() {
    let viewer = bench.client("viewer")
    #expect(run(600) == nil)
    viewer.control.quit()
    bench.settle()
    expectOff(after: 60)
  }

  @Test(
    "PWR-14: a program that calls and leaves within one turn counts as one that uses the service")
  func briefCall() {
    #expect(run(20) == nil)
    // The launched program connects, so that it is not launched again.
    let tracker = bench.client("tracker")
    tracker.watch.quit()
    tracker.control.quit()
    bench.settle()
    let program = Program(bench.path)
    program.send(.getInfo, oneway: true)
    program.quit()
    bench.settle()
    expectOff(after: 60)
  }

  @Test("PWR-14, BKG-19: a program that the service starts has 30 s to connect")
  func starting() {
    #expect(run(40, hasFix: false) == nil, "the receiver has no fix")
    #expect(bench.started.all.isEmpty)
    bench.fix()
    #expect(bench.started.all.map(\.reason) == [.significantChange])
    expectOff(after: 30)
  }

  @Test(
    "PWR-14, BKG-19: a program that the service has started keeps the board on, and for 30 s after it has left"
  )
  func launched() {
    #expect(run(40, hasFix: false) == nil)
    bench.fix()
    #expect(run(10) == nil)
    // A script connects once for each of its commands.
    for seconds in [300, 20] {
      leave(bench.client("tracker"), after: seconds)
      #expect(run(10) == nil)
    }
    expectOff(after: 20)
  }

  @Test(
    "PWR-14, BKG-19: a drain of a launched program's session counts as launched; reading a backlog without a session does not",
    arguments: [true, false])
  func drain(_ hasSession: Bool) {
    #expect(run(40, hasFix: false) == nil)
    bench.fix()
    let tracker = bench.client("tracker")
    let reader = Program(bench.path)
    reader.send(
      hasSession ? .drain(session: tracker.session) : .readBacklog(name: "tracker"), oneway: false)
    bench.settle()
    reader.quit()
    leave(tracker, after: 1)
    expectOff(after: hasSession ? 30 : 60)
  }

  @Test("PWR-14, BKG-19: a program that takes over a started one counts as started")
  func takenOver() {
    #expect(run(40, hasFix: false) == nil)
    bench.fix()
    let first = bench.client("tracker")
    let second = bench.client("tracker")
    leave(first, after: 1)
    leave(second, after: 10)
    expectOff(after: 30)
  }

  /// A program disconnects after that time.
  private func leave(
    _ program: (control: Program, watch: Program, session: Int64), after seconds: Int
  ) {
    #expect(run(seconds) == nil)
    program.watch.quit()
    program.control.quit()
    bench.settle()
  }
}
