import LocationWire

/// A connection to the service on which a program can call its methods.
public protocol LocationCaller: ~Copyable {
  /// Sends a call and waits for the reply.
  ///
  /// - Throws: ``ClientError/refused(_:)`` for an error reply.
  @discardableResult
  mutating func call(_ call: WireCall) throws(ClientError) -> WireReply
}

extension LocationCaller where Self: ~Copyable {
  /// Sends a call, and returns the value of its reply.
  mutating func result<Value>(
    of call: WireCall, _ value: (WireReply) -> Value?
  ) throws(ClientError) -> Value {
    guard let value = value(try self.call(call)) else {
      throw .malformed("the reply does not match the call")
    }
    return value
  }
}
