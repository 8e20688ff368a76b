/// Why the board does not sleep as deeply as it could.
public enum WireHoldReason: UInt8, CaseIterable, Sendable {
  /// Its owner, or an administrator's flush, keeps it awake for now (DEF-28).
  case inhibited = 0
  /// A client was told something and has not acknowledged it (RNG-8).
  case acknowledgement = 1
  /// A client wants every fix as it is made.
  case everyFix = 2
  /// The receiver is to tell what it finds, and bytes do not wake a suspended board.
  case receiverRuns = 3
  /// The receiver runs although nobody needs it: nothing can put it to rest.
  case receiverCannotRest = 4
  /// Something is on its way between board and receiver.
  case receiverBusy = 5
  /// The receiver gathers fixes, and its pin does not wake a suspended board.
  case receiverCannotWake = 6
  /// The board's profile has no suspended state.
  case noSuspend = 7
  /// Something is due so soon that suspending is not worth it.
  case soon = 8
  /// The system does not suspend the board: ``WireHold/detail`` says why, a program's lock too.
  case system = 9
  /// The board could be off, and stays on: ``WireHold/detail`` says why.
  case staysOn = 10
}

/// One thing that keeps the board from sleeping as deeply as it could.
public struct WireHold: Equatable, Sendable {
  /// What it is.
  public var reason: WireHoldReason
  /// Which client it is, where it is one; nil for one that whoever asks may not know.
  public var client: WireClientName?
  /// More of it, for people.
  public var detail: String?

  /// Creates a description.
  public init(_ reason: WireHoldReason, client: WireClientName? = nil, detail: String? = nil) {
    self.reason = reason
    self.client = client
    self.detail = detail
  }
}

extension WireHoldReason: WireWord {
  static let wireWords: [(WireHoldReason, StaticString)] = [
    (.inhibited, "inhibited"), (.acknowledgement, "acknowledgement"), (.everyFix, "every_fix"),
    (.receiverRuns, "receiver_runs"), (.receiverCannotRest, "receiver_cannot_rest"),
    (.receiverBusy, "receiver_busy"), (.receiverCannotWake, "receiver_cannot_wake"),
    (.noSuspend, "no_suspend"), (.soon, "soon"), (.system, "system"), (.staysOn, "stays_on"),
  ]
}

extension ReplyEncoder {
  static func write(_ hold: WireHold, _ json: inout JSONOutput) {
    json.member("reason", word: hold.reason.wireWord)
    if let client = hold.client {
      json.member("user", Int64(client.user))
      json.member("name", client.name)
    }
    if let detail = hold.detail { json.member("detail", detail) }
  }
}

extension ReplyDecoder {
  static func hold(_ fields: inout JSONFields) throws(WireError) -> WireHold {
    var hold = WireHold(try fields.word("reason"))
    if fields.has("name") {
      hold.client = WireClientName(
        user: try fields.number("user"), name: try fields.string("name"))
    }
    if fields.has("detail") { hold.detail = try fields.string("detail") }
    return hold
  }
}
