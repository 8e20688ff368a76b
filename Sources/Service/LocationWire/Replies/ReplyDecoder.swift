import TextFormats

/// Why a frame is not a valid reply to a call.
public enum ReplyRejection: Error, Equatable, Sendable {
  /// The frame is not a Varlink reply.
  case malformed
  /// A parameter is missing or has an unknown value.
  case unexpected(parameter: String)
}

/// Decodes the replies of the service.
public enum ReplyDecoder {
  /// Decodes one frame, without its NUL, as a reply to `call`. Unknown parameters are ignored.
  public static func decode(
    _ frame: [UInt8], to call: WireCall
  ) throws(ReplyRejection) -> IncomingReply {
    guard frame.count <= WireLimits.replyFrame,
      let document = try? JSONDocument(frame, limits: .reply),
      var fields = try? JSONFields(document.root),
      let continues = try? fields.read("continues", else: false)
    else { throw .malformed }
    do {
      let error: String? = try fields.read("error")
      var parameters =
        try fields.value("parameters").map { value throws(WireError) in
          try JSONFields(value)
        } ?? JSONFields()
      if let error {
        // An error with unknown parameters is an unknown error.
        let known = (try? WireError(error, &parameters)) ?? nil
        return IncomingReply(.error(known ?? .other(error)))
      }
      return IncomingReply(try WireReply(to: call, &parameters), continues: continues)
    } catch {
      guard case .invalidParameter(let name) = error else { throw .malformed }
      throw .unexpected(parameter: name)
    }
  }
}
