import TextFormats

/// Why the board does not sleep as deeply as it could.
public enum WireHoldReason: String, WireWord, CaseIterable, Sendable {
  /// Sleep is inhibited for now by the program that runs the engine (DEF-28).
  case inhibited
  /// A client has not acknowledged a delivery (RNG-8).
  case acknowledgement
  /// A client keeps the board awake for its own work (PWR-13); ``WireHold/detail`` has its reason.
  case client
  /// A client requires every fix immediately.
  case everyFix = "every_fix"
  /// The receiver sends live fixes, and its bytes do not wake a suspended board.
  case receiverRuns = "receiver_runs"
  /// The receiver runs without demand, because nothing can put it to sleep.
  case receiverCannotSleep = "receiver_cannot_rest"
  /// Communication between board and receiver is in progress.
  case receiverBusy = "receiver_busy"
  /// The receiver batches fixes, and its pin does not wake a suspended board.
  case receiverCannotWake = "receiver_cannot_wake"
  /// The board's profile has no suspended state.
  case noSuspend = "no_suspend"
  /// The next wake time is too near for a suspend.
  case soon
  /// The system prevents the suspend, for example by a program's inhibitor lock; ``WireHold/detail`` has the reason.
  case system
  /// The board could be powered off but stays on; ``WireHold/detail`` has the reason.
  case staysOn = "stays_on"
}

/// A cause that keeps the board from sleeping as deeply as it could.
public struct WireHold: WireObject, Equatable, Sendable {
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

  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      try fields.read("reason"), client: fields.has("name") ? try WireClientName(&fields) : nil,
      detail: try fields.read("detail"))
  }

  func write(to json: inout JSONOutput) {
    json.write("reason", reason)
    client?.write(to: &json)
    json.write("detail", detail)
  }
}
