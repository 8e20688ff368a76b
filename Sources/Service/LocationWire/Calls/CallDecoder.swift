import TextFormats

/// Why a frame is not a valid call.
public enum CallRejection: Error, Equatable, Sendable {
  /// The frame is not a Varlink call; the connection must be closed.
  case malformed
  /// The call is refused; with `isOneway`, no error reply is sent. The connection stays open.
  case refused(WireError, isOneway: Bool)
}

/// Decodes the calls of clients.
public enum CallDecoder {
  /// Interface name of this service, the prefix of its methods.
  static let interface = "org.torpor.Location"
  /// Interface name of Varlink's own methods.
  static let service = "org.varlink.service"

  /// Decodes one frame, without its NUL.
  public static func decode(_ frame: [UInt8]) throws(CallRejection) -> IncomingCall {
    if let name = AcknowledgementReader.read(frame) {
      return IncomingCall(.acknowledge(name), .oneway)
    }
    return try decodeAny(frame)
  }

  /// Decodes any frame by parsing it into a document, without the fast path for acknowledgements.
  static func decodeAny(_ frame: [UInt8]) throws(CallRejection) -> IncomingCall {
    guard frame.count <= WireLimits.callFrame,
      let document = try? JSONDocument(frame, limits: .call),
      var fields = try? JSONFields(document.root),
      let name: String = try? fields.read("method"),
      let mode = try? mode(&fields)
    else { throw .malformed }
    do throws(WireError) {
      var parameters = try parameters(&fields)
      guard let call = try WireCall(name, &parameters) else { throw unknown(name) }
      try parameters.rejectUnread()
      try check(mode, for: call.method)
      return IncomingCall(call, mode)
    } catch {
      throw .refused(error, isOneway: mode == .oneway)
    }
  }

  /// The reply mode; at most one of the three flags may be set. Other members of the frame are ignored, because Varlink
  /// permits extensions by vendors.
  private static func mode(_ fields: inout JSONFields) throws(WireError) -> WireReplyMode {
    let isOneway = try fields.read("oneway", else: false)
    let isMore = try fields.read("more", else: false)
    let isUpgrade = try fields.read("upgrade", else: false)
    switch (isOneway, isMore, isUpgrade) {
    case (false, false, false): return .once
    case (true, false, false): return .oneway
    case (false, true, false): return .more
    case (false, false, true): return .upgrade
    case (true, true, _), (true, _, true), (_, true, true): throw .invalidParameter("more")
    }
  }

  private static func parameters(_ fields: inout JSONFields) throws(WireError) -> JSONFields {
    guard let value = fields.value("parameters") else { return JSONFields() }
    guard value.isObject else { throw .invalidParameter("parameters") }
    return try JSONFields(value)
  }

  /// The error for an unknown method.
  private static func unknown(_ name: String) -> WireError {
    guard let dot = name.lastIndex(of: ".") else { return .invalidParameter("method") }
    let prefix = String(name[..<dot])
    return [interface, service].contains(prefix)
      ? .methodNotFound(name) : .interfaceNotFound(prefix)
  }

  /// Checks that a method that needs `more` or `upgrade` is called with it. Varlink permits a service to reply once to
  /// any other method that is called with a flag.
  private static func check(_ mode: WireReplyMode, for method: WireMethod) throws(WireError) {
    if method.traits.contains(.more), mode != .more { throw .expectedMore }
    if method.traits.contains(.upgrade), mode != .upgrade { throw .expectedUpgrade }
  }
}
