import LocationTypes
import UplinkPayload

/// The settings of the uplink, from `uplink.toml` (Docs/Reference/uplink.md).
public struct UplinkSettings: Equatable, Sendable {
  /// When a fix counts as delivered.
  public enum Confirmation: String, CaseIterable, Sendable {
    /// When the store has sent a receipt.
    case store
    /// When the broker has acknowledged the message. Fixes may be lost.
    case broker
  }

  /// A broker.
  public struct Destination: Equatable, Sendable {
    /// Host name or address.
    public var host: String
    /// TCP port.
    public var port: Int
    /// Name of the user; nil for none.
    public var user: String?
    /// File with the password in its first line.
    public var passwordFile: String?
    /// File with the certificates of authorities: with it, the connection uses TLS.
    public var authority: String?
    /// File with the board's certificate.
    public var certificate: String?
    /// File with the key of the certificate.
    public var key: String?

    /// Host and port, for messages.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  }

  /// Name of the board in topics and messages.
  public var device: DeviceName
  /// Time between two uploads.
  public var interval: Interval
  /// Time by which an upload may be later, to join a wake that happens anyway.
  public var slack: Interval
  /// When a fix counts as delivered.
  public var confirmation: Confirmation
  /// Brokers; the first that answers is used.
  public var destinations: [Destination]

  /// Limits of the settings.
  public enum Limits {
    /// Seconds between two uploads.
    public static let interval = 10.0...86_400.0
    /// Number of destinations.
    public static let destinations = 4
    /// Bytes of a text.
    public static let text = 255
  }
}
