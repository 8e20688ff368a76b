import BoardProfiles
import GNSSProtocols
import LocationTypes
import SimulatedHAL

extension FaultPlan {
  /// Random faults in the first `end` seconds of a run on the simulated board; adds their number to `count`.
  ///
  /// - Parameter eventful: Whether faults are short and many, for a run that tests single events.
  init(
    _ random: inout SimulationRandom, until end: Double, _ count: inout Int, eventful: Bool = false
  ) {
    self.init()
    func moment() -> Double { random.uniform(20, end) }
    func spans(_ number: UInt64, _ longest: Double) -> [Range<Instant>] {
      let spans = (0..<(random.next() % number)).map { _ in
        let start = moment()
        return Instant(seconds: start)..<Instant(seconds: start + random.uniform(0.05, longest))
      }
      var chosen: [Range<Instant>] = []
      for span in spans where !chosen.contains(where: { $0.overlaps(span) }) { chosen.append(span) }
      return chosen.sorted { $0.lowerBound < $1.lowerBound }
    }
    signalOutages = spans(6, 400)
    deviceAbsent = spans(eventful ? 40 : 3, eventful ? 10 : 200)
    supplySwitchStuck = spans(eventful ? 60 : 3, eventful ? 20 : 60)
    batchingRejected = spans(eventful ? 20 : 3, eventful ? 100 : 300)
    powerModeRejected = spans(eventful ? 20 : 3, eventful ? 100 : 300)
    configurationLosses = (0..<(random.next() % (eventful ? 40 : 4))).map { _ in
      Instant(seconds: moment())
    }
    garbage = (0..<(random.next() % 80)).map { _ in
      Garbage(time: Instant(seconds: moment()), count: 1 + Int(random.next() % 600))
    }
    // The battery is full before the run ends.
    gaugeFaults =
      (0..<(random.next() % 6)).map { _ in
        GaugeFault(time: Instant(seconds: moment()), charge: UInt8(random.next() % 101))
      }.sorted { $0.time < $1.time } + [GaugeFault(time: Instant(seconds: end), charge: 100)]
    count +=
      gaugeFaults.count + signalOutages.count + deviceAbsent.count + supplySwitchStuck.count
      + batchingRejected.count
      + powerModeRejected.count
      + configurationLosses.count + garbage.count
    if random.next() % 3 == 0 { acknowledgementLoss = eventful ? 0.4 : 0.1 }
    if random.next() % 4 == 0 { commandLoss = eventful ? 0.3 : 0.05 }
    alarmsMayBeEarly = random.next() % 2 == 0
  }
}

extension BoardProfile {
  /// The same board with another receiver or other wiring.
  func varied(_ random: inout SimulationRandom) -> BoardProfile {
    var varied = self
    switch random.next() % 8 {
    case 0: varied.makePassive()
    case 1, 2: varied.receiver?.family = .ubloxM8
    case 3: varied.makeSentences(.mtk)
    case 4: varied.makeSentences(.airoha)
    case 5: varied.makeSentences(.casic)
    case 6: varied.makeSentences(.teseo)
    case _: break
    }
    if random.next() % 3 == 0 { varied.receiver?.supplyLine = nil }
    if random.next() % 4 == 0 { varied.receiver?.batch = nil }
    if random.next() % 4 == 0 { varied.receiver?.wakeLine = nil }
    if random.next() % 4 == 0 { varied.receiver?.hasBackupSupply = false }
    if let batch = varied.receiver?.batch,
      let limits = varied.receiver?.family.descriptor.batchLimits
    {
      varied.receiver?.batch?.capacity = min(batch.capacity, limits.extraPVT)
    }
    return varied
  }

  /// A receiver with sentence commands; its line speed must be detected.
  private mutating func makeSentences(_ family: ReceiverFamily) {
    receiver?.family = family
    receiver?.output = .nmea
    receiver?.lineSpeed_baud = 38_400
    receiver?.batch = nil
  }

  /// A receiver without commands.
  private mutating func makePassive() {
    receiver?.family = .passive
    receiver?.output = .nmea
    receiver?.defaultLineSpeed_baud = 38_400
    receiver?.lineSpeed_baud = 38_400
    receiver?.wakeLine = nil
    receiver?.batch = nil
  }
}
