import BoardProfiles
import LocationPolicy
import LocationTypes
import SimulatedHAL

/// Soak run of ``FixSchedule`` without an engine: random needs, fixes and events at any time.
///
/// An engine drains a buffer only for a client that needs every fix, so it rarely does so while a first fix
/// is refined or after acquisition ended without a fix.
struct ScheduleSoak {
  private let soakRun: SoakRun
  private var random: SimulationRandom
  private var parameters: PlannerParameters
  private var schedule = FixSchedule()
  private var need = FixNeed()
  private var isKeptOn = false
  private var now = Instant.boot
  /// Time at which a fix was last needed.
  private var lastNeed = Instant.boot
  /// Time at which acquisition for single fixes began.
  private var acquisitionStart: Instant?
  private var tally = SoakTotals()

  /// Number of events in a run.
  static let eventCount = 20_000

  init(_ run: SoakRun) {
    soakRun = run
    random = SimulationRandom(seed: run.seed, stream: 13)
    parameters = run.profile.varied(&random).engineSetup.parameters
    tally.runs = 1
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  mutating func run() -> SoakTotals {
    var count = 0
    while count < ScheduleSoak.eventCount && tally.failure == nil && !soakRun.isTimeUp {
      count += 1
      advance()
      applyRandomEvent()
      plan()
    }
    return tally
  }

  /// Advances to the wake time at the latest; sometimes to up to 30 s after it, as if the board woke late.
  private mutating func advance() {
    let step = Interval(seconds: random.uniform(0.05, [2, 2, 20, 400][below(4)]))
    let delay = Interval(seconds: below(20) == 0 ? 30 * random.uniform() : 0)
    now = max(now, min(now + step, schedule.wake + delay))
  }

  private mutating func applyRandomEvent() {
    switch below(12) {
    case 0: need = FixNeed()
    case 1, 2:
      need = FixNeed()
      let ahead = random.uniform(-1, [5, 60, 20_000][below(3)])
      let accuracy = [5.0, 20, 100][below(3)]
      need.add(due: now + Interval(seconds: ahead), accuracy: accuracy)
    case 3: isKeptOn = below(3) == 0
    case 4: schedule.handle(.drained, parameters, at: now)
    case 5: schedule.handle(.searchRequested, parameters, at: now)
    case 6, 7, 8: fix()
    default: break
    }
  }

  private mutating func fix() {
    tally.steps += 1
    let event = FixSchedule.Event.fix(
      accuracy: random.uniform(1, 90), measured: now - .milliseconds(Int64(below(900))), need)
    let decision = schedule.handle(event, parameters, at: now)
    tally.digest.add(decision == .use)
    expect(
      decision == .use || schedule.state == .refining, "PWR-7: a fix is held in \(schedule.state)")
  }

  private mutating func plan() {
    if need.isRequired || isKeptOn { lastNeed = now }
    let wasSearching = schedule.state == .acquiring && !isKeptOn
    schedule.handle(.plan(need, isKeptOn: isKeptOn), parameters, at: now)
    tally.digest.add(schedule.state.rawValue)
    tally.digest.add(schedule.wake)
    expect(schedule.wake > now, "PWR-1: the wake time has already passed")
    let isUnneeded = now - lastNeed > parameters.receiver.ephemerisHoldLimit
    expect(!isUnneeded || !schedule.isOn, "PWR-1: the receiver stays on without a need")
    guard wasSearching, schedule.state == .acquiring else { return acquisitionStart = nil }
    let since = acquisitionStart ?? now
    acquisitionStart = since
    let longest = parameters.receiver.startUp + parameters.receiver.acquisitionTimeout
    expect(now - since <= longest, "PWR-7: acquisition exceeds its limit")
  }

  private mutating func expect(_ holds: Bool, _ text: String) {
    if !holds { tally.fail(text, seed: soakRun.seed, at: now) }
  }
}
