import LocationWire

/// An answer that is on its way: each connection gets its answers in the order of its calls.
struct PendingAnswer {
  /// When an answer may be given.
  enum Answer {
    /// At once.
    case ready(WireReply)
    /// When what was asked is on the disk.
    case durable(WireReply)
    /// Read from the engine, when it is through with what was asked before.
    case fromEngine(IncomingCall)
  }

  let connection: Int
  let answer: Answer
}
