import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Passive receivers") struct PassiveDriverTests {
  private func at(_ ms: Int64) -> Instant { .boot + .milliseconds(ms) }

  @Test("A receiver without a switch tracks, rejects other goals, and is never written to")
  func streams() {
    var driver = ReceiverDriver(ReceiverSetup(family: .passive))
    #expect(
      driver.status.isQuiescent && driver.status.deadline == nil && !driver.status.mayBufferFixes)
    #expect(driver.handle(.goal(.tracking), at: at(0)).observation == .reached(.tracking))
    for goal in [ReceiverMode.off, .standby, .batching(watermark: 5)] {
      #expect(driver.handle(.goal(goal), at: at(1)).observation == .refused(goal))
      #expect(!driver.status.hasOutgoing && driver.outgoing.count == 0)
    }
    #expect(driver.admit(Epoch(), at: at(2)) == .accept)
    #expect(driver.nextReleasedEpoch() == nil && !driver.status.isDraining)
    #expect(driver.handle(.drain, at: at(3)).observation == .drained)
    #expect(driver.handle(.lineFault, at: at(3)).observation == .lost)
    #expect(driver.handle(.message(.malformed), at: at(4)) == DriverEffects())
    let decodes = driver.usesMessages
    #expect(!decodes)
    let m10Decodes = ReceiverDriver(ReceiverSetup(family: .ubloxM10)).usesMessages
    #expect(m10Decodes)
    #expect(driver.handle(.batchPin, at: at(4)) == DriverEffects())
    #expect(driver.handle(.deadline, at: at(4)) == DriverEffects())
    #expect(driver.counters == DriverCounters())
  }

  @Test("PWR-4: a fault of an unused switch starts nothing")
  func faultBeforeGoal() {
    var driver = ReceiverDriver(ReceiverSetup(family: .passive, hasSupplySwitch: true))
    #expect(driver.handle(.pinFault(.receiverSupply), at: at(0)).observation == .lost)
    #expect(driver.status.deadline == nil)
  }

  @Test("PWR-4: a switch that fails for ever is retried every 60 s, without limit")
  func permanentFault() {
    var driver = ReceiverDriver(ReceiverSetup(family: .passive, hasSupplySwitch: true))
    var now = at(0)
    _ = driver.handle(.goal(.tracking), at: now)
    for failure in 1...300 {
      #expect(driver.handle(.pinFault(.receiverSupply), at: now).observation == .lost)
      let wait = Interval.seconds(min(1 << Int64(min(failure, 9) - 1), 60))
      #expect(driver.status.deadline == now + wait)
      now = now + wait
      #expect(driver.handle(.deadline, at: now).pin == PinCommand(.receiverSupply, .active))
    }
  }

  @Test("With a switch, the receiver is powered on, given time to start, and powered off")
  func switched() {
    var driver = ReceiverDriver(ReceiverSetup(family: .passive, hasSupplySwitch: true))
    #expect(driver.admit(Epoch(), at: at(0)) == .drop)
    #expect(driver.counters.unconfiguredEpochs == 1)
    let on = driver.handle(.goal(.tracking), at: at(10))
    #expect(on.pin == PinCommand(.receiverSupply, .active) && on.observation == .none)
    #expect(!driver.status.isQuiescent && driver.status.deadline == at(310))
    #expect(driver.handle(.goal(.tracking), at: at(20)) == DriverEffects())
    #expect(driver.handle(.deadline, at: at(309)).observation == .none)
    #expect(driver.handle(.deadline, at: at(310)).observation == .reached(.tracking))
    #expect(driver.admit(Epoch(), at: at(400)) == .accept)
    #expect(driver.handle(.goal(.standby), at: at(500)).observation == .refused(.standby))
    let off = driver.handle(.goal(.off), at: at(600))
    #expect(off.pin == PinCommand(.receiverSupply, .inactive) && off.observation == .none)
    // The goal is reached once the time in which the switch can report a fault has passed.
    #expect(driver.status.deadline == at(601) && !driver.status.isQuiescent)
    #expect(driver.handle(.deadline, at: at(601)).observation == .reached(.off))
    #expect(driver.status.deadline == nil && driver.status.isQuiescent)
    #expect(driver.handle(.goal(.batching(watermark: 1)), at: at(700)).pin?.level == .active)
    #expect(
      driver.handle(.deadline, at: at(2_000)).observation == .refused(.batching(watermark: 1)))
  }

  @Test("PWR-4: each fault of a switch is reported, and retried with growing back-off")
  func switchFails() {
    for goal in [ReceiverMode.off, .tracking] {
      var driver = ReceiverDriver(ReceiverSetup(family: .passive, hasSupplySwitch: true))
      let command = PinCommand(.receiverSupply, goal == .off ? .inactive : .active)
      #expect(driver.handle(.goal(goal), at: at(0)).pin == command)
      var now: Int64 = 0
      for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
        #expect(driver.handle(.pinFault(.receiverSupply), at: at(now)).observation == .lost)
        #expect(driver.status.isQuiescent && driver.status.deadline == at(now + pause * 1_000))
        now += pause * 1_000
        #expect(driver.handle(.deadline, at: at(now - 1)) == DriverEffects())
        let again = driver.handle(.deadline, at: at(now))
        #expect(again.pin == command && again.observation == .none && !driver.status.isQuiescent)
      }
      now += 300
      #expect(driver.handle(.deadline, at: at(now)).observation == .reached(goal))
      #expect(driver.status.isQuiescent && driver.status.deadline == nil)
      // After success the back-off restarts at one second.
      _ = driver.handle(.goal(.off), at: at(now))
      _ = driver.handle(.pinFault(.receiverSupply), at: at(now))
      #expect(driver.status.deadline == at(now + 1_000))
    }
  }

  @Test("A new goal replaces a pending retry of the switch")
  func goalAfterFault() {
    var driver = ReceiverDriver(ReceiverSetup(family: .passive, hasSupplySwitch: true))
    _ = driver.handle(.goal(.tracking), at: at(0))
    _ = driver.handle(.pinFault(.receiverSupply), at: at(0))
    #expect(driver.handle(.goal(.off), at: at(10)).pin?.level == .inactive)
    #expect(driver.handle(.deadline, at: at(11)).observation == .reached(.off))
    #expect(driver.status.deadline == nil)
    var streaming = ReceiverDriver(ReceiverSetup(family: .passive))
    #expect(streaming.handle(.pinFault(.receiverSupply), at: at(0)).observation == .lost)
    #expect(streaming.handle(.pinFault(.receiverWake), at: at(0)).observation == .lost)
    #expect(streaming.status.deadline == nil)
  }

  @Test("The driver of the setup's family is created")
  func family() {
    var driver = ReceiverDriver(Setups.wired)
    _ = driver.handle(.goal(.tracking), at: at(0))
    #expect(
      !driver.status.isQuiescent && driver.status.deadline != nil && !driver.status.hasOutgoing)
    _ = driver.handle(.deadline, at: at(1_000))
    _ = driver.handle(.deadline, at: at(2_000))
    #expect(driver.status.hasOutgoing && driver.outgoing[2] == 0x06 && driver.outgoing[3] == 0x8B)
    #expect(driver.counters.commands == 1)
    #expect(driver.admit(Epoch(), at: at(2_000)) == .drop)
    #expect(
      driver.nextReleasedEpoch() == nil && !driver.status.mayBufferFixes
        && !driver.status.isDraining)
  }

  @Test("Counters saturate at their largest value")
  func counters() {
    var counter = UInt32.max - 1
    counter.incrementSaturating()
    counter.incrementSaturating(5)
    #expect(counter == .max)
  }
}

@Suite("Held epochs") struct HeldEpochTests {
  private func epoch(_ second: Int64?) -> Epoch {
    var epoch = Epoch(origin: .live)
    epoch.utc = second.map { UTCTime(microseconds: $0 * 1_000_000) }
    return epoch
  }

  @Test(
    "Epochs not newer than the newest batch entry are discarded, the others are released in order")
  func release() {
    var held = HeldEpochs()
    for second in 1...6 { _ = held.add(epoch(Int64(second)), at: .boot) }
    #expect(held.nextReleased() == nil)
    #expect(held.release(after: UTCTime(microseconds: 4_000_000), .boot) == 4)
    #expect(held.nextReleased()?.utc?.microseconds == 5_000_000)
    #expect(held.nextReleased()?.utc?.microseconds == 6_000_000)
    #expect(held.nextReleased() == nil && held.count == 0)
  }

  @Test("The latest eight epochs are held")
  func overflow() {
    var held = HeldEpochs()
    for second in 1...12 {
      let isFull = held.add(epoch(Int64(second)), at: .boot)
      #expect(isFull == (second > 8))
    }
    #expect(held.release(after: nil, nil) == 0)
    for second in 5...12 {
      #expect(held.nextReleased()?.utc?.microseconds == Int64(second) * 1_000_000)
    }
    #expect(held.nextReleased() == nil)
  }

  @Test("Without UTC the time of arrival decides")
  func byArrival() {
    var held = HeldEpochs()
    for second in 1...4 { _ = held.add(epoch(nil), at: .boot + .seconds(Int64(second))) }
    #expect(held.release(after: nil, .boot + .seconds(2)) == 2)
    #expect(held.released == 2)
  }
}
