import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// The supply is switched.
  mutating func setSupply(_ isOn: Bool, at now: Instant) {
    supplySwitch = isOn
    if isOn, !isSupplied, !isGone { boot(at: now) }
    if !isOn, isSupplied { losePower(at: now) }
  }

  /// The receiver begins to start, from power-on or from standby: RAM is filled anew.
  mutating func boot(at now: Instant) {
    stop(at: now)
    configuration.restart()
    phase = .booting
    bootDone = now + figures.boot
  }

  /// The receiver runs: it searches, and its epochs begin.
  mutating func run(at now: Instant) {
    bootDone = .distantFuture
    phase = .running
    active = ActiveConfiguration(figures, configuration)
    if player == nil { sayStarted(at: now) }
    if player != nil { return }
    acquisition.start(at: now)
    planEpochs(from: now)
    applyBatching()
  }

  /// Everything that runs stops; RAM is lost.
  private mutating func stop(at now: Instant) {
    acquisition.stop(at: now)
    batch.disable()
    aiding = AidingExchange()
    decoder = UBXCommandDecoder()
    begunSentence.removeAll()
    answers.removeAll()
    epochDue = .distantFuture
    sendDue = .distantFuture
    bootDone = .distantFuture
    standbyAt = .distantFuture
    standbyEnd = .distantFuture
  }

  mutating func losePower(at now: Instant) {
    stop(at: now)
    line.cut(at: now)
    incoming.removeAll()
    phase = .unpowered
    configuration.sentences.forget()
    if !figures.hasBackupSupply {
      configuration.loseBatteryBacked()
      acquisition.forget()
    }
  }

  /// Whether a request for standby is on its way or being carried out.
  var isStandbyPending: Bool {
    if standbyAt < .distantFuture { return true }
    for answer in answers {
      switch answer.command {
      case .ubx(.powerRequest): return true
      case .ubx: break
      case .sentence(let fields): if figures.family.asksForStandby(fields) { return true }
      }
    }
    return incoming.contains { SimulatedReceiver.holdsPowerRequest($0.bytes) }
  }

  private static func holdsPowerRequest(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 4 else { return false }
    if bytes[0] == UInt8(ascii: "$") {
      let text = String(decoding: bytes, as: UTF8.self)
      return ["$PMTK161", "$PAIR003", "$PCAS12"].contains { text.hasPrefix($0) }
    }
    for i in 0...(bytes.count - 4)
    where bytes[i] == 0xB5 && bytes[i + 1] == 0x62 && bytes[i + 2] == 0x02
      && bytes[i + 3] == 0x41
    {
      return true
    }
    return false
  }

  mutating func enterStandby(at now: Instant) {
    stop(at: now)
    line.cut(at: now)
    phase = .standby
    // What is left of a CASIC's RAM after standby is not said: nothing, here.
    if figures.family == .casic { configuration.sentences.forget() }
    if standbyRequest.duration_ms > 0 {
      standbyEnd = now + .milliseconds(Int64(standbyRequest.duration_ms))
    }
  }

  /// An edge on the wake pin.
  mutating func wakeEdge(at now: Instant) {
    guard phase == .standby, wakes(by: UBXPowerRequest.wakesByEXTINT0) else { return }
    boot(at: now)
  }

  /// The short form of the request names no sources: either wakes then.
  func wakes(by source: UInt32) -> Bool {
    standbyRequest.wakeupSources == 0 || standbyRequest.wakeupSources & source != 0
  }

  mutating func handleFault(at now: Instant) {
    switch faults.take() {
    case .skyLost:
      guard phase == .running, player == nil else { return }
      acquisition.stop(at: now)
      acquisition.start(at: now)
    case .configurationLost:
      configuration.loseBatteryBacked()
      configuration.sentences.reset()
      guard isSupplied, player == nil else { return }
      line.cut(at: now)
      boot(at: now)
    case .garbage(let count):
      guard !isGone else { return }
      frame.removeAll()
      for i in 0..<count {
        frame.append(UInt8(truncatingIfNeeded: faultRandom.next() >> 56))
        if i + 1 == count || frame.count == FrameBuffer.capacity {
          line.send(frame.span, at: now, speed: active.speed)
          frame.removeAll()
        }
      }
    case .gone:
      isGone = true
      if isSupplied { losePower(at: now) }
      // What nobody had read goes with the device.
      line.loseArrived(by: now)
    case .back:
      isGone = false
      if supplySwitch { boot(at: now) }
    }
  }
}
