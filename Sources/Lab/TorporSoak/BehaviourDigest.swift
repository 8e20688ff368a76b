import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// FNV-1a hash over the ordered output of a run's state machines: effects of engines and drivers, fixes, notices.
///
/// A refactoring leaves the digest of each seed unchanged (`make soaked` compares, `make digests` writes). Enum values
/// contribute their raw numbers and not their names, so a rename does not change the digest.
struct BehaviourDigest: Equatable, Sendable {
  private var hash = FNV1a()
  var value: UInt64 { hash.value }

  mutating func add(_ number: UInt64) { hash.add(number) }

  mutating func add(_ number: some BinaryInteger) { add(UInt64(truncatingIfNeeded: number)) }
  mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }
  mutating func add(_ number: Double) { add(number.bitPattern) }
  mutating func add(_ time: Instant) { add((time - .boot).microseconds) }

  mutating func add(_ time: FixTime?) {
    guard let time else { return add(0) }
    add(time.acquired)
    add(time.utc?.microseconds ?? -1)
  }

  // MARK: Hardware

  mutating func add(_ command: PinCommand?) {
    guard let command else { return add(0) }
    add(1 + Int(command.pin.rawValue) * 2 + Int(command.level.rawValue))
  }

  mutating func add(_ operation: AidingOperation) {
    switch operation {
    case .none: add(0)
    case .store(let index): add(0x100 + Int(index))
    case .send(let index): add(0x200 + Int(index))
    }
  }

  /// Effects of an engine step, or the plan of a `LocationLoop`'s turn.
  mutating func add(_ effects: Effects) {
    add(effects.pin)
    add(effects.lineSpeed ?? 0)
    add(effects.hasOutput)
    add(effects.aiding)
    add(effects.appended?.sequence ?? .max)
    add(effects.hasNotices)
    add(effects.needsProceed)
    guard !effects.needsProceed else { return }
    add(effects.board.rawValue)
    add(effects.wake)
    add(effects.wakesOnInput)
  }

  /// Effects of a driver step.
  mutating func add(_ effects: DriverEffects) {
    add(effects.pin)
    add(effects.lineSpeed ?? 0)
    add(effects.aiding)
    switch effects.observation {
    case .none: add(0)
    case .reached(let goal): add(1, goal)
    case .drained: add(2)
    case .lost: add(3)
    case .recovered: add(4)
    case .refused(let goal): add(5, goal)
    }
  }

  private mutating func add(_ kind: Int, _ goal: ReceiverMode) {
    add(kind)
    switch goal {
    case .off: add(0)
    case .standby: add(1)
    case .tracking: add(2)
    case .powersave: add(3)
    case .batching(let watermark): add(0x1_0000 + Int(watermark))
    }
  }

  // MARK: Clients

  mutating func add(_ stored: StoredFix?) {
    guard let stored else { return add(0) }
    add(stored.name.generation)
    add(stored.name.sequence)
    add(stored.fix.acquired)
    add(stored.fix.utc?.microseconds ?? -1)
    add(stored.fix.coordinate.latitude_e9)
    add(stored.fix.coordinate.longitude_e9)
    add(stored.fix.horizontalAccuracy_mm ?? -1)
    add(stored.fix.speed_mmps ?? -1)
    add(stored.fix.altitude_mm ?? .min)
  }

  /// A notice to a client.
  mutating func add(_ notice: ClientNotice) {
    add(notice.client.index)
    switch notice.notice {
    case .gap(let gap): add(gap)
    case .finish(let code): add(2, code?.rawValue ?? -1)
    case .batch(let first, let last):
      add(3)
      add(first)
      add(last)
    case .failure(let code): add(4, code.rawValue)
    case .authorization(let authorization, let isReduced):
      add(5, Int(authorization.rawValue) * 2 + (isReduced ? 1 : 0))
    case .degraded(let set): add(6, Int(set.rawValue))
    case .paused: add(7)
    case .resumed: add(8)
    case .report(let stored):
      add(9)
      add(stored)
    case .coarse(let stored):
      add(10)
      add(stored)
    case .visit(let visit): add(visit)
    case .region(let event): add(event)
    case .live(let element): add(element)
    case .liveRefused(let configuration): add(14, Int(configuration.rawValue))
    }
  }

  private mutating func add(_ kind: Int, _ number: Int) {
    add(kind)
    add(number)
  }

  private mutating func add(_ gap: Gap) {
    add(1)
    add(gap.count)
    add(gap.range.lowerBound)
    add(gap.range.upperBound)
    add(gap.from)
    add(gap.to)
    add(gap.mayBeMore)
  }

  private mutating func add(_ visit: Visit) {
    add(11)
    add(visit.coordinate.latitude_e9)
    add(visit.coordinate.longitude_e9)
    add(visit.horizontalAccuracy)
    for moment in [visit.arrival, visit.departure] {
      add(moment?.acquired ?? .distantFuture)
      add(moment?.utc?.microseconds ?? -1)
    }
  }

  private mutating func add(_ event: RegionEvent) {
    add(12)
    switch event {
    case .entered(let region, let time):
      add(0, Int(region.number))
      add(time)
    case .exited(let region, let time):
      add(1, Int(region.number))
      add(time)
    case .determined(let region, let state): add(2 + 8 * state.rawValue, Int(region.number))
    case .monitor(let region, let state, let problem, let time):
      add(3 + 8 * state.rawValue, Int(region.number))
      add(problem.map { Int($0.rawValue) } ?? -1)
      add(time)
    case .failure(let region, let code): add(4 + 8 * code.rawValue, Int(region.number))
    case .crossedSilently(let region, let state): add(5 + 8 * state.rawValue, Int(region.number))
    }
  }

  private mutating func add(_ element: LiveElement) {
    add(13, element.iterator)
    add(element.location)
    add(element.flags.rawValue)
    add(element.isStationary)
    add(element.dropped)
  }

  /// The value as 16 hexadecimal digits.
  var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
