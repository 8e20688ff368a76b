import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

/// Runs a driver against the fake receiver in virtual time, and checks the invariants.
final class DriverBench {
  var driver: UBloxDriver
  let receiver: FakeM10
  let setup: ReceiverSetup
  private(set) var now = Instant.boot
  private var lineSpeed: UInt32
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  /// When the silence timeout closes an epoch of sentences.
  private var pauseAt: Instant?
  private var wasAtWatermark = false
  private var commandUntil: Instant?
  private var wakePin = PinLevel.inactive
  /// The driver's observations, with the second of each.
  private(set) var reported: [DriverObservation] = []
  /// The emitted epochs, in order, by number.
  private(set) var emitted: [Int] = []
  /// Remaining entries after each batch entry.
  private(set) var remaining: [Int] = []
  /// Pin commands in order.
  private(set) var pins: [PinCommand] = []
  /// States that were entered.
  private(set) var states: [UBloxDriver.State] = []
  private(set) var violations: [String] = []
  /// The stored navigation database, in the driver's slots.
  private var stored: [[UInt8]] = []
  private var entryFrame: [UInt8] = []
  /// Number of times that the supply switch fails.
  var failingSwitches = 0
  /// Whether batch pin edges are passed on.
  var passesPin = true
  /// Time of the last standby request; the supply switches off as soon as the driver commands it.
  private var standbyRequestedAt: Instant?
  /// Number of calls of ``run(_:)``, bounded so that a test ends that waits for a state that is never reached.
  private var calls = 0

  init(_ setup: ReceiverSetup, hasSupply: Bool? = nil) {
    self.setup = setup
    driver = UBloxDriver(setup)
    receiver = FakeM10(setup, hasSupply: hasSupply ?? !setup.hasSupplySwitch)
    lineSpeed = setup.lineSpeed
    receiver.databaseEntries = setup.aiding == nil ? 0 : 5
  }

  /// The receiver's commands since the last call, as words.
  func commands() -> [String] {
    defer { commandsSeen = receiver.commands.count }
    return Array(receiver.commands[commandsSeen...])
  }
  private var commandsSeen = 0

  func clearRecords() {
    reported = []
    emitted = []
    pins = []
    states = []
    _ = commands()
  }

  func step(_ event: DriverEvent) {
    // A lost line also loses the command in flight.
    if case .lineFault = event { commandUntil = nil }
    // A preemptible exchange is not awaited.
    if case .goal = event, driver.state.stage == .preemptible { commandUntil = nil }
    let effects = driver.handle(event, at: now)
    if states.last != driver.state { states.append(driver.state) }
    var isStuck = false
    if let pin = effects.pin { isStuck = !drive(pin) }
    if let speed = effects.lineSpeed { lineSpeed = speed }
    if driver.hasOutgoing { write(bytes(of: driver.outgoing)) }
    switch effects.aiding {
    case .none: break
    case .store(let slot): stored = stored.prefix(Int(slot)) + [entryFrame]
    case .send(let slot): write(stored[Int(slot)])
    }
    if effects.observation != .none { reported.append(effects.observation) }
    while let epoch = driver.nextReleasedEpoch() { take(epoch) }
    check(event)
    if isStuck { step(.pinFault(.receiverSupply)) }
  }

  /// Drives a pin; false if it fails.
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
      // PWR-5: standby was requested, and reached or awaited.
      let waited = standbyRequestedAt.map { now - $0 } ?? .zero
      if !receiver.isAsleep && waited < setup.ackTimeout { violations.append("off too early") }
      if wakePin == .active { violations.append("powered off with the wake pin driven") }
    }
    if pin == PinCommand(.receiverSupply, .active) { standbyRequestedAt = nil }
    receiver.set(pin, at: now)
    return true
  }

  private func write(_ data: [UInt8]) {
    if data.count > 4, data[2] == 0x02, data[3] == 0x41 { standbyRequestedAt = now }
    if let commandUntil, now < commandUntil { violations.append("two commands in flight") }
    commandUntil = data[0] == 0xFF ? nil : driver.deadline
    // A standby request has no answer: it ends when the receiver has had time to fall asleep.
    if standbyRequestedAt == now { commandUntil = now + DriverTimeouts.sleepEntryTime }
    receiver.write(data, speed: lineSpeed, at: now)
  }

  /// Invariants after every step.
  private func check(_ event: DriverEvent) {
    if !driver.isQuiescent && driver.deadline == nil { violations.append("waits without deadline") }
    if driver.state == .standby || driver.state == .batching || driver.state == .idle {
      if driver.deadline != driver.link.sleepCheck && driver.link.pending.isEmpty {
        violations.append("deadline at rest")
      }
    }
  }

  private func take(_ epoch: Epoch) {
    guard let utc = epoch.utc else { return }
    driver.setClock(bootUTC_us: utc.microseconds - now.microseconds)
    emitted.append(Int((utc - FakeM10.base).microseconds / 1_000_000))
  }

  private func receive(_ message: GNSSMessage) {
    switch message {
    case .acknowledged, .refused, .configurationValues, .receiverVersion, .batchStatus, .batchEntry,
      .aidingEntry,
      .aidingAnswer:
      commandUntil = nil
    default:
      // Input after a standby request shows that the receiver does not sleep yet. Unexpected live
      // epochs during a drain show a restart, which discards the pending request.
      if driver.state == .fallingAsleep || driver.state == .draining { commandUntil = nil }
    }
    step(.message(message))
    defer { pauseAt = assembler.isOpen ? now + .milliseconds(200) : nil }
    guard var epoch = assembler.add(message, at: now) else { return }
    while true {
      if epoch.origin == .batch { remaining.append(driver.remainingEntries) }
      if driver.admit(epoch, at: now) == .accept { take(epoch) }
      guard let more = assembler.next() else { return }
      epoch = more
    }
  }

  /// Lets time pass and handles all events in order.
  func run(_ seconds: Double) {
    calls += 1
    precondition(calls < 1_000_000, "the test waits for a state that the driver does not reach")
    let end = now + Interval(seconds: seconds)
    var steps = 0
    while true {
      let deadline = min(driver.deadline ?? .distantFuture, pauseAt ?? .distantFuture)
      let next = min(receiver.next, deadline)
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
        receive(message)
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

  /// Runs until the driver has reached the goal and has nothing to report; at most `limit` seconds.
  @discardableResult func runUntilIdle(_ limit: Double = 120) -> Bool {
    let end = now + Interval(seconds: limit)
    while !driver.isQuiescent || driver.state == .fallingAsleep || driver.state == .lost
      || driver.state == .idle
    {
      if now >= end { return false }
      run(0.05)
    }
    return true
  }

  /// Sets a goal and runs until it is reached.
  @discardableResult func reach(_ goal: ReceiverMode, _ limit: Double = 120) -> Bool {
    step(.goal(goal))
    return runUntilIdle(limit)
  }

  /// Expects no rule broken, and every epoch emitted once and in order.
  func expectClean(_ location: SourceLocation = #_sourceLocation) {
    #expect(violations.isEmpty, sourceLocation: location)
    #expect(receiver.violations.isEmpty, sourceLocation: location)
    #expect(emitted == emitted.sorted(), "out of order", sourceLocation: location)
    #expect(Set(emitted).count == emitted.count, "twice", sourceLocation: location)
  }

  /// Expects every epoch of a range to have been emitted.
  func expectWhole(_ location: SourceLocation = #_sourceLocation) {
    guard let first = emitted.first, let last = emitted.last else { return }
    #expect(emitted == Array(first...last), "a gap", sourceLocation: location)
  }
}

/// Setups for tests.
enum Setups {
  static let batch = BatchSetup(capacity: 300, pioWired: true, pioID: 6)
  static let plain = ReceiverSetup(lineSpeed: 115_200)
  static let wired = ReceiverSetup(lineSpeed: 115_200, hasWakePin: true, batch: batch)
  static let saving = ReceiverSetup(
    lineSpeed: 115_200, hasWakePin: true, batch: batch, hasPowerSave: true)
  static let switched = ReceiverSetup(
    lineSpeed: 115_200, hasWakePin: true, hasSupplySwitch: true, batch: batch)
  /// With storage for the navigation database.
  static let keeping: ReceiverSetup = {
    var setup = switched
    setup.aiding = AidingSetup(capacity: 8)
    return setup
  }()
}

extension DriverBench {
  /// A bench that has been batching for a time, with all earlier records except the epochs cleared.
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
