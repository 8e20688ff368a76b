import TextFormats

/// Encodes the calls of clients.
public enum CallEncoder {
  /// Appends the frame of a call, with its NUL.
  ///
  /// A call that needs `more` or `upgrade` is always sent with it; the service refuses it otherwise.
  public static func encode(
    _ call: WireCall, oneway: Bool = false, to json: inout JSONOutput
  ) {
    let method = call.method
    json.frame { json in
      json.member("method", word: method.name)
      if method.traits.contains(.more) {
        json.member("more", true)
      } else if method.traits.contains(.upgrade) {
        json.member("upgrade", true)
      } else if oneway {
        json.member("oneway", true)
      }
      json.object("parameters") { call.write(to: &$0) }
    }
  }
}
