import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Regions and conditions of one client")
struct RegionMonitorTests {
  @Test("REG-4, REG-8: 10 m past the boundary for 20 s is an enter or exit, followed by its state")
  func timeline() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 500), (2, 105), (3, 98), (4, 91), (5, 89), (24, 0))
    #expect(bench.events().isEmpty)
    bench.accept((25, 0))
    #expect(bench.events() == [entered(home, 25), .determined(home, .inside)])
    bench.accept((30, 108), (60, 109))
    #expect(bench.events().isEmpty)
    bench.accept((61, 111), (80, 111), (81, 111))
    #expect(bench.events() == [exited(home, 81), .determined(home, .outside)])
  }

  @Test("REG-4: coming back in between restarts the 20 s; an undecided fix does not")
  func dwell() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 500), (2, 50), (20, 93), (21, 50), (40, 50))
    #expect(bench.events().isEmpty)
    bench.accept((30, 0))  // older than the newest: ignored
    bench.accept((40.5, 90), accuracy_mm: 20_000)
    bench.accept((41, 50))
    #expect(bench.events() == [entered(home, 41), .determined(home, .inside)])
  }

  @Test("REG-6: starting inside gives no didEnter, leaving gives didExit")
  func startInside() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 20), (30, 10))
    #expect(bench.events().isEmpty)
    #expect(bench.monitor.state(of: home) == .inside)
    #expect(bench.requestState(at: 31) == nil)
    #expect(bench.events() == [.determined(home, .inside)])
    bench.accept((40, 200), (60, 200))
    #expect(bench.events() == [exited(home, 60), .determined(home, .outside)])
  }

  @Test("REG-1: the same identifier replaces a region; another kind has its own identifiers")
  func replaces() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate, radius: 50)) == nil)
    bench.accept((1, 0))
    #expect(bench.monitor.count == 2)
    #expect(bench.events() == [monitored(.satisfied, 1)])
    #expect(bench.add(circle(home, east: 1_000), at: 50) == nil)
    #expect(bench.monitor.count == 2)
    #expect(bench.monitor.region(home)?.circle.center == equator.moved(east: 1_000, north: 0))
    #expect(bench.monitor.region(gate)?.circle.radius == 50)
    #expect(bench.monitor.state(of: home) == .unknown)
    bench.accept((60, 1_000), (90, 1_000))
    #expect(bench.monitor.state(of: home) == .inside)
    #expect(bench.events() == [monitored(.unsatisfied, 90)])
  }

  @Test("REG-1: adding the same circle again keeps its state and applies the new options")
  func sameCircle() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((1, 500), (10, 0))
    #expect(bench.add(circle(home, entry: false), at: 20) == nil)
    bench.accept((30, 0))
    #expect(bench.events() == [.crossedSilently(home, .inside)])
    #expect(bench.add(circle(home, radius: 101), at: 31) == nil)
    #expect(bench.monitor.state(of: home) == .inside)  // the fix of 30 s is recent enough
    bench.accept((40, 500), (50, 500))
    #expect(bench.add(circle(home, north: 1), at: 60) == nil)
    bench.accept((65, 500))
    #expect(bench.events().isEmpty)
    #expect(bench.monitor.state(of: home) == .outside)
  }

  @Test("REG-2: the 21st is refused: error 5, or an event with conditionLimitExceeded")
  func limit() {
    var bench = RegionBench()
    for number in 0..<20 as Range<UInt32> {
      let kind: RegionKind = number % 2 == 0 ? .region : .condition
      #expect(bench.add(circle(RegionIdentifier(kind, number + 10))) == nil)
    }
    #expect(bench.add(circle(home)) == .failure(home, .regionMonitoringFailure))
    #expect(LocationErrorCode.regionMonitoringFailure.rawValue == 5)
    #expect(
      bench.add(circle(gate), at: 3)
        == .monitor(gate, .unmonitored, .conditionLimitExceeded, at: Instant(seconds: 3)))
    #expect(bench.monitor.count == 20)
    #expect(bench.add(circle(RegionIdentifier(.region, 10), radius: 7)) == nil)
    #expect(bench.monitor.region(home) == nil)
    bench.monitor.remove(RegionIdentifier(.region, 10))
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate)) != nil)
    #expect(bench.monitor.region(gate) == nil)
  }

  @Test(
    "REG-3: a radius above the maximum, not finite or not positive is refused",
    arguments: [0, -1, .nan, .infinity, 1_000.1, -.infinity] as [Double])
  func radius(_ radius: Double) {
    var bench = RegionBench()
    bench.monitor = RegionMonitor(limits: RegionLimits(maximumRadius: 1_000))
    #expect(bench.add(circle(home, radius: radius)) == .failure(home, .regionMonitoringFailure))
    #expect(
      bench.add(circle(gate, radius: radius), at: 1)
        == .monitor(gate, .unmonitored, .conditionUnsupported, at: Instant(seconds: 1)))
    #expect(bench.monitor.count == 0)
    #expect(bench.add(circle(home, radius: 1_000)) == nil)
    #expect(bench.add(circle(gate, radius: 0.1)) == nil)
    let invalid = Region(
      home, center: Coordinate(latitude_e9: 90_000_000_001, longitude_e9: 0), radius: 10)
    #expect(bench.add(invalid) == .failure(home, .regionMonitoringFailure))
    bench.monitor = RegionMonitor(limits: RegionLimits(maximumRadius: .infinity))
    #expect(bench.add(circle(home, radius: .infinity)) != nil)
  }

  @Test(
    "REG-9: notifyOnEntry and notifyOnExit silence enter and exit, not the state",
    arguments: [(true, true), (true, false), (false, true), (false, false)])
  func silence(_ entry: Bool, _ exit: Bool) {
    var bench = RegionBench()
    #expect(bench.add(circle(home, entry: entry, exit: exit)) == nil)
    bench.accept((1, 500), (2, 0), (22, 0), (30, 500), (50, 500))
    let enter: [RegionEvent] =
      entry
      ? [entered(home, 22), .determined(home, .inside)] : [.crossedSilently(home, .inside)]
    let leave: [RegionEvent] =
      exit ? [exited(home, 50), .determined(home, .outside)] : [.crossedSilently(home, .outside)]
    #expect(bench.events() == enter + leave)
  }

  @Test("Of pending crossings the last two are reported; a third cancels the two before it")
  func coalesced() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate, radius: 300), assuming: .unsatisfied) == nil)
    bench.accept((1, 500), (10, 0), (30, 0))
    bench.accept((40, 200), (60, 200), (70, 0), (90, 0))
    #expect(
      bench.events() == [
        monitored(.satisfied, 30), entered(home, 90), .determined(home, .inside),
      ])
    bench.accept(
      (100, 500), (120, 500), (130, 0), (150, 0), (160, 500), (180, 500), (190, 0), (210, 0))
    #expect(
      bench.events() == [
        exited(home, 180), .determined(home, .outside), monitored(.unsatisfied, 180),
        entered(home, 210), .determined(home, .inside), monitored(.satisfied, 210),
      ])
  }

  @Test(
    "REG-12: a state that differs from the assumed one is reported immediately, no other",
    arguments: [MonitorState.unknown, .satisfied, .unsatisfied, .unmonitored], [0.0, 500])
  func assuming(_ assumed: MonitorState, _ east: Double) {
    let actual: MonitorState = east == 0 ? .satisfied : .unsatisfied
    var bench = RegionBench()
    #expect(bench.add(circle(gate), assuming: assumed) == nil)
    bench.accept((1, east))
    #expect(bench.events() == (actual == assumed ? [] : [monitored(actual, 1)]))
    #expect(bench.monitor.state(of: gate).monitorState == actual)
    bench.accept((30, 500 - east), (50, 500 - east))
    let other: MonitorState = east == 0 ? .unsatisfied : .satisfied
    #expect(bench.events() == [monitored(other, 50)])
    // The same circle with another assumed state.
    #expect(bench.add(circle(gate), assuming: assumed, at: 60) == nil)
    #expect(bench.events() == (other == assumed ? [] : [monitored(other, 60)]))
    #expect(bench.monitor.record(at: 0)?.assuming == (other == assumed ? assumed : other))
  }

  @Test("BKG-20: a region's stored state is the start of crossings and part of its record")
  func restored() {
    var bench = RegionBench()
    #expect(bench.add(circle(home), assuming: .satisfied) == nil)
    #expect(bench.monitor.state(of: home) == .inside)
    #expect(bench.monitor.record(at: 0)?.assuming == .satisfied)
    #expect(bench.monitor.record(at: 0)?.region == circle(home))
    #expect(bench.monitor.record(at: 1) == nil)
    bench.accept((1, 500), (21, 500))
    #expect(bench.events() == [exited(home, 21), .determined(home, .outside)])
    #expect(bench.monitor.record(at: 0)?.assuming == .unsatisfied)
  }

  @Test("REG-6: a recent newest fix decides immediately; fixes before the start never do")
  func start() {
    var bench = RegionBench()
    bench.accept((100, 0))
    #expect(bench.add(circle(home), at: 110) == nil)
    #expect(bench.monitor.state(of: home) == .inside)
    #expect(bench.add(circle(gate), at: 110.1) == nil)
    #expect(bench.monitor.state(of: gate) == .unknown)
    bench.accept((110.05, 0))
    #expect(bench.monitor.state(of: gate) == .unknown)
    bench.accept((110.1, 0))
    #expect(bench.events() == [monitored(.satisfied, 110.1)])
  }

  @Test("A fix without accuracy has the assumed accuracy")
  func noAccuracy() {
    for (assumed, state) in [(39.0, RegionState.inside), (41, .unknown)] {
      var bench = RegionBench()
      bench.monitor = RegionMonitor(limits: RegionLimits(assumedAccuracy: assumed))
      #expect(bench.add(circle(home)) == nil)
      bench.accept((1, 60), accuracy_mm: nil)
      #expect(bench.monitor.state(of: home) == state)
    }
  }
}
