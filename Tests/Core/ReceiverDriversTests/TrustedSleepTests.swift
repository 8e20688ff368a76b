import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

/// The board may sleep as soon as the standby command is sent, once silence has shown that the receiver executes it.
@Suite("PWR-4: trust in a receiver that falls asleep") struct TrustedSleepTests {
  /// A receiver that tracks after one standby, which was observed `age` seconds before.
  private func tracking(_ age: Double = 60, _ setup: ReceiverSetup = Setups.plain) -> DriverBench {
    let bench = DriverBench(setup)
    bench.reach(.standby)
    bench.run(age)
    bench.reach(.tracking)
    bench.run(3)
    bench.clearRecords()
    return bench
  }

  @Test("PWR-4: the first standby is observed; the next one within an hour is not awaited")
  func observedOnce() {
    let first = DriverBench(Setups.plain)
    first.reach(.tracking)
    first.step(.goal(.standby))
    #expect(first.driver.state == .fallingAsleep && !first.driver.isQuiescent)
    let bench = tracking()
    bench.step(.goal(.standby))
    #expect(bench.driver.state == .fallingAsleep && bench.driver.isQuiescent)
    let queue = DriverTimeouts.transmissionTime(
      Setups.plain.outputQueueBytes, at: Setups.plain.lineSpeed)
    #expect(bench.driver.deadline == bench.now + DriverTimeouts.sleepEntryTime + queue)
    #expect(bench.driver.status.sleepCheck == bench.now + .seconds(3_600))
    bench.run(1)
    #expect(bench.driver.state == .standby && bench.receiver.isAsleep)
    #expect(bench.reported == [.reached(.standby)])
    bench.expectClean()
  }

  @Test("PWR-4: silence is observed again after an hour")
  func observedHourly() {
    for (age, isTrusted) in [(3_590.0, true), (3_600, false)] {
      let bench = tracking(age)
      bench.step(.goal(.standby))
      #expect(bench.driver.isQuiescent == isTrusted)
    }
    // The observation renews the trust.
    let bench = tracking(5_000)
    bench.reach(.standby)
    bench.run(3_000)
    bench.reach(.tracking)
    bench.step(.goal(.standby))
    #expect(bench.driver.isQuiescent)
  }

  @Test(
    "PWR-4: a receiver that ignored a trusted standby is found by its next message, and observed from then on"
  )
  func ignored() {
    let bench = tracking()
    bench.receiver.ignoredStandbys = 1
    bench.step(.goal(.standby))
    bench.run(1)
    bench.run(3)
    #expect(bench.driver.counters.failedStandbys == 1)
    #expect(bench.receiver.isAsleep)
    #expect(bench.commands().filter { $0 == "standby" }.count == 2)
    bench.run(60)
    bench.reach(.tracking)
    bench.step(.goal(.standby))
    #expect(bench.driver.isQuiescent, "the second standby was observed")
    bench.expectClean()
  }

  @Test(
    "PWR-4: a receiver that was trusted is observed after an hour, without a command that would wake it"
  )
  func checked() {
    let bench = tracking()
    bench.step(.goal(.standby))
    let sent = bench.now
    bench.run(3_599)
    #expect(bench.driver.state == .standby && bench.driver.deadline == sent + .seconds(3_600))
    #expect(bench.driver.status.sleepCheck == bench.driver.deadline)
    bench.run(1.01)
    #expect(bench.driver.state == .fallingAsleep && !bench.driver.isQuiescent)
    bench.run(2)
    #expect(bench.driver.state == .standby && bench.driver.deadline == nil)
    #expect(bench.commands() == ["standby"] && bench.receiver.isAsleep)
    #expect(bench.reported == [.reached(.standby)])
    bench.expectClean()
  }

  @Test("PWR-4: an observed receiver that is awake is sent to sleep again")
  func checkedAwake() {
    let bench = tracking()
    bench.step(.goal(.standby))
    bench.run(10)
    // It wakes, but the board is suspended and its output is lost.
    bench.step(.deadline)
    bench.receiver.isSilent = true
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    bench.run(3_588)
    bench.receiver.isSilent = false
    bench.run(6)
    #expect(bench.driver.counters.failedStandbys == 1)
    #expect(bench.commands().filter { $0 == "standby" }.count == 2 && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("PWR-4: a wait for silence that a start cut short shows nothing")
  func cutShort() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.step(.goal(.standby))
    bench.run(0.1)
    bench.step(.goal(.tracking))
    bench.runUntilIdle()
    bench.step(.goal(.standby))
    #expect(!bench.driver.isQuiescent)
  }

  @Test(
    "PWR-4: an observation that a new goal cuts short shows nothing, and a power-off waits for its end"
  )
  func observationCutShort() {
    for goal in [ReceiverMode.off, .standby] {
      let bench = tracking(60, Setups.switched)
      bench.step(.goal(.standby))
      bench.run(3_600)
      #expect(bench.driver.state == .fallingAsleep)
      let begin = bench.now
      bench.run(0.1)
      bench.step(.goal(goal))
      #expect(bench.driver.state == .fallingAsleep && bench.receiver.hasSupply)
      bench.runUntilIdle()
      #expect(bench.now - begin >= .seconds(1))
      bench.expectClean()
    }
  }

  @Test("PWR-4: a board that cannot be suspended observes every standby")
  func notSuspending() {
    var setup = Setups.plain
    setup.trustsSleep = false
    let bench = tracking(60, setup)
    bench.step(.goal(.standby))
    #expect(!bench.driver.isQuiescent && bench.driver.status.sleepCheck == nil)
  }

  @Test("PWR-4: a start ends the wait for the observation")
  func startedBefore() {
    let bench = tracking()
    bench.step(.goal(.standby))
    bench.run(10)
    bench.reach(.tracking)
    #expect(bench.driver.status.sleepCheck == nil)
  }

  @Test("PWR-4: a loss ends the trust")
  func loss() {
    let bench = tracking()
    bench.step(.lineFault)
    bench.run(10)
    bench.reach(.tracking)
    bench.step(.goal(.standby))
    #expect(!bench.driver.isQuiescent)
  }

  @Test(
    "PWR-5: a power-off is always awaited, also if the goal changes while the receiver falls asleep"
  )
  func powerOff() {
    let bench = tracking(60, Setups.switched)
    bench.step(.goal(.off))
    #expect(!bench.driver.isQuiescent && bench.receiver.hasSupply)
    bench.run(1)
    #expect(bench.receiver.hasSupply)
    #expect(bench.runUntilIdle() && !bench.receiver.hasSupply)
    let changed = tracking(60, Setups.switched)
    changed.step(.goal(.standby))
    #expect(changed.driver.isQuiescent)
    changed.run(0.1)
    changed.step(.goal(.off))
    #expect(!changed.driver.isQuiescent)
    changed.run(0.9)
    #expect(changed.receiver.hasSupply)
    #expect(changed.runUntilIdle() && !changed.receiver.hasSupply)
    bench.expectClean()
    changed.expectClean()
  }

  @Test("PWR-5: a power-off right after a trusted standby waits until the command has timed out")
  func powerOffAfterStandby() throws {
    var setup = Setups.switched
    setup.ackTimeout = .seconds(1)
    let bench = tracking(60, setup)
    bench.step(.goal(.standby))
    let sent = bench.now
    bench.run(0.9)
    #expect(bench.driver.state == .standby)
    bench.step(.goal(.off))
    #expect(bench.driver.state == .fallingAsleep && !bench.driver.isQuiescent)
    let end = try #require(bench.driver.deadline)
    #expect(end - sent > .seconds(2))
    bench.run((end - bench.now).seconds - 0.01)
    #expect(bench.receiver.hasSupply)
    #expect(bench.runUntilIdle() && !bench.receiver.hasSupply)
    // No second command, which would wake it.
    #expect(bench.commands().filter { $0 == "standby" }.count == 1)
    bench.expectClean()
    // Later the supply is switched off at once.
    let later = tracking(60, setup)
    later.step(.goal(.standby))
    later.run(5)
    later.step(.goal(.off))
    #expect(!later.receiver.hasSupply)
    later.expectClean()
  }

  @Test("PWR-5: a receiver that still sends before it is powered off is sent to sleep again")
  func powerOffWhileAwake() {
    let bench = tracking(60, Setups.switched)
    bench.receiver.ignoredStandbys = 1
    bench.step(.goal(.standby))
    while bench.driver.state != .standby { bench.run(0.01) }
    bench.step(.goal(.off))
    #expect(bench.driver.state == .fallingAsleep)
    #expect(bench.runUntilIdle() && !bench.receiver.hasSupply)
    #expect(bench.commands().filter { $0 == "standby" }.count == 2)
    #expect(bench.driver.counters.failedStandbys == 1)
    bench.expectClean()
  }

  @Test("a start right after a trusted standby waits until the receiver is asleep")
  func wakesEarly() {
    let bench = tracking()
    bench.step(.goal(.standby))
    bench.run(0.1)
    bench.step(.goal(.tracking))
    bench.run(0.3)
    #expect(bench.driver.state == .fallingAsleep)
    #expect(bench.runUntilIdle() && bench.driver.state == .tracking)
    bench.expectClean()
  }

  @Test("silence while the board was suspended is no loss")
  func lostInput() {
    let bench = tracking()
    bench.receiver.isSilent = true
    bench.run(9)
    bench.driver.restartSilenceTimeout(at: bench.now)
    bench.run(9)
    #expect(bench.driver.state == .tracking)
    bench.run(2)
    #expect(bench.driver.state != .tracking)
    // In other states nothing changes.
    let asleep = DriverBench(Setups.plain)
    asleep.reach(.standby)
    asleep.driver.restartSilenceTimeout(at: asleep.now)
    #expect(asleep.driver.deadline == nil)
  }
}
