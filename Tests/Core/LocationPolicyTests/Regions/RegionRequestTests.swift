import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Region state requests and inactive monitoring")
struct RegionRequestTests {
  @Test("REG-7: a call right after start gets exactly one answer, with the first deciding fix")
  func waits() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    for _ in 0..<3 { #expect(bench.requestState(at: 0) == nil) }
    #expect(bench.events().isEmpty)
    bench.accept((1, 99))
    #expect(bench.events().isEmpty)
    bench.accept((2, 500))
    #expect(bench.events() == Array(repeating: .determined(home, .outside), count: 3))
    #expect(bench.monitor.deadline == .distantFuture)
    bench.elapse(100)
    #expect(bench.events().isEmpty)
    #expect(bench.requestState(at: 101) == nil)
    #expect(bench.events() == [.determined(home, .outside)])
  }

  @Test("REG-7: the answer is unknown at the earliest timeout of the waiting calls")
  func timeout() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(RegionIdentifier(.region, 2), east: 9)) == nil)
    #expect(bench.requestState(at: 0, timeout: 10) == nil)
    #expect(bench.requestState(at: 1, timeout: 30) == nil)
    #expect(bench.requestState(RegionIdentifier(.region, 2), at: 2, timeout: 20) == nil)
    #expect(bench.monitor.deadline == Instant(seconds: 10))
    bench.elapse(9.999_999)
    #expect(bench.events().isEmpty)
    bench.elapse(10)
    #expect(bench.events() == Array(repeating: .determined(home, .unknown), count: 2))
    #expect(bench.monitor.deadline == Instant(seconds: 22))
    bench.accept((11, 500))
    #expect(bench.events() == [.determined(RegionIdentifier(.region, 2), .outside)])
    #expect(bench.monitor.deadline == .distantFuture)
  }

  @Test(
    "REG-7: calls for unmonitored, removed, replaced, stopped regions and conditions are answered")
  func others() {
    var bench = RegionBench()
    #expect(bench.requestState(at: 0) == .determined(home, .unknown))
    #expect(bench.add(circle(gate)) == nil)
    #expect(bench.requestState(gate, at: 0) == .determined(gate, .unknown))
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.requestState(at: 0) == nil)
    #expect(bench.add(circle(home, east: 500), at: 1) == nil)
    #expect(bench.events().isEmpty)
    bench.monitor.remove(home)
    #expect(bench.monitor.deadline == .distantFuture)
    #expect(bench.monitor.count == 1)
    #expect(bench.monitor.region(home) == nil)
    #expect(bench.requestState(at: 2) == .determined(home, .unknown))
    #expect(bench.add(circle(home), at: 2) == nil)
    #expect(bench.monitor.count == 2)
    #expect(bench.requestState(at: 2) == nil)
    bench.accept((3, 0))
    #expect(
      bench.events() == [
        monitored(.satisfied, 3), .determined(home, .inside), .determined(home, .inside),
      ])
    #expect(bench.add(circle(home, radius: 9), at: 50) == nil)
    #expect(bench.requestState(at: 50) == nil)
    for identifier in [home, gate] { bench.monitor.remove(identifier) }
    #expect(bench.monitor.count == 0)
    #expect(bench.events() == [.determined(home, .unknown)])
    let next = bench.monitor.nextFix(at: Instant(seconds: 60), speed: .constant(1), line: .absent)
    #expect(next == .distantFuture)
  }

  @Test("REG-7: an answer follows the pending crossings, and restoring a state answers")
  func order() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 500), (2, 0), (22, 0))
    #expect(bench.requestState(at: 23) == nil)
    #expect(
      bench.events() == [entered(home, 22), .determined(home, .inside), .determined(home, .inside)])
    #expect(bench.add(circle(home, radius: 200), at: 50) == nil)
    #expect(bench.requestState(at: 50) == nil)
    #expect(bench.add(circle(home, radius: 300), assuming: .unsatisfied, at: 51) == nil)
    #expect(bench.monitor.deadline == .distantFuture)
    #expect(bench.events() == [.determined(home, .outside)])
  }

  @Test("Pending events of a removed region are dropped, even between a crossing and its state")
  func droppedEvents() {
    for isReplaced in [false, true] {
      var bench = RegionBench()
      #expect(bench.add(circle(home)) == nil)
      bench.accept((1, 500), (2, 0), (22, 0))
      #expect(bench.monitor.nextEvent() == entered(home, 22))
      bench.monitor.remove(gate)
      if isReplaced {
        #expect(bench.add(circle(home, radius: 50), at: 60) == nil)
      } else {
        bench.monitor.remove(home)
      }
      #expect(bench.events().isEmpty)
    }
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 500), (2, 0), (22, 0))
    bench.monitor.remove(home)
    #expect(bench.events().isEmpty)
    // The freed slots can be used again.
    for number in 0..<20 as Range<UInt32> {
      #expect(bench.add(circle(RegionIdentifier(.region, number + 10)), at: 99) == nil)
    }
  }

  @Test("REG-2: a removed region keeps its slot until its answer is delivered, and loses no answer")
  func leaving() {
    var bench = RegionBench()
    for number in 1...20 as ClosedRange<UInt32> {
      #expect(bench.add(circle(RegionIdentifier(.region, number))) == nil)
    }
    #expect(bench.requestState(at: 0) == nil)
    bench.monitor.remove(home)
    #expect(bench.add(circle(RegionIdentifier(.region, 21))) != nil)
    #expect(bench.events() == [.determined(home, .unknown)])
    #expect(bench.add(circle(RegionIdentifier(.region, 21))) == nil)
  }

  @Test("REG-15, AUT-3: while inactive: no state, event or fix; then monitoring restarts")
  func inactive() {
    var bench = RegionBench()
    func setInactive(_ isInactive: Bool, _ seconds: Double) {
      bench.monitor.setInactive(isInactive, at: Instant(seconds: seconds))
    }
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate)) == nil)
    bench.accept((1, 500))
    #expect(bench.events() == [monitored(.unsatisfied, 1)])
    bench.accept((2, 0), (22, 0))
    #expect(bench.monitor.nextEvent() == entered(home, 22))
    setInactive(true, 23)
    #expect(bench.events().isEmpty)
    #expect(bench.monitor.state(of: home) == .unknown)
    #expect(bench.monitor.isInactive && bench.monitor.state(of: gate) == .unknown)
    #expect(bench.monitor.needsCheck(at: fix(at: 24, east: 500)) == false)
    bench.accept((24, 500), (44, 500))
    #expect(bench.monitor.state(of: home) == .unknown)
    #expect(bench.requestState(at: 45) == nil)
    #expect(bench.events() == [.determined(home, .unknown)])
    let next = bench.monitor.nextFix(at: Instant(seconds: 45), speed: .constant(9), line: .moving)
    #expect(next == .distantFuture)
    #expect(bench.add(circle(RegionIdentifier(.region, 7)), at: 45) == nil)
    setInactive(true, 46)
    setInactive(false, 50)
    #expect(!bench.monitor.isInactive && bench.monitor.region(gate) != nil)
    #expect(bench.monitor.state(of: gate) == .unknown)
    bench.accept((49, 0))  // from the inactive time
    #expect(bench.monitor.state(of: home) == .unknown)
    bench.accept((51, 0))
    #expect(bench.monitor.state(of: home) == .inside)
    // The region restarts; the condition still assumes the state reported last.
    #expect(bench.events() == [monitored(.satisfied, 51)])
    setInactive(true, 60)
    setInactive(false, 61)
    bench.accept((62, 0))
    #expect(bench.events().isEmpty)
  }

  @Test("REG-15, REG-7: waiting requests are answered when monitoring stops")
  func inactiveAnswers() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.requestState(at: 0) == nil)
    bench.monitor.setInactive(true, at: Instant(seconds: 1))
    #expect(bench.events() == [.determined(home, .unknown)])
    #expect(bench.monitor.deadline == .distantFuture)
    bench.monitor.setInactive(false, at: Instant(seconds: 5))
    bench.accept((6, 0))
    #expect(bench.monitor.state(of: home) == .inside)
  }
}
