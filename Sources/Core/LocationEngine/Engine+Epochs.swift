import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// From bytes to the ring: messages, epochs, fixes.

extension Engine {
  /// Takes what waits, in order: epochs the driver held back, an epoch that came with another, the
  /// rest of the chunk. Stops after one epoch, one answer of the driver or one observation.
  mutating func consume(_ effects: inout Effects) {
    if hasDriver, driver.status.hasHeld, let epoch = driver.nextHeld() {
      append(epoch, &effects)
      effects.proceeds = true
      return
    }
    if assembler.hasNext, let epoch = assembler.next() {
      admit(epoch, &effects)
      effects.proceeds = true
      return
    }
    if driver.hearsMessages { hear(&effects) } else { listen(&effects) }
  }

  /// Takes messages that the driver hears, up to one that is enough for a step.
  private mutating func hear(_ effects: inout Effects) {
    while let message = decoder.next(chunk.span, &chunkOffset) {
      if take(message, &effects) {
        effects.proceeds = true
        return
      }
    }
  }

  /// Takes what makes the next epoch, from a receiver whose driver hears nothing else.
  private mutating func listen(_ effects: inout Effects) {
    var epoch = Epoch()
    let isMade = decoder.next(
      chunk.span, &chunkOffset, through: &assembler, at: arrival, into: &epoch)
    guard isMade else { return }
    complete(epoch, &effects)
    effects.proceeds = true
  }

  /// Ends the epoch in the making: the line has been silent.
  mutating func closeEpoch(_ effects: inout Effects) {
    let isHeldUp = now - lastByte >= EpochAssembler.messagePatience
    while isHeldUp, let message = decoder.finish() {
      if take(message, &effects) {
        effects.proceeds = true
        return
      }
    }
    guard let epoch = assembler.close() else { return }
    admit(epoch, &effects)
    effects.proceeds = true
  }

  /// Whether bytes of an unfinished frame or sentences of an open epoch wait for more.
  var isMidEpoch: Bool { assembler.isOpen || decoder.isMidFrame }

  /// How long the line must be silent until what is open is closed; nil when nothing is.
  var patience: Interval? {
    assembler.patience(isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
  }

  /// Handles one message; true when the step has had enough.
  private mutating func take(_ message: GNSSMessage, _ effects: inout Effects) -> Bool {
    if case .aidingEntry(let entry) = message { aidingEntry = entry }
    let observation = driver.hearsMessages ? command(.message(message), &effects) : .none
    var isEnough = effects.isDriverDone
    if case .none = observation {} else { isEnough = true }
    if let epoch = assembler.add(message, at: arrival) {
      complete(epoch, &effects)
      isEnough = true
    }
    if driver.hearsMessages { observe(observation) }
    return isEnough
  }

  /// Takes the epoch that a message has just completed.
  private mutating func complete(_ epoch: Epoch, _ effects: inout Effects) {
    admit(epoch, &effects)
    // The epoch that this message begins came an interval after the one that it ended.
    if epoch.origin == .live { epochBegan = arrival }
  }

  /// When the message that is being handled came.
  ///
  /// Of messages that gathered unheard only the order is known: one came each interval.
  private var arrival: Instant {
    guard backlogReadAt == now else { return now }
    return min(now, lastEpoch + setup.figures.fixInterval)
  }

  /// Whether the bytes that come now gathered unheard with those before: they are read at the same
  /// time, or right after a chunk that was full.
  var isReadingOn: Bool {
    guard let backlogReadAt, backlogReadAt == lastByte else { return false }
    return now == lastByte || (chunk.isFull && now - lastByte < setup.gather)
  }

  private mutating func admit(_ epoch: Epoch, _ effects: inout Effects) {
    var epoch = epoch
    if epoch.origin == .live {
      lastEpoch = arrival
      if let acquired = epoch.fix?.acquired { epoch.fix?.acquired = max(acquired, epochBegan) }
    }
    guard hasDriver else { return }
    // One that takes no commands cannot tell that it has recovered: what it says does (DEF-43).
    if !driver.hearsMessages, epoch.origin == .live { isReceiverLost = false }
    let admission = driver.admit(epoch, at: now)
    switch admission {
    case .accept:
      if driver.status.isStreaming, epoch.fix != nil { streamedAt = now }
      append(epoch, &effects)
    case .hold, .drop: break
    }
  }

  /// A valid fix goes into the ring and to every client's policy; anything else counts for nothing
  /// (DEF-24).
  private mutating func append(_ epoch: Epoch, _ effects: inout Effects) {
    guard var fix = epoch.fix else { return }
    if let utc = fix.utc {
      switch epoch.origin {
      case .live:
        // When what has gathered came is reckoned, and a pulse is no measure of it.
        let pulse = backlogReadAt == now ? nil : pulse
        clock.learn(utc, received: fix.acquired, pulse: pulse)
        // It is of one epoch: without a pulse of its own the next one has none.
        if let heard = self.pulse, heard <= fix.acquired { self.pulse = nil }
      case .batch: clock.learnStored(utc, received: fix.acquired - leastEntryAge)
      }
      if let bootUTC_us = clock.bootUTC_us { driver.setClock(bootUTC_us: bootUTC_us) }
    }
    fix.acquired = clock.instant(of: fix.utc, at: fix.acquired, isLive: epoch.origin == .live)
    // Fixes come in the order of their making, whatever UTC does.
    fix.acquired = max(fix.acquired, newestMade)
    newestMade = fix.acquired
    fix.isFromAccessory = setup.isAccessory
    if fix.horizontalAccuracy_mm == nil {
      fix.horizontalAccuracy_mm = setup.assumedAccuracy_mm
    }
    search.succeed(at: now)
    if isGoodEnough(fix, epoch.origin) { tell(better(fix), &effects) } else { held = fix }
  }

  /// Whether a fix is told, or held back because a better one is about to come (PWR-7): only where
  /// nobody wants every one. What a buffer held back long enough is not held any longer.
  private mutating func isGoodEnough(_ fix: Fix, _ origin: EpochOrigin) -> Bool {
    let event: FixSchedule.Event =
      switch origin {
      case .live: .fix(accuracy: accuracy(of: fix), made: fix.acquired, demand.need)
      case .batch: .drained
      }
    return schedule.handle(event, planner.figures, at: now) == .use || demand.wantsEveryFix
  }

  /// A fix that is to be told, or the one before it that was held back in vain for a better one.
  private func better(_ fix: Fix) -> Fix {
    guard let held, !demand.wantsEveryFix, accuracy(of: held) < accuracy(of: fix) else {
      return fix
    }
    return held
  }

  /// A first fix that was held back is told when no better one comes, or somebody waits no longer.
  mutating func releaseHeld(_ effects: inout Effects) {
    guard let fix = held, effects.appended == nil else { return }
    let isOver = schedule.state != .settling || demand.need.until <= now
    guard isOver || demand.wantsEveryFix else { return }
    tell(fix, &effects)
    effects.proceeds = true
  }

  private mutating func tell(_ fix: Fix, _ effects: inout Effects) {
    held = nil
    pace.take(fix)
    move(fix)
    keep(fix, &effects)
  }

  /// How far the wearer may be from here, and when, is thought over with every fix that is told.
  private mutating func move(_ fix: Fix) {
    guard demand.bound < .infinity else { return }
    movement.take(
      fix, within: demand.bound, accuracy: accuracy(of: fix),
      planner.figures.receiver.saving(schedule.savesPower), schedule.predictor, at: now)
  }

  private func accuracy(of fix: Fix) -> Double {
    guard let accuracy = fix.horizontalAccuracy else {
      preconditionFailure("every fix has an accuracy when it comes out of an epoch")
    }
    return accuracy
  }

  /// Stores the fix for those it is owed to; what nobody is owed is not stored, and what no client may
  /// receive with full accuracy is stored coarse (RNG-6).
  private mutating func keep(_ fix: Fix, _ effects: inout Effects) {
    var isWanted = false
    var isPrecise = false
    for i in 0..<clients.used where clients[i].wants(fix) {
      isWanted = true
      isPrecise = clients[i].mayReceive(fix)
      if isPrecise { break }
    }
    guard isWanted else { return }
    // Of fixes of one moment the first counts, also for those who were spared it.
    let isRepeated = newest.map { fix.acquired <= $0.fix.acquired } ?? false
    if isRepeated && !isNewestRepeated { takeSparedFixes() }
    isNewestRepeated = isRepeated
    makeRoom()
    let stored = StoredFix(
      name: ring.append(isPrecise ? fix : AccuracyReduction.stored(fix)), fix: fix)
    effects.appended = stored.name
    newest = stored
    way.go(to: fix.coordinate)
    let context = context
    for i in 0..<clients.used where clients[i].heeds(at: fix.acquired, way.length) {
      clients[i].take(stored, context)
      if clients.isAwake(i, at: now) { clients.stir(i) }
    }
  }

  /// Before the head passes a cursor, the cursor moves on and remembers what it lost (RNG-4).
  private mutating func makeRoom() {
    guard ring.head - ring.tail >= UInt64(ring.capacity) else { return }
    for i in 0..<clients.used where clients.isAwake(i, at: now) { clients[i].makeRoom(in: ring) }
  }
}
