import BoardHardware
import LocationTypes
import TextFormats

/// Time and energy since the service started: time in each state, and energy as the sum of time and the power that the
/// board's profile gives for each state. The energy is computed, not measured.
public struct WireEnergy: WireObject, Equatable, Sendable {
  /// Start of the accounted time.
  public var since: FixTime
  /// End of the accounted time.
  public var until: FixTime
  /// Energy of the receiver, millijoules.
  public var receiver_mJ = 0.0
  /// Energy of the board without the receiver, millijoules.
  public var board_mJ = 0.0
  /// Number of wakes of the board.
  public var hostWakes: UInt64 = 0
  /// Number of wakes, indexed by ``WakeReason``.
  public private(set) var wakes = [UInt64](repeating: 0, count: WakeReason.wireValues.count)
  /// Time of the receiver in each state, indexed by ``ReceiverPowerState``.
  public private(set) var receiverTime = [Interval](
    repeating: .zero, count: ReceiverPowerState.allCases.count)
  /// Time of the board in each state, indexed by ``BoardState``.
  public private(set) var boardTime = [Interval](repeating: .zero, count: 4)

  /// Creates an empty ledger.
  public init(since: FixTime, until: FixTime) {
    self.since = since
    self.until = until
  }

  /// Number of wakes of the board for `reason`.
  public subscript(reason: WakeReason) -> UInt64 {
    get { wakes[Int(reason.rawValue)] }
    set { wakes[Int(reason.rawValue)] = newValue }
  }

  /// Time for which the receiver was in `state`.
  public subscript(state: ReceiverPowerState) -> Interval {
    get { receiverTime[state.rawValue] }
    set { receiverTime[state.rawValue] = newValue }
  }

  /// Time for which the board was in `state`.
  public subscript(state: BoardState) -> Interval {
    get { boardTime[Int(state.rawValue)] }
    set { boardTime[Int(state.rawValue)] = newValue }
  }
}

extension WireEnergy {
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(since: try fields.read("since"), until: try fields.read("until"))
    receiver_mJ = try fields.read("receiver_mj")
    board_mJ = try fields.read("board_mj")
    hostWakes = try fields.read("host_wakes")
    var wakes = try fields.requiredObject("wakes")
    for reason in WakeReason.wireValues { self[reason] = try wakes.read(reason.wireWord) }
    var receiver = try fields.requiredObject("receiver_s")
    for state in ReceiverPowerState.wireValues { self[state] = try receiver.read(state.wireWord) }
    var board = try fields.requiredObject("board_s")
    for state in BoardState.wireValues { self[state] = try board.read(state.wireWord) }
  }

  func write(to json: inout JSONOutput) {
    json.write("since", since)
    json.write("until", until)
    json.write("receiver_mj", receiver_mJ)
    json.write("board_mj", board_mJ)
    json.write("host_wakes", hostWakes)
    json.object("wakes") { json in
      for reason in WakeReason.wireValues { json.write(reason.wireWord, self[reason]) }
    }
    json.object("receiver_s") { json in
      for state in ReceiverPowerState.wireValues { json.write(state.wireWord, self[state]) }
    }
    json.object("board_s") { json in
      for state in BoardState.wireValues { json.write(state.wireWord, self[state]) }
    }
  }
}

extension WireEnergy {
  /// Appends the ledger as metrics of Prometheus.
  public func addMetrics(to text: inout PrometheusText) {
    text.begin(
      "torpor_energy_joules_total", .counter,
      "Energy since the start of the service, estimated with the powers of the profile.")
    text.sample(WireEnergy.whole(receiver_mJ), scale: 3, [("part", "receiver")])
    text.sample(WireEnergy.whole(board_mJ), scale: 3, [("part", "board")])
    text.begin("torpor_wakes_total", .counter, "Wakes of the service since its start.")
    for reason in WakeReason.wireValues {
      text.sample(Int64(clamping: self[reason]), [("reason", reason.wireWord.description)])
    }
    text.begin("torpor_receiver_seconds_total", .counter, "Time of the receiver in each state.")
    for state in ReceiverPowerState.wireValues {
      text.sample(self[state].microseconds, scale: 6, [("state", state.wireWord.description)])
    }
    text.begin("torpor_board_seconds_total", .counter, "Time of the board in each state.")
    for state in BoardState.wireValues {
      text.sample(self[state].microseconds, scale: 6, [("state", state.wireWord.description)])
    }
  }

  /// Rounds an energy to millijoules, within a range that no ledger exceeds.
  private static func whole(_ energy_mJ: Double) -> Int64 {
    Int64(min(max(energy_mJ, 0), 1e15).rounded())
  }
}

extension Interval: WireScalar {
  init?(json: JSONValue) {
    guard let seconds = json.double else { return nil }
    self.init(seconds: seconds)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.member(name, microseconds, scale: 6)
  }
}

extension JSONFields {
  /// A reader for a required object member.
  fileprivate mutating func requiredObject(_ name: StaticString) throws(WireError) -> JSONFields {
    guard let object = try object(name) else { throw invalid(name) }
    return object
  }
}
