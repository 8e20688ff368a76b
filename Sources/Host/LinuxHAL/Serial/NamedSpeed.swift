import Glibc

/// The speeds of a terminal line that the C library has a name for, which programs other than the service set a line by.
///
/// The names are signed in glibc up to 2.41 and unsigned from 2.42 on: both become a `speed_t` here.
public enum NamedSpeed {
  /// Each speed in baud, and its code.
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

  /// The code of a speed in baud; nil for one without a name.
  public static func code(of baud: Int) -> speed_t? { all.first { $0.baud == baud }?.code }

  /// The speed in baud that a code stands for; nil for a code that is none.
  public static func baud(of code: speed_t) -> Int? { all.first { $0.code == code }?.baud }
}
