import Testing

@testable import LocationPolicy

extension ServiceLevelSet {
  /// A set of the given levels.
  init(_ levels: ServiceLevel...) {
    self.init()
    for level in levels { insert(level) }
  }
}

/// Thresholds of six service levels at 30, 25 … 5 percent.
let sixThresholds: BatteryThresholds = {
  var thresholds = BatteryThresholds()
  thresholds.everyFix = 30
  thresholds.accuracy = 25
  thresholds.updates = 20
  thresholds.visits = 15
  thresholds.regions = 10
  thresholds.significantChange = 5
  return thresholds
}()

@Suite("Service levels shed at each battery charge")
struct BatteryMonitorTests {
  static let order: [ServiceLevel] = [
    .everyFix, .accuracy, .updates, .visits, .regions, .significantChange,
  ]

  @Test("PWR-10: service levels are shed in the order of their thresholds and restored in reverse")
  func order() {
    var monitor = BatteryMonitor(sixThresholds)
    #expect(monitor.shed == .none && monitor.charge == nil)
    var shedAt: [(ServiceLevel, UInt8)] = [], restoredAt: [(ServiceLevel, UInt8)] = []
    for charge in (0...100).reversed() {
      let before = monitor.shed
      monitor.update(charge: UInt8(charge))
      for level in Self.order
      where monitor.shed.contains(level) && !before.contains(level) {
        shedAt.append((level, UInt8(charge)))
      }
    }
    for charge in 0...100 {
      let before = monitor.shed
      monitor.update(charge: UInt8(charge))
      for level in Self.order
      where !monitor.shed.contains(level) && before.contains(level) {
        restoredAt.append((level, UInt8(charge)))
      }
    }
    #expect(shedAt.map(\.0) == Self.order && shedAt.map(\.1) == [29, 24, 19, 14, 9, 4])
    #expect(restoredAt.map(\.0) == Self.order.reversed())
    #expect(restoredAt.map(\.1) == [8, 13, 18, 23, 28, 33])
    #expect(monitor.shed.isEmpty && monitor.charge == 100)
  }

  @Test(
    "PWR-10: a charge that varies by less than the hysteresis changes nothing", arguments: 0...9)
  func variation(_ hysteresis: Int) {
    var thresholds = BatteryThresholds()
    thresholds.updates = 20
    thresholds.hysteresis = UInt8(hysteresis)
    var monitor = BatteryMonitor(thresholds)
    for _ in 0..<3 {
      monitor.update(charge: 20)
      #expect(monitor.shed.isEmpty, "20 is not below 20")
    }
    monitor.update(charge: 19)
    for charge in 19..<max(20, 20 + hysteresis) {
      monitor.update(charge: UInt8(charge))
      #expect(monitor.shed == ServiceLevelSet(.updates), "\(charge)")
    }
    monitor.update(charge: UInt8(20 + hysteresis))
    #expect(monitor.shed.isEmpty)
  }

  @Test("PWR-10: a jump sheds all levels it passes; 0 disables a threshold; full sheds nothing")
  func limits() {
    var monitor = BatteryMonitor(sixThresholds)
    monitor.update(charge: 0)
    #expect(Self.order.allSatisfy(monitor.shed.contains))
    monitor.update(charge: 255)
    #expect(monitor.shed.isEmpty && monitor.charge == 100)
    var never = BatteryMonitor(BatteryThresholds())
    never.update(charge: 0)
    #expect(never.shed.isEmpty)
    var thresholds = BatteryThresholds()
    thresholds.visits = 100
    var always = BatteryMonitor(thresholds)
    always.update(charge: 99)
    #expect(always.shed == ServiceLevelSet(.visits))
    always.update(charge: 100)
    #expect(always.shed.isEmpty, "100 percent plus a hysteresis of 3 is never reached")
  }

  @Test("A set of service levels")
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
