import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

/// Runs a driver against the fake receiver in virtual time, and watches over what must always hold.
final class DriverBench {
  var driver: UBloxDriver
  let receiver: FakeM10
  let setup: ReceiverSetup
  private(set) var now = Instant.boot
  private var lineSpeed: UInt32
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  /// When the stream's pause closes an epoch of sentences.
  private var pauseAt: Instant?
  private var wasAtWatermark = false
  private var commandUntil: Instant?
  private var wakePin = PinLevel.inactive
  /// What the driver told, with the second at which it did.
  private(set) var told: [DriverObservation] = []
  /// The epochs that were handed on, in order, by their number.
  private(set) var taken: [Int] = []
  /// Of each batch entry, how many were still to come after it.
  private(set) var behind: [Int] = []
  /// Pins as they were driven.
  private(set) var pins: [PinCommand] = []
  /// States that were entered.
  private(set) var states: [UBloxDriver.State] = []
  private(set) var violations: [String] = []
  /// What the receiver knew of the sky, in the driver's places.
  private var kept: [[UInt8]] = []
  private var entryFrame: [UInt8] = []
  /// So many times the supply switch does not obey.
  var failingSwitches = 0
  /// Whether batch pin edges are passed on.
  var passesPin = true
  /// The supply is cut at once when the driver says so; when was standby last asked for?
  private var standbyAskedAt: Instant?

  init(_ setup: ReceiverSetup, hasSupply: Bool? = nil) {
    self.setup = setup
    driver = UBloxDriver(setup)
    receiver = FakeM10(setup, hasSupply: hasSupply ?? !setup.hasSupplySwitch)
    lineSpeed = setup.lineSpeed
    receiver.databaseEntries = setup.aiding == nil ? 0 : 5
  }

  /// Words of the commands that the receiver got since the last call.
  func commands() -> [String] {
    defer { commandsSeen = receiver.commands.count }
    return Array(receiver.commands[commandsSeen...])
  }
  private var commandsSeen = 0

  func forget() {
    told = []
    taken = []
    pins = []
    states = []
    _ = commands()
  }

  func step(_ event: DriverEvent) {
    // What was in flight on a line that is gone is not any more.
    if case .lineFault = event { commandUntil = nil }
    // What only helps is not waited for.
    if case .goal = event, driver.state.stage == .preemptible { commandUntil = nil }
    let effects = driver.handle(event, at: now)
    if states.last != driver.state { states.append(driver.state) }
    var isStuck = false
    if let pin = effects.pin { isStuck = !drive(pin) }
    if let speed = effects.lineSpeed { lineSpeed = speed }
    if driver.hasOutgoing { write(bytes(of: driver.outgoing)) }
    switch effects.aiding {
    case .none: break
    case .store(let place): kept = kept.prefix(Int(place)) + [entryFrame]
    case .send(let place): write(kept[Int(place)])
    }
    if effects.observation != .none { told.append(effects.observation) }
    while let epoch = driver.nextReleasedEpoch() { take(epoch) }
    check(event)
    if isStuck { step(.pinFault(.receiverSupply)) }
  }

  /// Drives a pin; false if it does not obey.
  private func drive(_ pin: PinCommand) -> Bool {
    pins.append(pin)
    if pin.pin == .receiverSupply, failingSwitches > 0 {
      failingSwitches -= 1
      return false
    }
    if !receiver.hasSupply, pin.pin == .receiverWake, pin.level == .active {
      violations.append("a pin driven into a receiver without supply")
    }
    if pin.pin == .receiverWake { wakePin = pin.level }
    let cuts = pin == PinCommand(.receiverSupply, .inactive)
    if cuts && receiver.hasSupply {
      // PWR-5: asked, and slept or waited for.
      let waited = standbyAskedAt.map { now - $0 } ?? .zero
      if !receiver.isAsleep && waited < setup.ackTimeout { violations.append("cut at once") }
      if wakePin == .active { violations.append("cut with the wake pin driven") }
    }
    if pin == PinCommand(.receiverSupply, .active) { standbyAskedAt = nil }
    receiver.set(pin, at: now)
    return true
  }

  private func write(_ data: [UInt8]) {
    if data.count > 4, data[2] == 0x02, data[3] == 0x41 { standbyAskedAt = now }
    if let commandUntil, now < commandUntil { violations.append("two commands in flight") }
    commandUntil = data[0] == 0xFF ? nil : driver.deadline
    // Nothing answers a request for standby: when the receiver has had time to fall asleep it is over.
    if standbyAskedAt == now { commandUntil = now + DriverTimeouts.sleepEntryTime }
    receiver.write(data, speed: lineSpeed, at: now)
  }

  /// What must hold after every step.
  private func check(_ event: DriverEvent) {
    if !driver.isQuiescent && driver.deadline == nil { violations.append("waits without deadline") }
    if driver.state == .standby || driver.state == .batching || driver.state == .idle {
      if driver.deadline != nil && driver.link.pending.isEmpty {
        violations.append("deadline at rest")
      }
    }
  }

  private func take(_ epoch: Epoch) {
    guard let utc = epoch.utc else { return }
    driver.aiding.bootUTC_us = utc.microseconds - now.microseconds
    taken.append(Int((utc - FakeM10.base).microseconds / 1_000_000))
  }

  private func hear(_ message: GNSSMessage) {
    switch message {
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .batchEntry, .aidingEntry,
      .aidingAnswer:
      commandUntil = nil
    default:
      // Hearing anything answers whether it sleeps.
      // Live epochs where none may be show a restart, which forgets what was asked.
      if driver.state == .fallingAsleep || driver.state == .draining { commandUntil = nil }
    }
    step(.message(message))
    defer { pauseAt = assembler.isOpen ? now + .milliseconds(200) : nil }
    guard var epoch = assembler.add(message, at: now) else { return }
    while true {
      if epoch.origin == .batch { behind.append(driver.remainingEntries) }
      if driver.admit(epoch, at: now) == .accept { take(epoch) }
      guard let more = assembler.next() else { return }
      epoch = more
    }
  }

  /// Lets time pass, all events in their order.
  func run(_ seconds: Double) {
    let end = now + Interval(seconds: seconds)
    var steps = 0
    while true {
      let mine = min(driver.deadline ?? .distantFuture, pauseAt ?? .distantFuture)
      let next = min(receiver.next, mine)
      guard next <= end else { break }
      now = max(now, next)
      steps += 1
      guard steps < 200_000 else {
        violations.append("runs in circles")
        break
      }
      turn()
    }
    now = end
  }

  private func turn() {
    receiver.run(at: now)
    for arrived in receiver.read(at: now) where arrived.speed == lineSpeed {
      var offset = 0
      while let message = decoder.next(arrived.bytes.span, &offset) {
        if case .aidingEntry(let entry) = message {
          let copy = decoder.frame(of: entry)
          entryFrame = copy.span.indices.map { copy.span[$0] }
        }
        hear(message)
      }
    }
    if let at = pauseAt, at <= now {
      pauseAt = nil
      if let epoch = assembler.close(), driver.admit(epoch, at: now) == .accept { take(epoch) }
    }
    let isAtWatermark = receiver.isAtWatermark
    if isAtWatermark, !wasAtWatermark, passesPin { step(.batchPin) }
    wasAtWatermark = isAtWatermark
    if let deadline = driver.deadline, deadline <= now {
      if let commandUntil, now >= commandUntil { self.commandUntil = nil }
      step(.deadline)
    }
  }

  /// Runs until the driver has settled with nothing to tell; at most `limit` seconds.
  @discardableResult func settle(_ limit: Double = 120) -> Bool {
    let end = now + Interval(seconds: limit)
    while !driver.isQuiescent || driver.state == .lost || driver.state == .idle {
      if now >= end { return false }
      run(0.05)
    }
    return true
  }

  /// Sets a goal and runs until it is reached.
  @discardableResult func reach(_ goal: ReceiverGoal, _ limit: Double = 120) -> Bool {
    step(.goal(goal))
    return settle(limit)
  }

  /// Expects no rule broken, and every epoch handed on once and in order.
  func expectClean(_ location: SourceLocation = #_sourceLocation) {
    #expect(violations.isEmpty, sourceLocation: location)
    #expect(receiver.violations.isEmpty, sourceLocation: location)
    #expect(taken == taken.sorted(), "out of order", sourceLocation: location)
    #expect(Set(taken).count == taken.count, "twice", sourceLocation: location)
  }

  /// Expects every epoch of a range to have been handed on.
  func expectWhole(_ location: SourceLocation = #_sourceLocation) {
    guard let first = taken.first, let last = taken.last else { return }
    #expect(taken == Array(first...last), "a gap", sourceLocation: location)
  }
}

/// Setups that tests use.
enum Setups {
  static let batch = BatchSetup(capacity: 300, pioWired: true, pioID: 6)
  static let plain = ReceiverSetup(lineSpeed: 115_200)
  static let wired = ReceiverSetup(lineSpeed: 115_200, hasWakePin: true, batch: batch)
  static let saving = ReceiverSetup(
    lineSpeed: 115_200, hasWakePin: true, batch: batch, hasPowerSave: true)
  static let switched = ReceiverSetup(
    lineSpeed: 115_200, hasWakePin: true, hasSupplySwitch: true, batch: batch)
  /// With memory for what the receiver knows.
  static let keeping: ReceiverSetup = {
    var setup = switched
    setup.aiding = AidingSetup(capacity: 8)
    return setup
  }()
}

extension DriverBench {
  /// A bench that batches since a moment, everything before forgotten but the epochs.
  static func batching(_ watermark: UInt16 = 250, _ setup: ReceiverSetup = Setups.wired)
    -> DriverBench
  {
    let bench = DriverBench(setup)
    bench.reach(.tracking)
    bench.run(3)
    bench.reach(.batching(watermark: watermark))
    return bench
  }
}
