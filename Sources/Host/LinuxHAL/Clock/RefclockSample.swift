import LocationTypes

/// A measurement of the system clock for chronyd: the message of its reference clock `SOCK`.
///
/// The layout is that of `struct sock_sample` in chrony's `refclock_sock.c` on a machine with 64-bit `long`, in the
/// machine's byte order:
///
/// | offset | size | member |
/// |---|---|---|
/// | 0 | 8 | seconds of the system clock at the measurement |
/// | 8 | 8 | microseconds of it, 0 to 999,999 |
/// | 16 | 8 | true time minus system clock, s, as a `double` |
/// | 24 | 4 | 0: the offset has its whole seconds; 1 would be a pulse whose second another source must supply |
/// | 28 | 4 | leap second at the end of the day: 0 none, 1 inserted, 2 deleted |
/// | 32 | 4 | padding |
/// | 36 | 4 | the bytes `SOCK` as a number, by which chronyd detects other messages |
public struct RefclockSample: Equatable, Sendable {
  /// A leap second at the end of the present day of UTC.
  public enum Leap: Int32, Sendable {
    /// None.
    case none = 0
    /// One is inserted.
    case inserted = 1
    /// One is deleted.
    case deleted = 2
  }

  /// Size of the message.
  public static let size = 40
  static let magic: Int32 = 0x534f_434b

  /// System clock at the measurement, in nanoseconds since 1970. chronyd receives its microseconds.
  public let wallTime_ns: Int64
  /// True time minus system clock, in nanoseconds.
  public let offset_ns: Int64
  /// Leap second at the end of the day.
  public let leap: Leap

  /// Creates a sample.
  public init(wallTime_ns: Int64, offset_ns: Int64, leap: Leap = .none) {
    self.wallTime_ns = wallTime_ns
    self.offset_ns = offset_ns
    self.leap = leap
  }

  /// The message. The nanoseconds that the time of measurement cannot hold are removed from it only; the offset is not
  /// affected, because within a microsecond it does not change.
  public var message: [UInt8] {
    // Rounded down, so that the microseconds are not negative before 1970.
    var seconds = wallTime_ns / 1_000_000_000
    var rest_ns = wallTime_ns % 1_000_000_000
    if rest_ns < 0 {
      seconds -= 1
      rest_ns += 1_000_000_000
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(RefclockSample.size)
    func append(_ value: some FixedWidthInteger) {
      unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
    }
    append(seconds)
    append(rest_ns / 1_000)
    append((Double(offset_ns) / 1e9).bitPattern)
    append(Int32(0))
    append(leap.rawValue)
    append(Int32(0))
    append(RefclockSample.magic)
    return bytes
  }
}
