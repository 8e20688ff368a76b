import LocationPolicy
import LocationSimulation
import LocationTypes
import LocationWire
import TextFormats

/// Human-readable trace of a run: deliveries, notices and state changes as they occur.
///
/// Lines are meant for 80 columns and are in chronological order: a new receiver state gets a line only if it lasts for
/// ``minimumDuration``, and records are held back until that is decided. Of fixes that are delivered one by one, the
/// first three are shown and the others are counted.
struct TraceText {
  private let style: Style
  private var fixTimes = FixTimes()
  private var board: (state: BoardState, since: Instant)?
  /// Receiver state printed last.
  private var receiver: TraceReceiverState?
  /// New receiver state, printed when it has lasted for ``minimumDuration``.
  private var newReceiver: (at: Instant, state: TraceReceiverState, power_mw: Double)?
  /// Records since the new receiver state, in chronological order.
  private var heldRecords: [TraceRecord] = []
  private var singles = 0
  private var lastSingle = Instant.boot
  /// Wake-ups and sleep times of the board since the last line about it.
  private var wakes: [(reason: WakeReason, count: Int)] = []
  private var sleepTimes: [BoardState: Interval] = [:]
  private static let singlesShown = 3
  /// Shortest duration of a receiver state that is printed.
  private static let minimumDuration = Interval.seconds(1)
  /// Reports further apart than this each get a line.
  private static let maximumReportInterval = Interval.seconds(10)

  /// Creates a printer.
  init(style: Style) { self.style = style }

  /// Adds the lines for `record`, if any.
  mutating func write(_ record: TraceRecord, to text: inout TextBuffer) {
    if let new = newReceiver, record.at - new.at >= TraceText.minimumDuration {
      resolveReceiver(hasLasted: true, to: &text)
    }
    if case .receiver(let state, let power_mw) = record.kind {
      // A repeated state, as at the end of a run: the earlier start remains.
      if newReceiver?.state == state { return }
      resolveReceiver(hasLasted: false, to: &text)
      newReceiver = (record.at, state, power_mw)
    } else if newReceiver != nil {
      heldRecords.append(record)
    } else {
      writeRecord(record, to: &text)
    }
  }

  /// Adds the line of the new receiver state if it lasted, then the lines of the records held back.
  private mutating func resolveReceiver(hasLasted: Bool, to text: inout TextBuffer) {
    guard let new = newReceiver else { return }
    newReceiver = nil
    if hasLasted, new.state != receiver {
      receiver = new.state
      let what = "\(new.state.name), \(HumanFormat.power(new.power_mw, places: 1))"
      line(new.at, "receiver", what, .plain, to: &text)
    }
    for record in heldRecords { writeRecord(record, to: &text) }
    heldRecords.removeAll(keepingCapacity: true)
  }

  private mutating func writeRecord(_ record: TraceRecord, to text: inout TextBuffer) {
    switch record.kind {
    case .batch(let client, let first, let last, let count):
      writeBatch(record.at, client, first, last, count, to: &text)
    case .finish(let client, let code):
      let (reason, tone): (String, Style.Tone) =
        switch code {
        case nil: ("a criterion was met", .good)
        // A cancellation by the client is not an error.
        case .deferredCanceled: (TraceText.name(.deferredCanceled), .plain)
        case .some(let code): (TraceText.text(code), .bad)
        }
      line(record.at, "finish", forClient(client) + reason, tone, to: &text)
    case .gap(let client, let count, let from, let to):
      let fixes = count == 1 ? "1 fix" : "\(HumanFormat.count(Int(clamping: count))) fixes"
      var what = forClient(client) + "\(fixes) lost"
      if let from, let to { what += ", \(clock(from)) to \(clock(to))" }
      line(record.at, "gap", what, .bad, to: &text)
    case .notice(let client, .report(let sequence)):
      writeReport(record.at, client, sequence, to: &text)
    case .notice(let client, let notice):
      line(record.at, notice.name, forClient(client) + TraceText.text(notice), .strong, to: &text)
    case .batteryEmpty:
      line(record.at, "battery", "empty", .bad, to: &text)
    case .board(let state, _):
      changeBoard(to: state, at: record.at)
    case .wake(let reason):
      count(reason)
    case .fix(let fix):
      fixTimes.store(fix.name.sequence, record.at)
    case .receiver, .ack, .battery:
      break
    }
  }

  /// Adds the pending lines at the end of the run.
  mutating func finish(to text: inout TextBuffer) {
    resolveReceiver(hasLasted: true, to: &text)
    writeSingleCount(to: &text)
  }

  private mutating func writeBatch(
    _ at: Instant, _ client: Int, _ first: UInt64, _ last: UInt64, _ count: Int,
    to text: inout TextBuffer
  ) {
    if count == 1 {
      singles += 1
      lastSingle = at
      if singles > TraceText.singlesShown { return }
    }
    var what = forClient(client)
    what +=
      count == 1 ? "#\(first)  1 fix" : "#\(first) … #\(last)  \(HumanFormat.count(count)) fixes"
    if let age = fixTimes.age(of: first, at: at), age.microseconds >= 1_000_000 {
      what +=
        count == 1 ? ", \(HumanFormat.duration(age)) old" : ", oldest \(HumanFormat.duration(age))"
    }
    line(at, "batch", what, .strong, keepsSingles: count == 1, to: &text)
  }

  private mutating func writeReport(
    _ at: Instant, _ client: Int, _ sequence: UInt64, to text: inout TextBuffer
  ) {
    let follows = singles > 0 && at - lastSingle <= TraceText.maximumReportInterval
    if follows {
      singles += 1
      lastSingle = at
      if singles > TraceText.singlesShown { return }
    }
    let what = forClient(client) + "#\(sequence)"
    line(at, "report", what, .strong, keepsSingles: follows, to: &text)
    if !follows {
      singles = 1
      lastSingle = at
    }
  }

  private mutating func changeBoard(to state: BoardState, at now: Instant) {
    guard board?.state != state else { return }
    if let board, board.state != .awake {
      sleepTimes[board.state, default: .zero] =
        sleepTimes[board.state, default: .zero] + (now - board.since)
    }
    board = (state, now)
  }

  // With a dictionary, a replay took 54 instructions more for each sentence.
  private mutating func count(_ reason: WakeReason) {
    if let index = wakes.firstIndex(where: { $0.reason == reason }) {
      wakes[index].count += 1
    } else {
      wakes.append((reason, 1))
    }
  }

  /// Adds a line with sleep times and wake-ups of the board since the last one, if it slept.
  private mutating func writeSleep(at now: Instant, to text: inout TextBuffer) {
    let count = wakes.reduce(0) { $0 + $1.count }
    let sleeps = sleepTimes.filter { $0.value >= .seconds(1) }.sorted { $0.value > $1.value }
      .map { "\($0.key.jsonName) \(HumanFormat.duration($0.value))" }
    if count > 0, !sleeps.isEmpty {
      let reasons =
        wakes
        .sorted { ($1.count, $0.reason.rawValue) < ($0.count, $1.reason.rawValue) }
        .map { TraceText.name($0.reason) }
      let what =
        "\(sleeps.joined(separator: ", ")); woke \(HumanFormat.times(count)) "
        + "(\(reasons.joined(separator: ", ")))"
      add(now, "board", what, .plain, to: &text)
    }
    wakes.removeAll()
    sleepTimes.removeAll()
  }

  private mutating func line(
    _ at: Instant, _ kind: String, _ what: String, _ tone: Style.Tone, keepsSingles: Bool = false,
    to text: inout TextBuffer
  ) {
    if !keepsSingles {
      writeSingleCount(to: &text)
      writeSleep(at: at, to: &text)
    }
    add(at, kind, what, tone, to: &text)
  }

  private func add(
    _ at: Instant, _ kind: String, _ what: String, _ tone: Style.Tone, to text: inout TextBuffer
  ) {
    text.add(hoursMinutesSeconds: at.microseconds / 1_000_000)
    text.add("  ")
    text.add(style.paint(kind, tone))
    for _ in kind.utf8.count..<max(10, kind.utf8.count + 1) { text.add(" ") }
    text.add(what)
    text.add("\n")
  }

  private mutating func writeSingleCount(to text: inout TextBuffer) {
    let more = singles - TraceText.singlesShown
    singles = 0
    guard more > 0 else { return }
    text.add("     ...  ")
    text.add("\(HumanFormat.count(more)) more, one by one, until ")
    text.add(hoursMinutesSeconds: lastSingle.microseconds / 1_000_000)
    text.add("\n")
  }

  private func forClient(_ client: Int) -> String {
    // Most runs have one client; only further clients are labelled.
    client == 0 ? "" : "client \(client): "
  }

  private func clock(_ moment: UTCTime) -> String {
    HumanFormat.clock(moment.microsecondsOfDay / 1_000_000)
  }

  /// Text of a notice.
  static func text(_ notice: TraceNotice) -> String {
    switch notice {
    case .report(let sequence): "#\(sequence)"
    case .arrived(let coordinate, let at), .departed(let coordinate, let at):
      // A resolution of 1 m, finer than the accuracy of a visit.
      HumanFormat.decimal(coordinate.latitude, places: 5) + ", "
        + HumanFormat.decimal(coordinate.longitude, places: 5)
        + (at.map { ", \(HumanFormat.duration($0 - .boot)) after the start" } ?? "")
    case .paused: "device stationary"
    case .resumed: "device moving"
    case .entered(let region), .exited(let region): "region \(region)"
    case .stationary(let isStationary): isStationary ? "yes" : "no"
    case .flags(let flags):
      flags == .empty
        ? "none"
        : flags.words.map { $0.description.split(separator: "_").joined(separator: " ") }
          .joined(separator: ", ")
    case .degraded(let shed, let charge): "battery at \(charge) %: \(text(shed))"
    case .failed(let code): text(code)
    }
  }

  /// Text of a wake reason.
  static func name(_ reason: WakeReason) -> String {
    switch reason {
    case .alarm: "alarm"
    case .bytes: "bytes"
    case .motion: "motion"
    case .batchPin: "receiver's buffer"
    case .request: "request"
    }
  }

  /// Text of an error, with the prefix "error: ".
  static func text(_ code: LocationErrorCode) -> String { "error: \(name(code))" }

  /// Text of an error code.
  static func name(_ code: LocationErrorCode) -> String {
    switch code {
    case .locationUnknown: "no location now"
    case .denied: "denied"
    case .deferredFailed: "the receiver failed"
    case .deferredNotUpdatingLocation: "updates are not running"
    case .deferredAccuracyTooLow: "the desired accuracy is too low"
    case .deferredDistanceFiltered: "a distance filter is set"
    case .deferredCanceled: "canceled by the client"
    case .regionMonitoringFailure: "the region cannot be monitored"
    case .network, .headingFailure, .regionMonitoringDenied, .regionMonitoringSetupDelayed,
      .regionMonitoringResponseDelayed, .geocodeFoundNoResult,
      .geocodeFoundPartialResult, .geocodeCanceled, .rangingUnavailable, .rangingFailure,
      .promptDeclined, .historicalLocationError:
      "see the reference of error codes"
    }
  }
}
