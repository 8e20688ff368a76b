import LocationTypes
import TextFormats

/// The feed of the system clock, as reported to clients.
public struct WireClock: WireRecord, Equatable, Sendable {
  /// Path of chronyd's socket.
  public var socket: String
  /// Whether chronyd has received a sample within two minutes.
  public var isFeeding: Bool
  /// Whether chronyd's socket exists but refuses samples: an error of the configuration.
  public var isRefused = false
  /// Number of samples sent since the start of the service.
  public var samples: UInt32
  /// Time of the last one; nil before the first.
  public var last: FixTime?
  /// UTC minus system clock at the last sample, microseconds.
  public var offset_us: Int64?
  /// Whether the last sample is the time of a pulse per second; without one it is late by the receiver's delay.
  public var isPulse: Bool?
  /// Why there is no sample now, and what to do, in one line.
  public var suggestion: String?

  /// Creates a description before the first sample.
  public init(socket: String, isFeeding: Bool = false, samples: UInt32 = 0) {
    self.socket = socket
    self.isFeeding = isFeeding
    self.samples = samples
  }

  init() { self.init(socket: "") }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("socket", &socket)
    try coder.code("feeding", &isFeeding)
    try coder.code("refused", &isRefused)
    try coder.code("samples", &samples)
    try coder.code("last", &last)
    try coder.code("offset_us", &offset_us)
    try coder.code("pulse", &isPulse)
    try coder.code("remedy", &suggestion)
  }

  /// UTC minus system clock with sign and unit: `+0.012 ms`, `-1.250 s`, `+90 s`, `+3 d`, `+56 years`.
  public static func text(offset_us: Int64) -> String {
    let magnitude = Int64(clamping: offset_us.magnitude)
    let sign = offset_us < 0 ? "-" : "+"
    func decimal(_ thousandths: Int64, _ unit: String) -> String {
      var text = TextBuffer()
      text.add(thousandths, scale: 3, places: 3)
      return "\(sign)\(text.string) \(unit)"
    }
    let (day_us, year_us) = (86_400_000_000, 31_556_952_000_000) as (Int64, Int64)
    if magnitude < 1_000_000 { return decimal(magnitude, "ms") }
    if magnitude < 60_000_000 { return decimal(magnitude / 1_000, "s") }
    if magnitude < 2 * day_us { return "\(sign)\(magnitude / 1_000_000) s" }
    if magnitude < 2 * year_us { return "\(sign)\(magnitude / day_us) d" }
    return "\(sign)\(magnitude / year_us) years"
  }
}
