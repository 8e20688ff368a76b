import Glibc

/// The serial speeds with a constant in the C library, which other programs use to set a line.
///
/// The constants are signed in glibc up to 2.41 and unsigned from 2.42 on; here both become a `speed_t`.
public enum NamedSpeed {
  /// Speed in baud and its constant.
  public static let all: [(baud: Int, code: speed_t)] = [
    (1_200, speed_t(B1200)), (2_400, speed_t(B2400)), (4_800, speed_t(B4800)),
    (9_600, speed_t(B9600)), (19_200, speed_t(B19200)), (38_400, speed_t(B38400)),
    (57_600, speed_t(B57600)), (115_200, speed_t(B115200)), (230_400, speed_t(B230400)),
    (460_800, speed_t(B460800)), (500_000, speed_t(B500000)), (576_000, speed_t(B576000)),
    (921_600, speed_t(B921600)), (1_000_000, speed_t(B1000000)), (1_152_000, speed_t(B1152000)),
    (1_500_000, speed_t(B1500000)), (2_000_000, speed_t(B2000000)),
    (2_500_000, speed_t(B2500000)), (3_000_000, speed_t(B3000000)),
    (3_500_000, speed_t(B3500000)), (4_000_000, speed_t(B4000000)),
  ]

  /// Constant of a speed in baud; nil if it has none.
  public static func code(of baud: Int) -> speed_t? { all.first { $0.baud == baud }?.code }

  /// Speed in baud of a constant; nil if it is unknown.
  public static func baud(of code: speed_t) -> Int? { all.first { $0.code == code }?.baud }
}
