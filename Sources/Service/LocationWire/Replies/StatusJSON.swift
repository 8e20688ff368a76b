import BoardHardware
import LocationPolicy
import LocationTypes
import TextFormats

// JSON encoding and decoding of status, plan and energy.

extension ReplyEncoder {
  static func write(_ status: WireStatus, _ json: inout JSONOutput) {
    json.member("version", status.version)
    json.member("board", status.board)
    json.object("now", status.now)
    json.member("generation", Int64(status.generation))
    if let next = status.nextSequence { json.member("next_sequence", Int64(clamping: next)) }
    json.member("ring_capacity", Int64(status.ringCapacity))
    if let fixes = status.ringFixes { json.member("ring_fixes", Int64(fixes)) }
    json.object("newest", status.newest)
    json.member("clients", Int64(status.clients))
    if let percent = status.batteryPercent { json.member("battery_percent", Int64(percent)) }
    json.list("given_up", status.shed)
    json.member("sleep_inhibited", status.isSleepInhibited)
    json.list("holds") { json in
      for hold in status.holds { json.element { write(hold, &$0) } }
    }
    if let receiver = status.receiver { json.object("receiver") { write(receiver, &$0) } }
    if let plan = status.plan { json.object("plan") { write(plan, &$0) } }
    json.member("demanding", Int64(status.demandingClients))
    json.list("uses") { json in
      for use in status.uses { json.element { write(use, &$0) } }
    }
  }

  static func write(_ plan: WirePlan, _ json: inout JSONOutput) {
    switch plan.plan.receiver {
    case .off: json.member("receiver", word: "off")
    case .standby: json.member("receiver", word: "standby")
    case .tracking: json.member("receiver", word: "tracking")
    case .powersave: json.member("receiver", word: "powersave")
    case .batching(let watermark):
      json.member("receiver", word: "batching")
      json.member("watermark", Int64(watermark))
    }
    json.member("board", word: plan.plan.board.wireWord)
    if plan.plan.wake < .distantFuture {
      json.object("wake", FixTime(acquired: plan.plan.wake, utc: plan.wakeUTC))
    }
    json.member("listens", plan.plan.wakesOnInput)
  }

  static func write(_ energy: WireEnergy, _ json: inout JSONOutput) {
    json.object("since", energy.since)
    json.object("until", energy.until)
    json.member("receiver_mj", energy.receiver_mJ)
    json.member("board_mj", energy.board_mJ)
    json.member("host_wakes", Int64(clamping: energy.hostWakes))
    json.object("wakes") { json in
      for (reason, word) in WakeReason.wireWords {
        json.member(word, Int64(clamping: energy[reason]))
      }
    }
    json.object("receiver_s") { json in
      for (state, word) in ReceiverPowerState.wireWords {
        json.member(word, energy[state].microseconds, scale: 6)
      }
    }
    json.object("board_s") { json in
      for (state, word) in BoardState.wireWords {
        json.member(word, energy[state].microseconds, scale: 6)
      }
    }
  }

  private static func write(_ receiver: WireReceiver, _ json: inout JSONOutput) {
    json.member("state", word: receiver.state.wireWord)
    json.member("answers", receiver.isAnswering)
    json.object("since", receiver.since)
    json.object("heard", receiver.lastByte)
    json.object("fixed", receiver.lastFix)
    if let suggestion = receiver.suggestion { json.member("remedy", suggestion) }
  }

  private static func write(_ use: WireUse, _ json: inout JSONOutput) {
    json.member("user", Int64(use.name.user))
    json.member("name", use.name.name)
    if let execution = use.execution { json.member("execution", word: execution.wireWord) }
    json.list("services") { json in
      for service in use.services { json.element(word: service.wireWord) }
    }
    json.member("needs", word: use.need.wireWord)
    json.member("keeps_receiver", use.keepsReceiverOn)
    json.member("keeps_board", use.keepsBoardAwake)
    json.object("next", use.next)
  }
}

extension ReplyDecoder {
  static func status(_ fields: inout JSONFields) throws(WireError) -> WireStatus {
    var status = WireStatus(
      version: try fields.string("version"), board: try fields.string("board"),
      now: try fields.requiredTime("now"), generation: try fields.number("generation"),
      nextSequence: fields.has("next_sequence") ? try fields.number("next_sequence") : nil,
      ringCapacity: try fields.number("ring_capacity"), clients: try fields.number("clients"))
    if fields.has("ring_fixes") { status.ringFixes = try fields.number("ring_fixes") }
    status.newest = try fields.time("newest")
    if fields.has("battery_percent") {
      status.batteryPercent = try fields.number("battery_percent")
    }
    status.shed = try fields.serviceLevels("given_up")
    status.isSleepInhibited = try fields.bool("sleep_inhibited")
    status.holds = try fields.objects("holds", hold) ?? []
    status.receiver = try fields.object("receiver", receiver)
    status.plan = try fields.object("plan", plan)
    status.demandingClients = try fields.number("demanding")
    status.uses = try fields.objects("uses", use) ?? []
    return status
  }

  static func plan(_ fields: inout JSONFields) throws(WireError) -> WirePlan {
    let receiver: ReceiverMode
    switch try fields.string("receiver") {
    case "off": receiver = .off
    case "standby": receiver = .standby
    case "tracking": receiver = .tracking
    case "powersave": receiver = .powersave
    case "batching": receiver = .batching(watermark: try fields.number("watermark"))
    default: throw fields.invalid("receiver")
    }
    let wake = try fields.time("wake")
    let plan = Plan(
      receiver: receiver, board: try fields.word("board"), wake: wake?.acquired ?? .distantFuture,
      wakesOnInput: try fields.bool("listens"))
    return WirePlan(plan, wakeUTC: wake?.utc)
  }

  static func energy(_ fields: inout JSONFields) throws(WireError) -> WireEnergy {
    var energy = WireEnergy(
      since: try fields.requiredTime("since"), until: try fields.requiredTime("until"))
    energy.receiver_mJ = try fields.double("receiver_mj")
    energy.board_mJ = try fields.double("board_mj")
    energy.hostWakes = try fields.number("host_wakes")
    try fields.requiredObject("wakes") { wakes throws(WireError) in
      for (reason, word) in WakeReason.wireWords { energy[reason] = try wakes.number(word) }
    }
    try fields.requiredObject("receiver_s") { times throws(WireError) in
      for (state, word) in ReceiverPowerState.wireWords {
        energy[state] = Interval(seconds: try times.double(word))
      }
    }
    try fields.requiredObject("board_s") { times throws(WireError) in
      for (state, word) in BoardState.wireWords {
        energy[state] = Interval(seconds: try times.double(word))
      }
    }
    return energy
  }

  private static func receiver(_ fields: inout JSONFields) throws(WireError) -> WireReceiver {
    var receiver = WireReceiver(
      try fields.word("state"), isAnswering: try fields.bool("answers"),
      since: try fields.requiredTime("since"), lastByte: try fields.time("heard"),
      lastFix: try fields.time("fixed"))
    if fields.has("remedy") { receiver.suggestion = try fields.string("remedy") }
    return receiver
  }

  private static func use(_ fields: inout JSONFields) throws(WireError) -> WireUse {
    var use = WireUse(
      WireClientName(user: try fields.number("user"), name: try fields.string("name")),
      execution: try fields.optionalWord("execution"))
    use.services = try fields.words("services", WireService.self)
    use.need = try fields.word("needs")
    use.keepsReceiverOn = try fields.bool("keeps_receiver")
    use.keepsBoardAwake = try fields.bool("keeps_board")
    use.next = try fields.time("next")
    return use
  }
}
