import LocationPolicy
import LocationTypes
import LocationWire
import TextFormats

/// Human-readable status of the service: a line for each fact, with its name in front, then a table of clients.
struct StatusText {
  private let status: WireStatus
  private let style: Style
  private let clock: ServiceClock

  init(_ status: WireStatus, style: Style) {
    self.status = status
    self.style = style
    clock = ServiceClock(now: status.now)
  }

  /// All lines.
  var lines: [String] {
    facts.map { "\(style.paint(StatusText.padded($0.name), .strong))  \($0.text)" } + clientTable
  }

  /// The facts: name and text.
  private var facts: [(name: String, text: String)] {
    var facts: [(name: String, text: String)] = [
      ("service", "torpord \(status.version) on \(status.board), \(now)"),
      ("receiver", receiver),
    ]
    if let plan = status.plan {
      facts.append(("plan", StatusText.text(plan.plan.receiver) + clientNames(plan.plan.receiver)))
      facts.append(("board", board(plan.plan, wake: plan)))
    }
    if let sleepObstacles { facts.append(("sleep", sleepObstacles)) }
    facts.append(("fixes", fixes))
    facts.append(("clients", clients))
    if let feed = status.clock {
      facts.append(("clock", ClockText(clock: feed, times: clock).line))
    }
    if let percent = status.batteryPercent { facts.append(("battery", battery(percent))) }
    return facts
  }

  /// The service's time. The date is unknown until the receiver has reported it.
  private var now: String {
    guard status.now.utc == nil else { return clock.dateAndTime(status.now) }
    let running = "the board booted \(ServiceClock.short(status.now.acquired - .boot)) ago"
    return isComplete ? "no date before the first fix; \(running)" : running
  }

  /// Whether the status includes fixes and receiver data, which users without permission do not get (AUT-9).
  private var isComplete: Bool { status.nextSequence != nil }

  // MARK: Receiver and board

  private var receiver: String {
    guard let receiver = status.receiver else { return "none: this board has no receiver" }
    var text = style.paint(
      StatusText.text(receiver.state), receiver.isAnswering ? .good : .bad)
    let lastData =
      receiver.lastByte.map { "; last data \(clock.relative($0))" }
      ?? (isComplete ? "; no data yet" : "")
    if !receiver.isAnswering {
      text += lastData + (receiver.suggestion.map { ": \($0)" } ?? "")
    } else {
      text += ", for \(ServiceClock.short(status.now.acquired - receiver.since.acquired))"
      text += lastFix(receiver)
      if receiver.state != .off && receiver.state != .backup { text += lastData }
    }
    return text
  }

  /// Time of the last fix, for a receiver that searches for satellites or buffers its fixes.
  private func lastFix(_ receiver: WireReceiver) -> String {
    switch receiver.state {
    case .acquiring, .starting:
      receiver.lastFix.map { "; last fix \(clock.relative($0))" } ?? "; no fix yet"
    case .batching:
      receiver.lastFix.map { "; last fix \(clock.timeOfDay($0)), newer ones are in its buffer" }
        ?? "; no fix yet: new fixes stay in its buffer until the buffer is read"
    case .off, .backup, .standby, .tracking, .powersave, .on, .lost, .streaming: ""
    }
  }

  static func text(_ state: WireReceiverState) -> String {
    switch state {
    case .off: "off"
    case .backup: "off, with clock and navigation data kept"
    case .standby: "in standby"
    case .starting: "starting"
    case .acquiring: "searching for a fix"
    case .tracking: "tracking"
    case .powersave: "tracking, in its own power save mode"
    case .batching: "buffering in the receiver"
    case .on: "on"
    case .lost: "does not answer"
    case .streaming: "sends fixes but answers no command, so it cannot be put to sleep or batch"
    }
  }

  static func text(_ receiver: ReceiverMode) -> String {
    switch receiver {
    case .off: "receiver off: no client needs a fix now"
    case .standby: "receiver in standby: no client needs a fix now"
    case .tracking: "receiver reports each fix immediately"
    case .powersave: "receiver reports fixes in its own power save mode"
    case .batching(let watermark):
      "receiver buffers \(watermark) \(watermark == 1 ? "fix" : "fixes"), then reports them"
    }
  }

  /// The clients for which the receiver runs or will run, of those visible to the user; three at most.
  private func clientNames(_ receiver: ReceiverMode) -> String {
    let names = status.uses.filter { $0.need != .nothing }.map(\.name.name)
    guard let first = names.first else { return "" }
    let others = names.dropFirst().prefix(2).map { ", \($0)" }.joined()
    let remaining = names.count - 3
    let list = "\(first)\(others)" + (remaining > 0 ? " and \(remaining) more" : "")
    return receiver == .off || receiver == .standby ? "; next fix for \(list)" : "; for \(list)"
  }

  private func board(_ plan: Plan, wake: WirePlan) -> String {
    let depth =
      switch plan.board {
      case .awake: "awake"
      case .idle: "idle between events"
      case .suspended where !canSuspend: "idle between events"
      case .suspended: "suspended between events"
      case .off: "off between events"
      }
    var text = depth
    if plan.wake < .distantFuture {
      let time = FixTime(acquired: plan.wake, utc: wake.wakeUTC)
      text += end(time)
    } else {
      text += ", with no alarm set"
    }
    text +=
      plan.wakesOnInput
      ? ", or until the receiver sends data"
      : "; receiver data does not wake it"
    return text
  }

  /// Whether the board has a suspended state. Every plan can contain that state; a board without it idles instead.
  private var canSuspend: Bool { !status.holds.contains { $0.reason == .noSuspend } }

  /// Reasons why the board does not sleep as deeply as it could; nil if there are none.
  private var sleepObstacles: String? {
    guard !status.holds.isEmpty else { return nil }
    return "not suspended: " + status.holds.map(StatusText.text).joined(separator: "; ")
  }

  /// Text of a reason why the board does not sleep as deeply as it could.
  static func text(_ hold: WireHold) -> String {
    let client = hold.client?.name ?? "another user's program"
    let detail = hold.detail.map { " (\($0))" } ?? ""
    switch hold.reason {
    case .inhibited: return "the board is kept awake for now" + detail
    case .acknowledgement: return "\(client) has not acknowledged a delivery" + detail
    case .client: return "\(client) keeps the board awake" + detail
    case .everyFix: return "\(client) requests every fix immediately" + detail
    case .receiverRuns:
      return "the receiver is to report its fixes, and its data cannot wake the board" + detail
    case .receiverCannotSleep:
      return "the receiver runs although no client needs it: it cannot be put to sleep" + detail
    case .receiverBusy: return "the service is exchanging data with the receiver" + detail
    case .receiverCannotWake:
      return "the receiver buffers fixes, and its pin cannot wake the board (wakes_on)" + detail
    case .noSuspend: return "the board's profile has no suspended state" + detail
    case .soon: return "the next event is too soon" + detail
    case .system: return hold.detail ?? "the system does not allow it"
    case .staysOn:
      return "the board could be powered off, but stays on" + (hold.detail.map { ": \($0)" } ?? "")
    }
  }

  /// End of a state: time and remaining duration, or only the duration if UTC is unknown.
  private func end(_ time: FixTime) -> String {
    let relativeTime = clock.relative(time)
    if relativeTime == "now" { return ", for a moment" }
    guard clock.hasUTC(time) else {
      return ", for \(ServiceClock.short(time.acquired - status.now.acquired))"
    }
    return ", until \(clock.dateAndTime(time)) (\(relativeTime))"
  }

  // MARK: Fixes and clients

  private var fixes: String {
    let capacity = HumanFormat.count(status.ringCapacity)
    var text =
      status.ringFixes.map { "\(HumanFormat.count($0)) of \(capacity) slots used" }
      ?? "\(capacity) slots"
    if let newest = status.newest { text += ", newest fix \(clock.relative(newest))" }
    return text
  }

  private var clients: String {
    let connected = "\(status.clients) connected"
    switch status.demandingClients {
    case 0: return "\(connected); no active requests"
    case 1: return "\(connected); 1 client with active requests" + hiddenCount
    default:
      return "\(connected); \(status.demandingClients) clients with active requests" + hiddenCount
    }
  }

  private var hiddenCount: String {
    let hidden = status.demandingClients - status.uses.count
    return hidden > 0 ? " (\(hidden) of other users)" : ""
  }

  private func battery(_ percent: UInt8) -> String {
    guard status.shed != .none else { return "\(percent) %" }
    let shedLevels = status.shed.levels.map(StatusText.text)
    return "\(percent) %; too low for \(shedLevels.joined(separator: ", "))"
  }

  private static func text(_ level: LocationPolicy.ServiceLevel) -> String {
    switch level {
    case .everyFix: "every fix"
    case .accuracy: "accuracy"
    case .updates: "updates"
    case .visits: "visits"
    case .regions: "regions"
    case .significantChange: "significant change"
    }
  }

  // MARK: Clients that keep receiver or board awake

  private var clientTable: [String] {
    guard !status.uses.isEmpty else { return [] }
    var table = TextTable(
      ["client", "user", "process", "services", "keeps awake", "next fix"], leftColumns: 6)
    for use in status.uses {
      table.add([
        use.name.name, ClientName.user(use.name.user), StatusText.process(use.execution),
        use.services.map(StatusText.text).joined(separator: ", "), StatusText.keptAwake(use),
        use.next.map(clock.relative) ?? "-",
      ])
    }
    var text = TextBuffer()
    table.write(to: &text, style: style)
    return [""] + text.string.split(separator: "\n").map { $0.trimmedEnd }
  }

  static func process(_ execution: ExecutionState?) -> String {
    switch execution {
    case .foreground: "foreground"
    case .background: "background"
    case .suspended: "suspended"
    case nil: "none"
    }
  }

  static func text(_ service: WireService) -> String {
    switch service {
    case .updates: "updates"
    case .deferredUpdates: "deferred"
    case .significantChange: "significant change"
    case .visits: "visits"
    case .regions: "regions"
    case .liveUpdates: "live updates"
    case .request: "one fix"
    case .backgroundSession: "background session"
    }
  }

  /// Text of the hardware that the client keeps awake: receiver, board, or both.
  static func keptAwake(_ use: WireUse) -> String {
    switch (use.keepsReceiverOn, use.keepsBoardAwake) {
    case (true, true): "receiver and board"
    case (true, false): "receiver"
    case (false, true): "board"
    case (false, false): use.need == .nothing ? "nothing now" : "only briefly"
    }
  }

  private static func padded(_ name: String) -> String {
    name + String(repeating: " ", count: max(0, 8 - name.count))
  }
}

extension StringProtocol {
  /// The text without spaces at its end.
  var trimmedEnd: String {
    var remaining = self[...]
    while remaining.last == " " { remaining = remaining.dropLast() }
    return String(remaining)
  }
}
