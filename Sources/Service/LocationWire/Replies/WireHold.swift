import TextFormats

/// Why the board does not sleep as deeply as it could.
public enum WireHoldReason: UInt8, CaseIterable, Sendable {
  /// Sleep is inhibited for now by the program that runs the engine (DEF-28).
  case inhibited = 0
  /// A client has not acknowledged a delivery (RNG-8).
  case acknowledgement = 1
  /// A client requires every fix immediately.
  case everyFix = 2
  /// The receiver sends live fixes, and its bytes do not wake a suspended board.
  case receiverRuns = 3
  /// The receiver runs without demand, because nothing can put it to sleep.
  case receiverCannotSleep = 4
  /// Communication between board and receiver is in progress.
  case receiverBusy = 5
  /// The receiver batches fixes, and its pin does not wake a suspended board.
  case receiverCannotWake = 6
  /// The board's profile has no suspended state.
  case noSuspend = 7
  /// The next wake time is too near for a suspend.
  case soon = 8
  /// The system prevents the suspend, for example by a program's inhibitor lock; ``WireHold/detail`` has the reason.
  case system = 9
  /// The board could be powered off but stays on; ``WireHold/detail`` has the reason.
  case staysOn = 10
}

/// A cause that keeps the board from sleeping as deeply as it could.
public struct WireHold: Equatable, Sendable {
  /// Type of the cause.
  public var reason: WireHoldReason
  /// The client that is the cause; nil if the cause is not a client, or the caller has no permission to see it.
  public var client: WireClientName?
  /// Additional description for display.
  public var detail: String?

  /// Creates a description.
  public init(_ reason: WireHoldReason, client: WireClientName? = nil, detail: String? = nil) {
    self.reason = reason
    self.client = client
    self.detail = detail
  }
}

extension WireHoldReason: WireEnum {
  static let wireWords: [(WireHoldReason, StaticString)] = [
    (.inhibited, "inhibited"), (.acknowledgement, "acknowledgement"), (.everyFix, "every_fix"),
    (.receiverRuns, "receiver_runs"), (.receiverCannotSleep, "receiver_cannot_rest"),
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
