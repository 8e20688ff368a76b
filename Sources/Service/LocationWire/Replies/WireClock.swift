import LocationTypes
import TextFormats

/// The feed of the system clock, as reported to clients.
public struct WireClock: WireRecord, Equatable, Sendable {
  /// Path of chronyd's socket.
  public var socket: String
  /// Whether the newest sample was sent to chronyd.
  public var isFeeding: Bool
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
    try coder.code("samples", &samples)
    try coder.code("last", &last)
    try coder.code("offset_us", &offset_us)
    try coder.code("pulse", &isPulse)
    try coder.code("remedy", &suggestion)
  }
}
