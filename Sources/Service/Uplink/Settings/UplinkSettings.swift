import Glibc
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

  /// A broker, or an HTTP server.
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
    /// Address for batches of an HTTP server; nil for a broker.
    public var url: String?
    /// File with the token for the HTTP server in its first line.
    public var tokenFile: String?

    /// Whether the broker runs on this board: what is sent does not leave it.
    var isLoopback: Bool {
      if host.lowercased() == "localhost" { return true }
      var (four, six) = (in_addr(), in6_addr())
      if unsafe inet_pton(AF_INET, host, &four) == 1 {
        return UInt32(bigEndian: four.s_addr) >> 24 == 127
      }
      guard unsafe inet_pton(AF_INET6, host, &six) == 1 else { return false }
      return unsafe withUnsafeBytes(of: six) {
        unsafe $0.elementsEqual([UInt8](repeating: 0, count: 15) + [1])
      }
    }

    /// Host and port, for messages.
    var address: String {
      // Without the part that may be a secret.
      if let url { return String(url.prefix { $0 != "?" && $0 != "{" }) }
      return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The host of an address of HTTP; nil if it is none. Names and passwords in it are not supported.
    static func host(in url: String) -> String? {
      guard let start = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else {
        return nil
      }
      let authority = url.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      guard !authority.isEmpty, !authority.contains("@") else { return nil }
      if authority.hasPrefix("[") {
        let host = authority.dropFirst().prefix { $0 != "]" }
        return host.isEmpty ? nil : String(host)
      }
      let host = authority.prefix { $0 != ":" }
      return host.isEmpty ? nil : String(host)
    }
  }

  /// A circle whose entries and exits are sent.
  public struct Region: Equatable, Sendable {
    /// Name in events.
    public var name: String
    /// Center of the circle.
    public var center: Coordinate
    /// Radius in metres.
    public var radius: Double
  }

  /// Name of the board in topics and messages.
  public var device: DeviceName
  /// Time between two uploads.
  public var interval: Interval
  /// Time by which an upload may be later, to join a wake that happens anyway.
  public var slack: Interval
  /// When a fix counts as delivered.
  public var confirmation: Confirmation
  /// Decimals of degrees of sent positions; 9 are all.
  public var decimals: Int
  /// Whether visits are sent as events.
  public var sendsVisits: Bool
  /// Regions whose events are sent.
  public var regions: [Region]
  /// Whether the newest fix is published as a retained location of OwnTracks.
  public var publishesNewest: Bool
  /// Whether the board is announced to Home Assistant.
  public var announces: Bool
  /// Brokers; the first that answers is used.
  public var destinations: [Destination]

  /// Limits of the settings.
  public enum Limits {
    /// Seconds between two uploads.
    public static let interval = 10.0...86_400.0
    /// Decimals of degrees.
    public static let decimals = 1...9
    /// Number of destinations.
    public static let destinations = 4
    /// Number of regions.
    public static let regions = 20
    /// Bytes of a region's name.
    public static let regionName = 128
    /// Metres of a region's radius.
    public static let radius = 1.0...100_000.0
    /// Bytes of a text.
    public static let text = 255
  }
}
