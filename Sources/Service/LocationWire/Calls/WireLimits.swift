import LocationTypes
import TextFormats

/// Limits of the messages on the socket.
public enum WireLimits {
  /// Maximum length of a frame from a client, in bytes without the terminating NUL.
  public static let callFrame = 16 * 1_024
  /// Maximum length of a frame from the service, in bytes without the terminating NUL.
  public static let replyFrame = 256 * 1_024
  /// Maximum length of a client's name, bytes.
  public static let clientName = 64
  /// Maximum length of a region's name, bytes.
  public static let regionName = 128
  /// Maximum length of the reason of a hold, bytes.
  public static let holdReason = 64
  /// Maximum duration of a hold.
  public static let hold = Interval.seconds(60)
  /// Maximum number of fixes in one reply; a longer batch is split.
  public static let fixesPerReply = 256

  /// Whether a hold may have this duration.
  public static func isValidHold(_ duration: Interval) -> Bool {
    duration > .zero && duration <= hold
  }
}

extension JSONLimits {
  /// Limits for messages from clients.
  public static let call = JSONLimits(nodes: 512)
  /// Limits for messages from the service; as many values as a frame can contain.
  public static let reply = JSONLimits(nodes: WireLimits.replyFrame)
}

/// Validation of names of clients and regions.
public enum NameValidation {
  /// Whether `name` is valid for a client: 1 to ``WireLimits/clientName`` bytes, no control character.
  public static func isValidClient(_ name: String) -> Bool {
    isValid(name, limit: WireLimits.clientName)
  }

  /// Whether `name` is valid for a region: 1 to ``WireLimits/regionName`` bytes, no control character.
  public static func isValidRegion(_ name: String) -> Bool {
    isValid(name, limit: WireLimits.regionName)
  }

  /// Whether `reason` is valid for a hold: as the name of a client.
  public static func isValidReason(_ reason: String) -> Bool {
    isValid(reason, limit: WireLimits.holdReason)
  }

  private static func isValid(_ name: String, limit: Int) -> Bool {
    let bytes = name.utf8
    // Exclude C1 controls (U+0080 to U+009F), which terminals interpret as well.
    return !bytes.isEmpty && bytes.count <= limit
      && name.unicodeScalars.allSatisfy { !(0..<0x20).contains($0.value) && !isC1($0) }
  }

  private static func isC1(_ scalar: Unicode.Scalar) -> Bool {
    (0x7F...0x9F).contains(scalar.value)
  }
}
