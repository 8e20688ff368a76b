import SimulatedHAL
// Supply cuts at any moment.

extension BoardScenario {
  /// After each: no name twice, each client's fixes in order, what was settled never again (RNG-3), what
  /// was not comes again but for what the profile says a cut may cost, and that is told (RNG-4).
  static func resets(_ count: Int, seed: UInt64) -> BoardScenario {
    BoardScenario(name: "\(count) resets", limit: 60 + 60 * Double(count)) { bench in
      var random = SimulationRandom(seed: seed)
      try bench.start()
      var book = ResetBook()
      var began = bench.now
      for round in 0...count {
        if round > 0 {
          book.cut(withheld: (bench.now - began).withheld)
          try bench.reset()
          try bench.serve()
        }
        began = bench.now
        let client = try bench.client("reset")
        client.murmur("start")
        try bench.wait("a fix of its own after \(round) resets", within: 30) {
          client.told.contains { $0.utc > book.cutAt }
        }
        try book.check(client, round)
        let moment = Clock.now + (round == count ? 1 : random.uniform() * 5)
        while Clock.now < moment {
          try book.settleSome(client, &random)
          try bench.pass(until: min(Clock.now + 0.1, moment))
        }
        try expectOrder(client.told)
        book.close(client)
      }
    }
  }
}

/// What must hold over all resets.
struct ResetBook {
  /// Microseconds of each fix that was ever told, by its name.
  private var times: [String: Int] = [:]
  /// The newest that was settled, and answered so.
  private var settled: GuestClient.Told?
  /// The newest that was to be settled: what is older may come again or not.
  private var asked = 0
  private var seen = 0
  /// What was told in the run before and must come again.
  private var owed: [GuestClient.Told] = []
  private var generation = -1
  /// When the last cut was, in microseconds since 1970.
  private(set) var cutAt = 0
  /// Microseconds of fixes that the last cut may cost.
  private var unsynced = 0

  /// The supply is cut, which may cost the profile's `sync_s` of fixes, and a second in which a fix is on its way.
  ///
  /// - Parameter withheld: Seconds that a busy host withheld from the guest, which may have synced so much later.
  mutating func cut(withheld: Double) {
    cutAt = Int(Clock.wall * 1e6)
    unsynced = 6_000_000 + Int(withheld * 1e6)
  }

  /// What is told first after a cut.
  mutating func check(_ client: GuestClient, _ round: Int) throws {
    for fix in client.told {
      if let settled, fix.utc <= settled.utc {
        throw Failure("reset \(round): \(fix) again, though \(settled) was settled (RNG-3)")
      }
      if fix.utc > cutAt, fix.generation <= generation {
        throw Failure("reset \(round): \(fix) is of a generation that was there (RNG-2)")
      }
    }
    let told = Set(client.told)
    let missing = owed.filter { !told.contains($0) }
    if let first = missing.first {
      if first.utc < cutAt - unsynced {
        throw Failure("reset \(round): \(first) is lost, and was on the disk (RNG-4)")
      }
      if owed.last != missing.last || owed.suffix(missing.count) != missing[...] {
        throw Failure("reset \(round): \(missing) are lost, and younger ones are not (RNG-4)")
      }
      guard client.gaps.contains(where: { $0.mayBeMore || $0.count > 0 }) else {
        throw Failure("reset \(round): \(missing) are lost, and no gap was told (RNG-4)")
      }
    }
    seen = 0
    generation = client.told.last?.generation ?? generation
  }

  /// Settles some of what has been told since the last time.
  mutating func settleSome(_ client: GuestClient, _ random: inout SimulationRandom) throws {
    while seen < client.told.count {
      let fix = client.told[seen]
      seen += 1
      let name = "\(fix.generation) \(fix.sequence)"
      if let before = times.updateValue(fix.utc, forKey: name), before != fix.utc {
        throw Failure("fix \(name) is of \(fix.utc), and was of \(before) (RNG-2)")
      }
      guard random.uniform() < 0.4 else { continue }
      asked = fix.utc
      client.murmur("settle \(name)")
    }
  }

  /// All that was told up to a cut.
  mutating func close(_ client: GuestClient) {
    settled = client.settled ?? settled
    owed = client.told.filter { $0.utc > asked }
  }
}
