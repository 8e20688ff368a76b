import Testing

@testable import LocationPolicy

extension ServiceLevelSet {
  /// A set of some.
  init(_ promises: ServiceLevel...) {
    self.init()
    for promise in promises { insert(promise) }
  }
}

/// Six promises at 30, 25 … 5 percent.
let sixTerms: BatteryThresholds = {
  var terms = BatteryThresholds()
  terms.everyFix = 30
  terms.accuracy = 25
  terms.updates = 20
  terms.visits = 15
  terms.regions = 10
  terms.significantChange = 5
  return terms
}()

@Suite("What is given up at which charge")
struct BatteryMonitorTests {
  static let order: [ServiceLevel] = [
    .everyFix, .accuracy, .updates, .visits, .regions, .significantChange,
  ]

  @Test("PWR-10: promises go one by one, in the order of their charges, and come back in reverse")
  func order() {
    var monitor = BatteryMonitor(sixTerms)
    #expect(monitor.shed == .none && monitor.charge == nil)
    var gone: [(ServiceLevel, UInt8)] = [], back: [(ServiceLevel, UInt8)] = []
    for charge in (0...100).reversed() {
      let before = monitor.shed
      monitor.update(charge: UInt8(charge))
      for promise in Self.order
      where monitor.shed.contains(promise) && !before.contains(promise) {
        gone.append((promise, UInt8(charge)))
      }
    }
    for charge in 0...100 {
      let before = monitor.shed
      monitor.update(charge: UInt8(charge))
      for promise in Self.order
      where !monitor.shed.contains(promise) && before.contains(promise) {
        back.append((promise, UInt8(charge)))
      }
    }
    #expect(gone.map(\.0) == Self.order && gone.map(\.1) == [29, 24, 19, 14, 9, 4])
    #expect(back.map(\.0) == Self.order.reversed() && back.map(\.1) == [8, 13, 18, 23, 28, 33])
    #expect(monitor.shed.isEmpty && monitor.charge == 100)
  }

  @Test("PWR-10: a gauge that wavers by less than the margin changes nothing", arguments: 0...9)
  func wavering(_ margin: Int) {
    var terms = BatteryThresholds()
    terms.updates = 20
    terms.hysteresis = UInt8(margin)
    var monitor = BatteryMonitor(terms)
    for _ in 0..<3 {
      monitor.update(charge: 20)
      #expect(monitor.shed.isEmpty, "20 is not below 20")
    }
    monitor.update(charge: 19)
    for charge in 19..<max(20, 20 + margin) {
      monitor.update(charge: UInt8(charge))
      #expect(monitor.shed == ServiceLevelSet(.updates), "\(charge)")
    }
    monitor.update(charge: UInt8(20 + margin))
    #expect(monitor.shed.isEmpty)
  }

  @Test("PWR-10: a jump gives up all that it passes; 0 is never, and full is always enough")
  func ends() {
    var monitor = BatteryMonitor(sixTerms)
    monitor.update(charge: 0)
    #expect(Self.order.allSatisfy(monitor.shed.contains))
    monitor.update(charge: 255)
    #expect(monitor.shed.isEmpty && monitor.charge == 100)
    var never = BatteryMonitor(BatteryThresholds())
    never.update(charge: 0)
    #expect(never.shed.isEmpty)
    var terms = BatteryThresholds()
    terms.visits = 100
    var always = BatteryMonitor(terms)
    always.update(charge: 99)
    #expect(always.shed == ServiceLevelSet(.visits))
    always.update(charge: 100)
    #expect(always.shed.isEmpty, "100 and a margin of 3 would never come")
  }

  @Test("a set of promises")
  func sets() {
    var set = ServiceLevelSet.none
    #expect(set.isEmpty && Self.order.allSatisfy { !set.contains($0) })
    set.insert(.regions)
    set.insert(.regions)
    #expect(set == ServiceLevelSet(.regions) && !set.isEmpty)
    #expect(Self.order.filter(set.contains) == [.regions])
    #expect(
      ServiceLevelSet(.regions, .visits).intersection(ServiceLevelSet(.visits))
        == ServiceLevelSet(.visits))
    #expect(Self.order.map(\.rawValue) == Array(0..<ServiceLevel.count))
  }
}
