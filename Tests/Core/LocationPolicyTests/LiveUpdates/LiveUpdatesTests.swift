import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Live updates of one client")
struct LiveUpdatesTests {
  static func all(_ updates: inout LiveUpdates) -> [LiveElement] {
    var elements: [LiveElement] = []
    while let element = updates.nextElement() { elements.append(element) }
    return elements
  }

  /// One iterator, stationary since 0 s and reported so at 600 s.
  static func standing(_ line: MotionLine = .absent) -> LiveUpdates {
    var updates = LiveUpdates()
    updates.motionLineChanged(line, at: .boot)
    #expect(updates.open(.default) == 0)
    for second in 0...600 {
      updates.accept(stored(UInt64(second), at: Double(second)))
      let elements = all(&updates)
      #expect(elements.count == 1)
      #expect(elements.first?.isStationary == (second == 600))
      #expect(elements.first?.location?.name.sequence == UInt64(second))
    }
    return updates
  }

  @Test("LIV-8: configurations have Core Location's numbers, which differ from the activities'")
  func configurations() {
    #expect(LiveConfiguration.default.rawValue == 0)
    #expect(LiveConfiguration.automotiveNavigation.rawValue == 1)
    #expect(LiveConfiguration.otherNavigation.rawValue == 2)
    #expect(LiveConfiguration.fitness.rawValue == 3)
    #expect(LiveConfiguration.airborne.rawValue == 4)
    #expect(LiveConfiguration.default.activity == .other)
    #expect(LiveConfiguration.automotiveNavigation.activity == .automotiveNavigation)
    #expect(LiveConfiguration.otherNavigation.activity == .otherNavigation)
    #expect(LiveConfiguration.fitness.activity == .fitness)
    #expect(LiveConfiguration.airborne.activity == .airborne)
  }

  @Test("LIV-6: eight flags, each with its own bit; six withhold locations")
  func flags() {
    let flags: [LiveFlags] = [
      .authorizationDenied, .authorizationDeniedGlobally, .authorizationRestricted,
      .insufficientlyInUse, .locationUnavailable, .accuracyLimited, .serviceSessionRequired,
      .authorizationRequestInProgress,
    ]
    #expect(flags.reduce(LiveFlags.empty) { $0.union($1) }.rawValue == 0xFF)
    #expect(flags.allSatisfy { $0.rawValue.nonzeroBitCount == 1 })
    let open = LiveFlags.locationUnavailable.union(.accuracyLimited)
    #expect(LiveFlags.withholding.rawValue == 0xFF & ~open.rawValue)
    for flag in flags {
      var updates = LiveUpdates()
      _ = updates.open(.default)
      updates.set(flag)
      #expect(updates.isWithheld == !open.containsAny(of: flag))
      #expect(updates.isLive == !updates.isWithheld)
      updates.accept(stored(1, at: 1))
      let elements = Self.all(&updates)
      #expect(elements.count == 1)
      #expect(elements.first?.flags == flag)
      #expect((elements.first?.location == nil) == updates.isWithheld)
    }
  }

  @Test("LIV-4: one stationary element, then none, then one non-stationary element on movement")
  func stationary() {
    var updates = Self.standing()
    for second in 601...4_000 {
      updates.accept(stored(UInt64(second), at: Double(second), east: 10))
      #expect(Self.all(&updates) == [])
      #expect(!updates.isLive)
    }
    updates.accept(stored(4_001, at: 4_001, east: 90))
    #expect(Self.all(&updates) == [])
    updates.accept(stored(4_003, at: 4_003, east: 90))
    let elements = Self.all(&updates)
    #expect(elements.count == 1)
    #expect(elements.first?.isStationary == false)
    #expect(elements.first?.location?.name.sequence == 4_003)
    #expect(elements.first?.dropped == 0)
    #expect(updates.isLive)
    updates.accept(stored(4_004, at: 4_004, east: 90))
    #expect(Self.all(&updates).first?.isStationary == false)
  }

  @Test("LIV-4: the motion line alone reports movement without a fix, LIV-3: without location")
  func withoutFix() {
    var updates = Self.standing(.still)
    let start = Instant(seconds: 700)
    #expect(updates.nextFix(at: start, speed: .constant(30), line: .still) == .distantFuture)
    updates.motionLineChanged(.moving, at: start)
    updates.motionLineChanged(.moving, at: start + .seconds(10))
    #expect(updates.nextFix(at: start, speed: .constant(30), line: .moving) == start)
    updates.acquisitionFailed(at: start + .seconds(30))
    #expect(updates.nextFix(at: start, speed: .constant(30), line: .moving) == start + .seconds(40))
    #expect(updates.check == start + .seconds(45))
    updates.elapse(at: start + .seconds(44))
    #expect(Self.all(&updates) == [])
    updates.elapse(at: start + .seconds(45))
    #expect(
      Self.all(&updates) == [
        LiveElement(iterator: 0, location: nil, flags: .empty, isStationary: false, dropped: 0)
      ])
    #expect(updates.check == .distantFuture)
  }

  @Test("LIV-5: flags, time and missing fixes do not make an iterator stationary")
  func noOtherCause() {
    var updates = LiveUpdates()
    _ = updates.open(.default)
    updates.accept(stored(0, at: 0))
    _ = Self.all(&updates)
    for bit in 0..<8 {
      updates.set(LiveFlags(rawValue: 1 << bit))
      updates.motionLineChanged(.still, at: Instant(seconds: Double(bit)))
      updates.elapse(at: Instant(seconds: 5_000))
      updates.acquisitionFailed(at: Instant(seconds: 5_000))
      let elements = Self.all(&updates)
      #expect(elements.count == 1)
      #expect(elements.first?.isStationary == false)
    }
  }

  @Test("LIV-7: each change of a flag gives one element, even stationary and without location")
  func flagChanges() {
    var updates = Self.standing()
    updates.set(.locationUnavailable)
    updates.set(.locationUnavailable)
    let expected = LiveElement(
      iterator: 0, location: nil, flags: .locationUnavailable, isStationary: true, dropped: 0)
    #expect(Self.all(&updates) == [expected])
    updates.set(.locationUnavailable)
    #expect(Self.all(&updates) == [])
    let both = LiveFlags.locationUnavailable.union(.authorizationDenied)
    updates.set(both)
    #expect(Self.all(&updates).map(\.flags) == [both])
    updates.set(.empty)
    #expect(Self.all(&updates).map(\.flags) == [.empty])
    // A change that is undone before it is read is no change.
    updates.set(.locationUnavailable)
    updates.set(.empty)
    #expect(Self.all(&updates) == [])
  }

  @Test("LIV-7, AUT-6: a withholding flag erases the pending fix and the stationary state")
  func withholding() {
    for flag in [LiveFlags.authorizationDenied, .accuracyLimited] {
      var updates = Self.standing(.still)
      updates.accept(stored(601, at: 601, east: 0))
      updates.accept(stored(602, at: 602, east: 90))
      updates.accept(stored(604, at: 604, east: 90))
      updates.set(flag)
      let expected = LiveElement(
        iterator: 0, location: nil, flags: flag, isStationary: false, dropped: 0)
      #expect(Self.all(&updates) == [expected])
      #expect(updates.isLive == (flag == .accuracyLimited))
      #expect(updates.nextFix(at: .boot, speed: .constant(1), line: .absent) == .distantFuture)
      updates.set(.empty)
      #expect(updates.isLive)
      #expect(Self.all(&updates).count == 1)
      // The whole dwell time starts again; the motion line's state is kept.
      updates.accept(stored(700, at: 700))
      updates.accept(stored(1_299, at: 1_299))
      #expect(updates.isLive)
      updates.accept(stored(1_300, at: 1_300))
      #expect(!updates.isLive)
    }
  }

  @Test("LIV-7: while withheld, events cause neither elements nor demand")
  func withheld() {
    var updates = Self.standing(.still)
    updates.set(.authorizationDenied)
    #expect(Self.all(&updates).count == 1)
    updates.accept(stored(601, at: 601, east: 300))
    updates.motionLineChanged(.moving, at: Instant(seconds: 700))
    updates.elapse(at: Instant(seconds: 900))
    #expect(Self.all(&updates) == [])
    #expect(updates.check == .distantFuture)
    #expect(!updates.isLive)
    // The motion line's state was still updated.
    updates.set(.empty)
    for second in 1_000...2_000 { updates.accept(stored(0, at: Double(second))) }
    #expect(updates.isLive)
  }

  @Test("LIV-9: iterators are independent, the demand is their union, the last to end powers down")
  func independent() {
    var updates = LiveUpdates()
    #expect(!updates.isLive)
    #expect(updates.open(.default) == 0)
    #expect(updates.open(.airborne) == 1)
    #expect(updates.open(.fitness) == 2)
    #expect(updates.open(.automotiveNavigation) == 3)
    #expect(updates.open(.default) == nil)
    #expect(updates.count == 4)
    var stationaryAt: [Int: Int] = [:]
    for second in 0...1_800 {
      updates.accept(stored(UInt64(second), at: Double(second)))
      for element in Self.all(&updates) where element.isStationary {
        #expect(stationaryAt[element.iterator] == nil)
        stationaryAt[element.iterator] = second
      }
      #expect(updates.isLive == (second < 1_800))
    }
    #expect(stationaryAt == [0: 600, 1: 1_800, 2: 600, 3: 900])
    let now = Instant(seconds: 1_801)
    #expect(
      updates.nextFix(at: now, speed: .constant(10), line: .absent) == Instant(seconds: 1_900))
    updates.motionLineChanged(.moving, at: now)
    #expect(updates.check == Instant(seconds: 1_846))
    for iterator in 0..<3 { updates.close(iterator) }
    #expect(
      updates.nextFix(at: now, speed: .constant(10), line: .absent) == Instant(seconds: 1_900))
    updates.close(3)
    #expect(updates.nextFix(at: now, speed: .constant(10), line: .absent) == .distantFuture)
    #expect(updates.check == .distantFuture)
    #expect(updates.count == 0)
    #expect(!updates.isLive)
    #expect(updates.open(.fitness) == 0)
    #expect(updates.isLive)
  }

  @Test("LIV-9, LIV-7: a new iterator gets the flags immediately, and others get nothing")
  func openWithFlags() {
    var updates = LiveUpdates()
    _ = updates.open(.default)
    updates.set(.authorizationRequestInProgress)
    #expect(Self.all(&updates).map(\.iterator) == [0])
    _ = updates.open(.default)
    #expect(Self.all(&updates).map(\.iterator) == [1])
  }

  @Test("LIV-9, LIV-4: a new iterator uses the motion line's state and the time of its change")
  func openWithLine() {
    var moving = LiveUpdates()
    moving.motionLineChanged(.moving, at: .boot)
    _ = moving.open(.default)
    for second in 0...2_000 { moving.accept(stored(0, at: Double(second))) }
    #expect(moving.isLive)
    var still = LiveUpdates()
    still.motionLineChanged(.still, at: .boot)
    still.motionLineChanged(.still, at: Instant(seconds: 590))
    _ = still.open(.default)
    for second in 0...600 { still.accept(stored(0, at: Double(second))) }
    #expect(!still.isLive)
  }

  @Test("LIV-10: a slow reader gets the newest fix and the number of dropped ones")
  func slow() {
    var updates = LiveUpdates()
    _ = updates.open(.default)
    for second in 1...5 { updates.accept(stored(UInt64(second), at: Double(second))) }
    updates.set(.locationUnavailable)
    let elements = Self.all(&updates)
    #expect(elements.count == 1)
    #expect(elements.first?.location?.name.sequence == 5)
    #expect(elements.first?.dropped == 4)
    #expect(elements.first?.flags == .locationUnavailable)
    updates.accept(stored(6, at: 6))
    #expect(Self.all(&updates).first?.dropped == 0)
  }

  @Test("LIV-4, LIV-10: a movement that began and ended unread gives no element, only a count")
  func unseenMovement() {
    var updates = Self.standing()
    updates.accept(stored(700, at: 700, east: 90))
    updates.accept(stored(702, at: 702, east: 90))
    #expect(updates.isLive)
    updates.accept(stored(1_302, at: 1_302, east: 90))
    #expect(!updates.isLive)
    #expect(Self.all(&updates) == [])
    updates.accept(stored(1_400, at: 1_400, east: 300))
    updates.accept(stored(1_402, at: 1_402, east: 300))
    let elements = Self.all(&updates)
    #expect(elements.count == 1)
    #expect(elements.first?.isStationary == false)
    #expect(elements.first?.dropped == 2)
  }
}
