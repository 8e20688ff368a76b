import LocationPolicy
import LocationTypes

/// What a run adds up to, computed from its trace records and from nothing else.
public struct TraceSummary: Equatable, Sendable {
  /// How long the run was.
  public var duration: Interval = .zero
  /// Fixes that went into the ring.
  public var fixes = 0
  /// Fixes given to clients; one given to two clients counts twice.
  public var delivered = 0
  /// Batches given to clients.
  public var batches = 0
  /// What services told clients beside fixes of running updates.
  public var notices = 0
  /// How many of these there were of each kind; a kind that did not occur is left out.
  public var told: [TraceNotice.Kind: Int] = [:]
  /// Deferrals that ended.
  public var finishes = 0
  /// Those of them that ended with an error other than that the client canceled them.
  public var refusals = 0
  /// The first of those errors.
  public var refusal: LocationErrorCode?
  /// The first error that a service told.
  public var failure: LocationErrorCode?
  /// What the battery was too low for at the end, of what the client uses (PWR-10).
  public var givenUp = PromiseSet.none
  /// The battery's charge when that was told, percent.
  public var charge: UInt8?
  /// Fixes clients were told they lost.
  public var lost: UInt64 = 0
  /// How often the board came back from a wait: from idling or from a deeper sleep.
  public var hostWakes = 0
  /// How long the board was awake: coming back from its waits, and running code.
  public var awake: Interval = .zero
  /// How long of that it ran code: what the service takes for a wake, times the wakes.
  public var processor: Interval = .zero
  /// How long the board was suspended or off.
  public var suspended: Interval = .zero
  /// The longest that a fix waited between being true and being given to a client.
  public var longestDelay: Interval = .zero
  /// What receiver and board took; nil where the run had no board to ask.
  public var energy: TraceEnergy?

  /// Creates the summary of a run in which nothing happened.
  public init() {}
}

/// The energy bill of a run.
public struct TraceEnergy: Equatable, Sendable {
  /// What the receiver took, millijoules.
  public var receiver_mJ = 0.0
  /// What the board took, millijoules.
  public var board_mJ = 0.0
  /// What a receiver would have taken that is never switched off: its first search as it was, and
  /// tracking for all the rest, millijoules.
  public var receiverAlwaysOn_mJ = 0.0
  /// What the board would have taken under gpsd with one client (``GpsdLoad``), millijoules.
  public var boardGpsd_mJ = 0.0
  /// What a board whose processor is always busy would have taken, millijoules.
  public var boardAlwaysAwake_mJ = 0.0
  /// How long the receiver was in each ``TraceReceiverState``, by raw value.
  public var receiverTime: [Interval] = Array(
    repeating: .zero, count: TraceReceiverState.allCases.count)
  /// How long the board was in each ``BoardState``, by raw value.
  public var boardTime: [Interval] = Array(repeating: .zero, count: 4)

  /// Creates an empty bill.
  public init() {}
}

/// Adds up a run as its records come.
///
/// O(1) per record; memory grows by 8 bytes per fix.
public struct TraceTally: Sendable {
  private var summary = TraceSummary()
  /// The search for the very first fix: all acquiring before the receiver tracks or batches.
  private var isFirstSearchOver = false
  /// How long the receiver was at each power outside its first search.
  private var rest: [(power_mw: Double, time: Interval)] = []
  private var receiver: (state: TraceReceiverState, power_mw: Double, since: Instant)?
  private var board: (state: BoardState, power_mw: Double, since: Instant)?
  private var energy = TraceEnergy()
  private var start: Instant?
  private var end = Instant.boot
  /// When each fix was true, by sequence from ``firstSequence``, µs; `Int64.min` where none came.
  private var moments: [Int64] = []
  private var firstSequence: UInt64 = 0

  /// Begins with nothing.
  public init() {}

  /// Adds a record.
  public mutating func add(_ record: TraceRecord) {
    if start == nil { start = record.at }
    end = max(end, record.at)
    switch record.kind {
    case .receiver(let state, let power_mw):
      closeReceiver(at: record.at)
      receiver = (state, power_mw, record.at)
    case .board(let state, let power_mw):
      closeBoard(at: record.at)
      board = (state, power_mw, record.at)
    case .fix(let fix):
      summary.fixes += 1
      remember(fix.name.sequence, record.at)
    case .wake:
      summary.hostWakes += 1
    case .batch(_, let first, _, let count):
      summary.batches += 1
      summary.delivered += count
      if let moment = moment(of: first) {
        summary.longestDelay = max(
          summary.longestDelay, Interval(microseconds: record.at.microseconds - moment))
      }
    case .ack, .battery, .batteryEmpty:
      break
    case .finish(_, let code):
      summary.finishes += 1
      take(code)
    case .gap(_, let count, _, _):
      summary.lost += count
    case .told(_, let notice):
      summary.notices += 1
      summary.told[notice.kind, default: 0] += 1
      take(notice)
    }
  }

  private mutating func take(_ code: LocationErrorCode?) {
    // Who stops while a deferral goes on has canceled it: that is no refusal.
    guard let code, code != .deferredCanceled else { return }
    summary.refusals += 1
    if summary.refusal == nil { summary.refusal = code }
  }

  private mutating func take(_ notice: TraceNotice) {
    switch notice {
    case .degraded(let givenUp, let charge):
      summary.givenUp = givenUp
      summary.charge = charge
    case .failed(let code): if summary.failure == nil { summary.failure = code }
    case .report, .arrived, .departed, .paused, .resumed, .entered, .exited, .stationary, .flags:
      break
    }
  }

  /// How long the fix `sequence` has waited at `now`; nil where no such fix was recorded.
  public func age(of sequence: UInt64, at now: Instant) -> Interval? {
    moment(of: sequence).map { Interval(microseconds: now.microseconds - $0) }
  }

  /// What it adds up to when the run ends at `end`.
  ///
  /// - Parameters:
  ///   - processorPerWake: The processor time that the service takes for a wake.
  ///   - bill: What the run is compared with; nil in a run without a board.
  public mutating func finish(
    at end: Instant, processorPerWake: Interval = .zero, bill: BillFigures? = nil
  ) -> TraceSummary {
    closeReceiver(at: end)
    closeBoard(at: end)
    summary.duration = Interval(microseconds: end.microseconds - (start ?? end).microseconds)
    summary.awake = energy.boardTime[Int(BoardState.awake.rawValue)]
    summary.processor = processorPerWake * Int64(summary.hostWakes)
    summary.suspended =
      energy.boardTime[Int(BoardState.suspended.rawValue)]
      + energy.boardTime[Int(BoardState.off.rawValue)]
    if let bill {
      // What tracking would have taken more: exactly nothing for one that tracked throughout.
      energy.receiverAlwaysOn_mJ = rest.reduce(energy.receiver_mJ) {
        $0 + (bill.tracking_mW - $1.power_mw) * $1.time.seconds
      }
      energy.boardGpsd_mJ = bill.gpsdBoard_mW * summary.duration.seconds
      energy.boardAlwaysAwake_mJ = bill.awake_mW * summary.duration.seconds
      summary.energy = energy
    }
    return summary
  }

  private mutating func closeReceiver(at now: Instant) {
    guard let open = receiver else { return }
    precondition(now >= open.since && open.power_mw >= 0, "records come in order of time")
    let time = now - open.since
    energy.receiver_mJ += open.power_mw * time.seconds
    let index = Int(open.state.rawValue)
    energy.receiverTime[index] = energy.receiverTime[index] + time
    switch open.state {
    case .acquiring where !isFirstSearchOver:
      break
    case .tracking, .powersave, .batching:
      isFirstSearchOver = true
      addRest(time, at: open.power_mw)
    case .acquiring, .off, .backup, .standby:
      addRest(time, at: open.power_mw)
    }
    receiver = (open.state, open.power_mw, now)
  }

  private mutating func addRest(_ time: Interval, at power_mw: Double) {
    if let index = rest.firstIndex(where: { $0.power_mw == power_mw }) {
      rest[index].time = rest[index].time + time
    } else {
      rest.append((power_mw, time))
    }
  }

  private mutating func closeBoard(at now: Instant) {
    guard let open = board else { return }
    precondition(now >= open.since && open.power_mw >= 0, "records come in order of time")
    let time = now - open.since
    energy.board_mJ += open.power_mw * time.seconds
    let index = Int(open.state.rawValue)
    energy.boardTime[index] = energy.boardTime[index] + time
    board = (open.state, open.power_mw, now)
  }

  private mutating func remember(_ sequence: UInt64, _ moment: Instant) {
    if moments.isEmpty { firstSequence = sequence }
    guard sequence >= firstSequence else { return }
    // A jump in the sequence leaves room only while it is small: nobody asks for what never was.
    let index = sequence - firstSequence
    guard index < UInt64(moments.count) + 4_096 else {
      moments = [moment.microseconds]
      firstSequence = sequence
      return
    }
    while moments.count <= Int(index) { moments.append(.min) }
    moments[Int(index)] = moment.microseconds
  }

  private func moment(of sequence: UInt64) -> Int64? {
    guard sequence >= firstSequence, sequence - firstSequence < UInt64(moments.count) else {
      return nil
    }
    let moment = moments[Int(sequence - firstSequence)]
    return moment == .min ? nil : moment
  }
}
