/// The bounds of what crosses the socket.
public enum WireLimits {
  /// Bytes of a frame that a client may send, without the NUL that ends it.
  public static let callFrame = 16 * 1_024
  /// Bytes of a frame that the service sends, without its NUL: what a client must be ready for.
  public static let replyFrame = 256 * 1_024
  /// Bytes of a client's name.
  public static let clientName = 64
  /// Bytes of a region's name.
  public static let regionName = 128
  /// Fixes in one reply; a longer batch goes out in several.
  public static let fixesPerReply = 256
}

/// Who may be named how.
public enum WireName {
  /// Whether `name` may name a client: 1 to ``WireLimits/clientName`` bytes, no control character.
  public static func isValidClient(_ name: String) -> Bool {
    isValid(name, limit: WireLimits.clientName)
  }

  /// Whether `name` may name a region: 1 to ``WireLimits/regionName`` bytes, no control character.
  public static func isValidRegion(_ name: String) -> Bool {
    isValid(name, limit: WireLimits.regionName)
  }

  private static func isValid(_ name: String, limit: Int) -> Bool {
    let bytes = name.utf8
    // C1 controls (U+0080 to U+009F) would reach a terminal as well.
    return !bytes.isEmpty && bytes.count <= limit
      && name.unicodeScalars.allSatisfy { !(0..<0x20).contains($0.value) && !isC1($0) }
  }

  private static func isC1(_ scalar: Unicode.Scalar) -> Bool {
    (0x7F...0x9F).contains(scalar.value)
  }
}
