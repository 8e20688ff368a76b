/// The policy of one connection: what it receives. Changed by `?WATCH={…}`.
public struct GPSDPolicy: Equatable, Sendable {
  /// Whether data is requested.
  public private(set) var enable = false
  /// Whether JSON objects are sent.
  public private(set) var json = false
  /// Whether NMEA sentences are sent.
  public private(set) var nmea = false
  /// Whether TOFF and PPS are sent.
  public private(set) var pps = false
  /// Whether TOFF and PPS are sent.
  public private(set) var timing = false
  /// Path of the only device to watch; nil or empty for all.
  public private(set) var device: String?
  /// Name of the client.
  public private(set) var name = GPSDPolicy.standardName
  /// Savings requested by the connection.
  public private(set) var saving = GPSDSaving()

  /// Name of a client that gives itself none.
  public static let standardName = "gpsd"

  /// Creates the policy of a new connection.
  public init() {}

  /// Applies a request, which changes only what it names.
  public mutating func apply(_ watch: GPSDWatch) {
    enable = watch.enable
    json = watch.json ?? json
    nmea = watch.nmea ?? nmea
    pps = watch.pps ?? pps
    timing = watch.timing ?? timing
    device = watch.device ?? device
    name = watch.name ?? name
    saving.interval_s = watch.saving.interval_s ?? saving.interval_s
    saving.accuracy_m = watch.saving.accuracy_m ?? saving.accuracy_m
    saving.defer_s = watch.saving.defer_s ?? saving.defer_s
  }

  /// Whether reports are sent without being requested one by one.
  public var isStreaming: Bool { enable && (json || nmea || pps || timing) }
}
