import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Requests for a region's state, and monitoring that rests")
struct RegionRequestTests {
  @Test("REG-7: right after start, exactly one answer per call, with the first fix that decides")
  func waits() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    for _ in 0..<3 { #expect(bench.ask(at: 0) == nil) }
    #expect(bench.told().isEmpty)
    bench.go((1, 99))
    #expect(bench.told().isEmpty)
    bench.go((2, 500))
    #expect(bench.told() == Array(repeating: .determined(home, .outside), count: 3))
    #expect(bench.monitor.deadline == .distantFuture)
    bench.elapse(100)
    #expect(bench.told().isEmpty)
    #expect(bench.ask(at: 101) == nil)
    #expect(bench.told() == [.determined(home, .outside)])
  }

  @Test("REG-7: unknown when the wait is over, not later than any call asked for")
  func timeout() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(RegionIdentifier(.region, 2), east: 9)) == nil)
    #expect(bench.ask(at: 0, timeout: 10) == nil)
    #expect(bench.ask(at: 1, timeout: 30) == nil)
    #expect(bench.ask(RegionIdentifier(.region, 2), at: 2, timeout: 20) == nil)
    #expect(bench.monitor.deadline == Instant(seconds: 10))
    bench.elapse(9.999_999)
    #expect(bench.told().isEmpty)
    bench.elapse(10)
    #expect(bench.told() == Array(repeating: .determined(home, .unknown), count: 2))
    #expect(bench.monitor.deadline == Instant(seconds: 22))
    bench.go((11, 500))
    #expect(bench.told() == [.determined(RegionIdentifier(.region, 2), .outside)])
    #expect(bench.monitor.deadline == .distantFuture)
  }

  @Test("REG-7: nobody is forgotten: not monitored, a condition, removed, replaced, stopped")
  func others() {
    var bench = RegionBench()
    #expect(bench.ask(at: 0) == .determined(home, .unknown))
    #expect(bench.add(circle(gate)) == nil)
    #expect(bench.ask(gate, at: 0) == .determined(gate, .unknown))
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.ask(at: 0) == nil)
    #expect(bench.add(circle(home, east: 500), at: 1) == nil)
    #expect(bench.told().isEmpty)
    bench.monitor.remove(home)
    #expect(bench.monitor.deadline == .distantFuture)
    #expect(bench.monitor.count == 1)
    #expect(bench.monitor.region(home) == nil)
    #expect(bench.ask(at: 2) == .determined(home, .unknown))
    #expect(bench.add(circle(home), at: 2) == nil)
    #expect(bench.monitor.count == 2)
    #expect(bench.ask(at: 2) == nil)
    bench.go((3, 0))
    #expect(
      bench.told() == [
        monitored(.satisfied, 3), .determined(home, .inside), .determined(home, .inside),
      ])
    #expect(bench.add(circle(home, radius: 9), at: 50) == nil)
    #expect(bench.ask(at: 50) == nil)
    bench.monitor.stopAll()
    #expect(bench.monitor.count == 0)
    #expect(bench.told() == [.determined(home, .unknown)])
    let next = bench.monitor.nextFix(at: Instant(seconds: 60), fastest: 1, line: .absent)
    #expect(next == .distantFuture)
  }

  @Test("REG-7: an answer comes after the crossings that were not told, and restoring answers")
  func order() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.go((1, 500), (2, 0), (22, 0))
    #expect(bench.ask(at: 23) == nil)
    #expect(
      bench.told() == [entered(home, 22), .determined(home, .inside), .determined(home, .inside)])
    #expect(bench.add(circle(home, radius: 200), at: 50) == nil)
    #expect(bench.ask(at: 50) == nil)
    #expect(bench.add(circle(home, radius: 300), assuming: .unsatisfied, at: 51) == nil)
    #expect(bench.monitor.deadline == .distantFuture)
    #expect(bench.told() == [.determined(home, .outside)])
  }

  @Test("What was not told of a removed region is taken back, also between exit and state")
  func takenBack() {
    for isReplaced in [false, true] {
      var bench = RegionBench()
      #expect(bench.add(circle(home)) == nil)
      bench.go((1, 500), (2, 0), (22, 0))
      #expect(bench.monitor.nextEvent() == entered(home, 22))
      bench.monitor.remove(gate)
      if isReplaced {
        #expect(bench.add(circle(home, radius: 50), at: 60) == nil)
      } else {
        bench.monitor.remove(home)
      }
      #expect(bench.told().isEmpty)
    }
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.go((1, 500), (2, 0), (22, 0))
    bench.monitor.stopAll()
    #expect(bench.told().isEmpty)
    // The freed slots are free.
    for number in 0..<20 as Range<UInt32> {
      #expect(bench.add(circle(RegionIdentifier(.region, number + 10)), at: 99) == nil)
    }
  }

  @Test("REG-2: a region that leaves keeps its slot until its answer is told, and loses none")
  func leaving() {
    var bench = RegionBench()
    for number in 1...20 as ClosedRange<UInt32> {
      #expect(bench.add(circle(RegionIdentifier(.region, number))) == nil)
    }
    #expect(bench.ask(at: 0) == nil)
    bench.monitor.remove(home)
    #expect(bench.add(circle(RegionIdentifier(.region, 21))) != nil)
    #expect(bench.told() == [.determined(home, .unknown)])
    #expect(bench.add(circle(RegionIdentifier(.region, 21))) == nil)
  }

  @Test(
    "REG-15, AUT-3: reduced or denied: no state, no event, no fix; then all starts anew",
    arguments: [true, false])
  func rests(_ isReduced: Bool) {
    var bench = RegionBench()
    func turn(_ isResting: Bool, _ seconds: Double) {
      if isReduced {
        bench.monitor.setReduced(isResting, at: Instant(seconds: seconds))
      } else {
        bench.monitor.setDenied(isResting, at: Instant(seconds: seconds))
      }
    }
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate)) == nil)
    bench.go((1, 500))
    #expect(bench.told() == [monitored(.unsatisfied, 1)])
    bench.go((2, 0), (22, 0))
    #expect(bench.monitor.nextEvent() == entered(home, 22))
    turn(true, 23)
    #expect(bench.told().isEmpty)
    #expect(bench.monitor.state(of: home) == .unknown)
    #expect(bench.monitor.monitorState(of: gate) == .unmonitored)
    #expect(!bench.monitor.needsCheck(at: fix(at: 24, east: 500)))
    bench.go((24, 500), (44, 500))
    #expect(bench.monitor.state(of: home) == .unknown)
    #expect(bench.ask(at: 45) == nil)
    #expect(bench.told() == [.determined(home, .unknown)])
    let next = bench.monitor.nextFix(at: Instant(seconds: 45), fastest: 9, line: .moving)
    #expect(next == .distantFuture)
    #expect(bench.add(circle(RegionIdentifier(.region, 7)), at: 45) == nil)
    turn(true, 46)
    turn(false, 50)
    #expect(bench.monitor.monitorState(of: gate) == .unknown)
    bench.go((49, 0))  // from the time before
    #expect(bench.monitor.state(of: home) == .unknown)
    bench.go((51, 0))
    #expect(bench.monitor.state(of: home) == .inside)
    // The region starts anew; the condition's client still believes what it was told last.
    #expect(bench.told() == [monitored(.satisfied, 51)])
    turn(true, 60)
    turn(false, 61)
    bench.go((62, 0))
    #expect(bench.told().isEmpty)
  }

  @Test("REG-15, REG-7: requests that wait are answered when monitoring rests; one cause is enough")
  func restAnswers() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.ask(at: 0) == nil)
    bench.monitor.setReduced(true, at: Instant(seconds: 1))
    #expect(bench.told() == [.determined(home, .unknown)])
    #expect(bench.monitor.deadline == .distantFuture)
    bench.monitor.setDenied(true, at: Instant(seconds: 2))
    bench.monitor.setReduced(false, at: Instant(seconds: 3))
    bench.go((4, 0))
    #expect(bench.monitor.state(of: home) == .unknown)
    bench.monitor.setDenied(false, at: Instant(seconds: 5))
    bench.go((6, 0))
    #expect(bench.monitor.state(of: home) == .inside)
  }
}
