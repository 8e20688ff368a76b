import Testing

@testable import LocationPolicy

extension PromiseSet {
  /// A set of some.
  init(_ promises: Promise...) {
    self.init()
    for promise in promises { insert(promise) }
  }
}

/// Six promises at 30, 25 … 5 percent.
let sixTerms: BatteryTerms = {
  var terms = BatteryTerms()
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
  static let order: [Promise] = [
    .everyFix, .accuracy, .updates, .visits, .regions, .significantChange,
  ]

  @Test("PWR-10: promises go one by one, in the order of their charges, and come back in reverse")
  func order() {
    var monitor = BatteryMonitor(sixTerms)
    #expect(monitor.givenUp == .none && monitor.charge == nil)
    var gone: [(Promise, UInt8)] = [], back: [(Promise, UInt8)] = []
    for charge in (0...100).reversed() {
      let before = monitor.givenUp
      monitor.take(UInt8(charge))
      for promise in Self.order
      where monitor.givenUp.contains(promise) && !before.contains(promise) {
        gone.append((promise, UInt8(charge)))
      }
    }
    for charge in 0...100 {
      let before = monitor.givenUp
      monitor.take(UInt8(charge))
      for promise in Self.order
      where !monitor.givenUp.contains(promise) && before.contains(promise) {
        back.append((promise, UInt8(charge)))
      }
    }
    #expect(gone.map(\.0) == Self.order && gone.map(\.1) == [29, 24, 19, 14, 9, 4])
    #expect(back.map(\.0) == Self.order.reversed() && back.map(\.1) == [8, 13, 18, 23, 28, 33])
    #expect(monitor.givenUp.isEmpty && monitor.charge == 100)
  }

  @Test("PWR-10: a gauge that wavers by less than the margin changes nothing", arguments: 0...9)
  func wavering(_ margin: Int) {
    var terms = BatteryTerms()
    terms.updates = 20
    terms.margin = UInt8(margin)
    var monitor = BatteryMonitor(terms)
    for _ in 0..<3 {
      monitor.take(20)
      #expect(monitor.givenUp.isEmpty, "20 is not below 20")
    }
    monitor.take(19)
    for charge in 19..<max(20, 20 + margin) {
      monitor.take(UInt8(charge))
      #expect(monitor.givenUp == PromiseSet(.updates), "\(charge)")
    }
    monitor.take(UInt8(20 + margin))
    #expect(monitor.givenUp.isEmpty)
  }

  @Test("PWR-10: a jump gives up all that it passes; 0 is never, and full is always enough")
  func ends() {
    var monitor = BatteryMonitor(sixTerms)
    monitor.take(0)
    #expect(Self.order.allSatisfy(monitor.givenUp.contains))
    monitor.take(255)
    #expect(monitor.givenUp.isEmpty && monitor.charge == 100)
    var never = BatteryMonitor(BatteryTerms())
    never.take(0)
    #expect(never.givenUp.isEmpty)
    var terms = BatteryTerms()
    terms.visits = 100
    var always = BatteryMonitor(terms)
    always.take(99)
    #expect(always.givenUp == PromiseSet(.visits))
    always.take(100)
    #expect(always.givenUp.isEmpty, "100 and a margin of 3 would never come")
  }

  @Test("a set of promises")
  func sets() {
    var set = PromiseSet.none
    #expect(set.isEmpty && Self.order.allSatisfy { !set.contains($0) })
    set.insert(.regions)
    set.insert(.regions)
    #expect(set == PromiseSet(.regions) && !set.isEmpty)
    #expect(Self.order.filter(set.contains) == [.regions])
    #expect(PromiseSet(.regions, .visits).intersection(PromiseSet(.visits)) == PromiseSet(.visits))
    #expect(Self.order.map(\.rawValue) == Array(0..<Promise.count))
  }
}
