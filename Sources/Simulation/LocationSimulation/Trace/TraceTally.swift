import LocationPolicy
import LocationTypes

/// Totals of a run, computed only from its trace records.
public struct TraceSummary: Equatable, Sendable {
  /// Duration of the run.
  public var duration: Interval = .zero
  /// Number of fixes stored in the ring.
  public var fixes = 0
  /// Number of fixes delivered to clients; a fix delivered to two clients counts twice.
  public var delivered = 0
  /// Number of batches delivered to clients.
  public var batches = 0
  /// Number of notices that services sent, in addition to the fixes of running updates.
  public var notices = 0
  /// Number of notices of each kind; kinds without notices are omitted.
  public var noticesByKind: [TraceNotice.Kind: Int] = [:]
  /// Number of deferrals that ended.
  public var finishes = 0
  /// Number of deferrals that ended with an error, without those that the client canceled.
  public var deferralErrors = 0
  /// First of these errors.
  public var firstDeferralError: LocationErrorCode?
  /// First error that a service reported.
  public var firstFailure: LocationErrorCode?
  /// Service levels used by the client that were shed at the end because of a low battery (PWR-10).
  public var shed = ServiceLevelSet.none
  /// Battery charge when ``shed`` was reported, percent.
  public var charge: UInt8?
  /// Number of lost fixes that were reported to clients.
  public var lost: UInt64 = 0
  /// Number of returns from a wait, in idle or a deeper sleep.
  public var hostWakes = 0
  /// Time for which the board was awake: resuming from waits and running code.
  public var awakeTime: Interval = .zero
  /// Processor time of the service, a part of ``awakeTime``: its time per wake multiplied by the number of wakes.
  public var processorTime: Interval = .zero
  /// Time for which the board was suspended or off.
  public var suspendedTime: Interval = .zero
  /// Longest time from a fix to its delivery to a client.
  public var longestDelay: Interval = .zero
  /// Energy of receiver and board; nil for a run without a simulated board.
  public var energy: TraceEnergy?

  /// Creates the summary of a run without events.
  public init() {}
}

/// Energy of a run, and of alternatives for comparison.
public struct TraceEnergy: Equatable, Sendable {
  /// Receiver energy, millijoules.
  public var receiver_mJ = 0.0
  /// Board energy, millijoules.
  public var board_mJ = 0.0
  /// Energy of a receiver that is never switched off: the run's first acquisition, then tracking, millijoules.
  public var receiverAlwaysOn_mJ = 0.0
  /// Board energy with gpsd and one client (``GpsdLoad``), millijoules.
  public var boardGpsd_mJ = 0.0
  /// Board energy with a processor that is always busy, millijoules.
  public var boardAlwaysAwake_mJ = 0.0
  /// Time in each ``TraceReceiverState``, by raw value.
  public var receiverTime: [Interval] = Array(
    repeating: .zero, count: TraceReceiverState.allCases.count)
  /// Time in each ``BoardState``, by raw value.
  public var boardTime: [Interval] = Array(repeating: .zero, count: 4)
  /// Energy in each ``TraceReceiverState``, by raw value, millijoules.
  public var receiverUse_mJ = Array(repeating: 0.0, count: TraceReceiverState.allCases.count)
  /// Energy in each ``BoardState``, by raw value, millijoules.
  public var boardUse_mJ = Array(repeating: 0.0, count: 4)

  /// Creates zero energies.
  public init() {}
}

/// Times of fixes by sequence number, for their ages. Memory grows by 8 bytes per fix.
public struct FixTimes: Sendable {
  /// Times from ``first`` on, µs; `Int64.min` for a missing number.
  private var times: [Int64] = []
  private var first: UInt64 = 0

  /// Creates an empty collection.
  public init() {}

  /// Stores the time of the fix `sequence`.
  public mutating func store(_ sequence: UInt64, _ moment: Instant) {
    if times.isEmpty { first = sequence }
    guard sequence >= first else { return }
    // A large jump in the sequence numbers discards older times instead of filling the array up to it.
    let index = sequence - first
    guard index < UInt64(times.count) + 4_096 else {
      times = [moment.microseconds]
      first = sequence
      return
    }
    while times.count <= Int(index) { times.append(.min) }
    times[Int(index)] = moment.microseconds
  }

  /// Returns the age of the fix `sequence` at `now`; nil if no such fix was stored.
  public func age(of sequence: UInt64, at now: Instant) -> Interval? {
    guard sequence >= first, sequence - first < UInt64(times.count) else { return nil }
    let moment = times[Int(sequence - first)]
    return moment == .min ? nil : Interval(microseconds: now.microseconds - moment)
  }
}

/// Accumulates the totals of a run from its records. O(1) per record.
public struct TraceTally: Sendable {
  private var summary = TraceSummary()
  /// Whether the first acquisition is over: all acquisition before the receiver tracks or batches for the first time.
  private var isFirstAcquisitionOver = false
  /// Time at each receiver power outside the first acquisition.
  private var timeByPower: [(power_mw: Double, time: Interval)] = []
  private var receiver: (state: TraceReceiverState, power_mw: Double, since: Instant)?
  private var board: (state: BoardState, power_mw: Double, since: Instant)?
  private var energy = TraceEnergy()
  private var start: Instant?
  private var end = Instant.boot
  private var fixTimes = FixTimes()

  /// Creates an empty tally.
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
      fixTimes.store(fix.name.sequence, record.at)
    case .wake:
      summary.hostWakes += 1
    case .batch(_, let first, _, let count):
      summary.batches += 1
      summary.delivered += count
      if let delay = fixTimes.age(of: first, at: record.at) {
        summary.longestDelay = max(summary.longestDelay, delay)
      }
    case .ack, .battery, .batteryEmpty:
      break
    case .finish(_, let code):
      summary.finishes += 1
      count(code)
    case .gap(_, let count, _, _):
      summary.lost += count
    case .notice(_, let notice):
      summary.notices += 1
      summary.noticesByKind[notice.kind, default: 0] += 1
      count(notice)
    }
  }

  private mutating func count(_ code: LocationErrorCode?) {
    // Stopping updates cancels the deferral; that is not an error.
    guard let code, code != .deferredCanceled else { return }
    summary.deferralErrors += 1
    if summary.firstDeferralError == nil { summary.firstDeferralError = code }
  }

  private mutating func count(_ notice: TraceNotice) {
    switch notice {
    case .degraded(let shed, let charge):
      summary.shed = shed
      summary.charge = charge
    case .failed(let code): if summary.firstFailure == nil { summary.firstFailure = code }
    case .report, .arrived, .departed, .paused, .resumed, .entered, .exited, .stationary, .flags:
      break
    }
  }

  /// Returns the totals of a run that ends at `end`.
  ///
  /// - Parameters:
  ///   - processorPerWake: Processor time of the service per wake.
  ///   - baseline: Powers for comparison; nil for a run without a simulated board.
  public mutating func finish(
    at end: Instant, processorPerWake: Interval = .zero, baseline: EnergyBaseline? = nil
  ) -> TraceSummary {
    closeReceiver(at: end)
    closeBoard(at: end)
    summary.duration = Interval(microseconds: end.microseconds - (start ?? end).microseconds)
    summary.awakeTime = energy.boardTime[Int(BoardState.awake.rawValue)]
    summary.processorTime = processorPerWake * Int64(summary.hostWakes)
    summary.suspendedTime =
      energy.boardTime[Int(BoardState.suspended.rawValue)]
      + energy.boardTime[Int(BoardState.off.rawValue)]
    if let baseline {
      // Adding the differences from the tracking power gives exactly the receiver's own energy if it tracked
      // throughout.
      energy.receiverAlwaysOn_mJ = timeByPower.reduce(energy.receiver_mJ) {
        $0 + (baseline.tracking_mW - $1.power_mw) * $1.time.seconds
      }
      energy.boardGpsd_mJ = baseline.gpsdBoard_mW * summary.duration.seconds
      energy.boardAlwaysAwake_mJ = baseline.awake_mW * summary.duration.seconds
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
    energy.receiverUse_mJ[index] += open.power_mw * time.seconds
    switch open.state {
    case .acquiring where !isFirstAcquisitionOver:
      break
    case .tracking, .powersave, .batching:
      isFirstAcquisitionOver = true
      addTime(time, at: open.power_mw)
    case .acquiring, .off, .backup, .standby:
      addTime(time, at: open.power_mw)
    }
    receiver = (open.state, open.power_mw, now)
  }

  private mutating func addTime(_ time: Interval, at power_mw: Double) {
    if let index = timeByPower.firstIndex(where: { $0.power_mw == power_mw }) {
      timeByPower[index].time = timeByPower[index].time + time
    } else {
      timeByPower.append((power_mw, time))
    }
  }

  private mutating func closeBoard(at now: Instant) {
    guard let open = board else { return }
    precondition(now >= open.since && open.power_mw >= 0, "records come in order of time")
    let time = now - open.since
    energy.board_mJ += open.power_mw * time.seconds
    let index = Int(open.state.rawValue)
    energy.boardTime[index] = energy.boardTime[index] + time
    energy.boardUse_mJ[index] += open.power_mw * time.seconds
    board = (open.state, open.power_mw, now)
  }
}
