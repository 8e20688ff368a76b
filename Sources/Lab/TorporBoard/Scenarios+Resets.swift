import SimulatedHAL
// Scenario of power cuts at random times.

extension BoardScenario {
  /// Checks after each reset: no name repeats, each client's fixes are in order, an acknowledged fix is not delivered
  /// again (RNG-3), and an unacknowledged fix is delivered again, or lost within the bound of the profile and reported
  /// as a gap (RNG-4).
  static func resets(_ count: Int, seed: UInt64) -> BoardScenario {
    BoardScenario(name: "\(count) resets", limit: 60 + 60 * Double(count)) { bench in
      var random = SimulationRandom(seed: seed)
      try bench.start()
      var checker = ResetChecker()
      var begin = bench.now
      for round in 0...count {
        if round > 0 {
          checker.recordReset(withheld: (bench.now - begin).withheld)
          try bench.reset()
          try bench.serve()
        }
        begin = bench.now
        let client = try bench.client("reset")
        client.send("start")
        try bench.wait("a new fix after \(round) resets", within: 30) {
          client.received.contains { $0.utc > checker.resetAt }
        }
        try checker.check(client, round)
        let moment = HostClock.now + (round == count ? 1 : random.uniform() * 5)
        while HostClock.now < moment {
          try checker.acknowledgeSome(client, &random)
          try bench.advance(until: min(HostClock.now + 0.1, moment))
        }
        try expectOrder(client.received)
        checker.close(client)
      }
    }
  }
}

/// Record of delivered and acknowledged fixes across resets, with the checks after each.
struct ResetChecker {
  /// UTC of every delivered fix in microseconds, by its name.
  private var times: [String: Int] = [:]
  /// The newest fix whose acknowledgement was confirmed.
  private var confirmed: GuestClient.FixReport?
  /// UTC of the newest fix whose acknowledgement was sent: older fixes may or may not be delivered again.
  private var acknowledgedUTC = 0
  private var checkedCount = 0
  /// Fixes delivered in the run before that must be delivered again.
  private var undelivered: [GuestClient.FixReport] = []
  private var generation = -1
  /// Time of the last reset, in microseconds since 1970.
  private(set) var resetAt = 0
  /// Time span before the last reset whose fixes may be lost, in microseconds.
  private var unsynced = 0

  /// Records a reset, which may lose the fixes of the profile's `sync_s`, and of one second in transit.
  ///
  /// - Parameter withheld: Seconds that a busy host withheld from the guest, by which a sync may have been late.
  mutating func recordReset(withheld: Double) {
    resetAt = Int(HostClock.wall * 1e6)
    unsynced = 6_000_000 + Int(withheld * 1e6)
  }

  /// Checks the fixes delivered first after a reset.
  mutating func check(_ client: GuestClient, _ round: Int) throws {
    for fix in client.received {
      if let confirmed, fix.utc <= confirmed.utc {
        throw Failure("reset \(round): \(fix) again, though \(confirmed) was acknowledged (RNG-3)")
      }
      if fix.utc > resetAt, fix.generation <= generation {
        throw Failure("reset \(round): \(fix) has the generation of an earlier run (RNG-2)")
      }
    }
    let delivered = Set(client.received)
    let missing = undelivered.filter { !delivered.contains($0) }
    if let first = missing.first {
      if first.utc < resetAt - unsynced {
        throw Failure("reset \(round): \(first) is lost, though it was synced (RNG-4)")
      }
      if undelivered.last != missing.last || undelivered.suffix(missing.count) != missing[...] {
        throw Failure("reset \(round): \(missing) are lost, but newer fixes are not (RNG-4)")
      }
      guard client.gaps.contains(where: { $0.mayBeMore || $0.count > 0 }) else {
        throw Failure("reset \(round): \(missing) are lost, but no gap was reported (RNG-4)")
      }
    }
    checkedCount = 0
    generation = client.received.last?.generation ?? generation
  }

  /// Acknowledges a random part of the fixes delivered since the last call.
  mutating func acknowledgeSome(_ client: GuestClient, _ random: inout SimulationRandom) throws {
    while checkedCount < client.received.count {
      let fix = client.received[checkedCount]
      checkedCount += 1
      let name = "\(fix.generation) \(fix.sequence)"
      if let before = times.updateValue(fix.utc, forKey: name), before != fix.utc {
        throw Failure("fix \(name) has the time \(fix.utc), and had \(before) (RNG-2)")
      }
      guard random.uniform() < 0.4 else { continue }
      acknowledgedUTC = fix.utc
      client.send("settle \(name)")
    }
  }

  /// Records the fixes delivered up to a reset.
  mutating func close(_ client: GuestClient) {
    confirmed = client.confirmed ?? confirmed
    undelivered = client.received.filter { $0.utc > acknowledgedUTC }
  }
}
