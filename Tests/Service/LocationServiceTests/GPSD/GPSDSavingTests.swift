import GPSDProtocol
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import LocationService

@Suite("Savings of gpsd's protocol")
struct GPSDSavingTests {
  private let user = GPSDBench.user

  @Test("GPD-7: a client with an interval requests single fixes; the greater interval applies")
  func interval() throws {
    let bench = try GPSDBench.saving(interval_s: 30)
    let program = bench.gpsdProgram(
      "?WATCH={\"json\":true,\"torpor_interval\":60,\"torpor_accuracy\":100}", of: user)
    _ = program.lines()
    #expect(!bench.isDemanding && bench.needsFix)
    bench.fix()
    #expect(classes(program.lines()) == ["TPV", "SKY"])
    #expect(!bench.needsFix)
    bench.pass(30)
    #expect(!bench.needsFix)
    bench.pass(31)
    #expect(bench.needsFix)
  }

  @Test("GPD-7: an interval is the time between two fixes", arguments: [3, 5, 10, 11, 15, 40])
  func intervals(_ interval: Int) throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram(
      "?WATCH={\"json\":true,\"torpor_interval\":\(interval)}", of: user)
    let found = times(bench.run(240, program))
    #expect(Set(found).count == found.count, "no fix is reported twice")
    let expected = 240 / interval
    #expect((expected * 8 / 10 - 1...expected + 1).contains(found.count), "\(found.count)")
  }

  @Test("GPD-7: an accuracy alone becomes an accuracy bound")
  func accuracy() throws {
    let bench = try GPSDBench.saving(accuracy_m: 100)
    let program = bench.gpsdProgram(watchJSON, of: user)
    defer { program.quit() }
    #expect(bench.firstDemand == .within(metres: 100))
  }

  @Test("GPD-7: an accuracy or a delay alone also applies to POLL, for a minute")
  func polls() throws {
    let within = try GPSDBench.saving(accuracy_m: 100)
    let program = within.gpsdProgram("?WATCH={\"enable\":true};?POLL;", of: user)
    #expect(within.firstDemand == .within(metres: 100))
    within.fix()
    program.send(Array("?POLL;".utf8))
    within.settle()
    #expect(program.lines().last?.contains("\"mode\":3") == true)
    within.pass(70)
    #expect(!within.isDemanding)
    let deferred = try GPSDBench.saving(defer_s: 600)
    let other = deferred.gpsdProgram("?WATCH={\"enable\":true};?POLL;", of: user)
    defer { other.quit() }
    #expect(deferred.firstDemand == .live(isWatched: true))
  }

  @Test(
    "GPD-7: fixes of an interval are held back, and come in one burst only to a client that has named it",
    arguments: ["json", "nmea"])
  func burst(_ form: String) throws {
    let bench = try GPSDBench.saving(interval_s: 12)
    let named = bench.gpsdProgram("?WATCH={\"\(form)\":true,\"torpor_defer\":50}", of: user)
    _ = named.lines()
    var bursts: [[String]] = []
    for _ in 0..<120 {
      let fixes = bench.run(1, named).filter { $0.contains("\"lat\"") || $0.hasPrefix("$GNRMC") }
      if !fixes.isEmpty { bursts.append(fixes) }
    }
    #expect(bursts.first?.count ?? 0 >= 3)
    #expect((2...4).contains(bursts.count))
    #expect(bursts.allSatisfy { Set($0).count == $0.count }, "no fix is reported twice")
  }

  @Test("GPD-7: a program that has named no delay receives the newest of held fixes alone")
  func newestAlone() throws {
    var rights = AccessRights(authorization: .always)
    rights.gpsd.saving = GPSDSaving(interval_s: 12, defer_s: 50)
    let bench = try GPSDBench.make(rights)
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    var counts: [Int] = []
    for _ in 0..<120 {
      let count = times(bench.run(1, program)).count
      if count > 0 { counts.append(count) }
    }
    #expect((2...4).contains(counts.count) && counts.allSatisfy { $0 == 1 }, "\(counts)")
  }

  @Test("GPD-4: a fix older than stale_after_s is not reported")
  func stale() throws {
    let bench = try GPSDBench.saving(staleAfter_s: 20)
    let program = bench.gpsdProgram("?WATCH={\"enable\":true};?POLL;", of: user)
    bench.fix()
    for (seconds, mode) in [(15, 3), (10, 1)] {
      bench.pass(Int64(seconds))
      program.send(Array("?POLL;".utf8))
      bench.settle()
      #expect(program.lines().last?.contains("\"mode\":\(mode)") == true)
    }
  }

  private static let demands: [GPSDDemand] = [
    .none, .within(50), .within(100), .every(.seconds(60), accuracy: 100),
    .every(.seconds(30), accuracy: 200), .deferred(.seconds(60)), .deferred(.seconds(30)), .live,
  ]

  @Test("GPD-7: of two kinds of savings of one client neither serves the other", arguments: demands)
  func combined(_ demand: GPSDDemand) {
    for other in Self.demands {
      let both = demand.combined(with: other)
      #expect(both == other.combined(with: demand))
      switch (demand, other) {
      case (.none, _): #expect(both == other)
      case (_, .none): #expect(both == demand)
      case (.within(let a), .within(let b)): #expect(both == .within(min(a, b)))
      case (.deferred(let a), .deferred(let b)): #expect(both == .deferred(min(a, b)))
      case (.every(let a, let x), .every(let b, let y)):
        #expect(both == .every(min(a, b), accuracy: min(x, y)))
      case (.live, _), (.within, _), (.every, _), (.deferred, _): #expect(both == .live)
      }
    }
  }

  @Test("GPD-7: a POLL with savings does not change the updates of another program of the client")
  func pollBesideLive() throws {
    let bench = try GPSDBench.make()
    let live = bench.gpsdProgram(watchJSON, of: user)
    defer { live.quit() }
    let other = bench.gpsdProgram(
      "?WATCH={\"enable\":true,\"torpor_interval\":60};?POLL;", of: user)
    bench.settle()
    #expect(classes(other.lines()).last == "POLL")
    #expect(bench.firstDemand == .live(isWatched: true))
  }

  // MARK: Programs that connect again

  @Test(
    "GPD-7: an interval also applies to programs that connect again and again; each has the last fix"
  )
  func reconnect() throws {
    let bench = try GPSDBench.saving(interval_s: 3_600)
    let first = bench.gpsdProgram(watchJSON, of: user)
    bench.fix()
    #expect(times(first.lines()).count == 1)
    first.quit()
    bench.pass(15)
    for _ in 0..<20 {
      let program = bench.gpsdProgram(watchJSON, of: user)
      #expect(!bench.needsFix)
      let lines = program.lines()
      #expect(times(lines).count == 1 && classes(lines).last == "TPV")
      program.quit()
      bench.pass(15)
    }
    let last = bench.gpsdProgram(watchJSON, of: user)
    bench.pass(3_300)
    #expect(bench.needsFix)
    _ = last.lines()
    bench.fix()
    #expect(times(last.lines()).count == 1)
  }

  @Test("GPD-7: a request that ended with its program is repeated, once a minute")
  func interrupted() throws {
    let bench = try GPSDBench.saving(interval_s: 3_600)
    let first = bench.gpsdProgram(watchJSON, of: user)
    #expect(bench.needsFix)
    first.quit()
    bench.settle()
    let second = bench.gpsdProgram(watchJSON, of: user)
    #expect(!bench.needsFix)
    #expect(second.lines().last?.contains("\"mode\":1") == true)
    bench.pass(60)
    #expect(bench.needsFix)
  }

  @Test("GPD-7: a program that joins a client with an interval receives the last fix at once")
  func join() throws {
    let bench = try GPSDBench.saving(interval_s: 3_600)
    let first = bench.gpsdProgram(watchJSON, of: user)
    bench.fix()
    _ = first.lines()
    bench.pass(1_800)
    let second = bench.gpsdProgram(watchJSON, of: user)
    #expect(times(second.lines()).count == 1)
    #expect(first.bytes().isEmpty && !bench.needsFix)
  }

  @Test("GPD-7: a fix of another client answers a request of a program that has just connected")
  func answered() throws {
    var rights = AccessRights(authorization: .always)
    rights.gpsd.saving.interval_s = 3_600
    let bench = try GPSDBench.make(others: [2_000: rights])
    let live = bench.gpsdProgram(watchJSON, of: user)
    defer { live.quit() }
    for _ in 0..<5 { bench.fix() }
    let other = bench.gpsdProgram(watchJSON, of: 2_000)
    bench.settle()
    #expect(times(other.lines()).count == 1)
    let position = try #require(bench.loop.clients.gpsd.position(of: 1))
    #expect(bench.loop.clients.gpsd.clients[position].newest != nil)
  }

  @Test("GPD-5: with reduced accuracy, each program receives the coarse position when it connects")
  func reducedAgain() throws {
    let bench = try GPSDBench.make(AccessRights(authorization: .always, isReduced: true))
    let first = bench.gpsdProgram(watchJSON, of: user)
    for _ in 0..<40 { bench.fix() }
    #expect(!times(first.lines()).isEmpty)
    let second = bench.gpsdProgram(watchJSON, of: user)
    #expect(times(second.lines()).count == 1, "it joins")
    for program in [first, second] { program.quit() }
    bench.pass(60)
    let third = bench.gpsdProgram(watchJSON, of: user)
    bench.settle()
    #expect(times(third.lines()).count == 1, "it connects again")
  }
}
