import CLinux
import Glibc
import LocationTypes

/// Registers of one byte that a device has on an I²C bus.
protocol ByteRegisters {
  /// What a register holds; nil where the device does not answer.
  func read(_ register: UInt8) -> UInt8?
  /// Whether it took it.
  func write(_ value: UInt8, to register: UInt8) -> Bool
}

/// A device on a bus of the kernel's, `/dev/i2c-1`.
///
/// A register is named and read in one transfer with a repeated start. The Witty Pi takes a name that is
/// followed by a stop for the beginning of a write, and writes what it finds into its clock.
final class I2CDevice: ByteRegisters {
  private let descriptor: Int32
  private let address: UInt16

  /// nil where the bus cannot be opened.
  init?(bus: Int, address: UInt16) {
    descriptor = unsafe open("/dev/i2c-\(bus)", O_RDWR | O_CLOEXEC)
    self.address = address
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(_ register: UInt8) -> UInt8? {
    let value = clinux_i2c_read(descriptor, address, register)
    return value < 0 ? nil : UInt8(truncatingIfNeeded: value)
  }

  func write(_ value: UInt8, to register: UInt8) -> Bool {
    clinux_i2c_write(descriptor, address, register, value) == 0
  }
}

/// UUGear's Witty Pi 4: a HAT that cuts the board's supply when it has shut down, and gives it back at an
/// alarm. After its firmware's source (revision 5).
///
/// Its alarm is a day of the month and a time of day by its own clock, of whatever time zone; it is
/// compared once a second, and one that was set later than two seconds after its moment is passed over.
struct WittyPi4: PowerOnAlarm {
  static let address: UInt16 = 0x08
  /// What register 0 of this model says.
  static let identity: UInt8 = 0x26
  /// Registers; a time is in BCD, seconds first.
  enum Register {
    static let identity: UInt8 = 0
    static let reason: UInt8 = 11
    static let alarm: UInt8 = 27
    static let alarmFlag: UInt8 = 39
    static let seconds: UInt8 = 58
    static let minutes: UInt8 = 59
    static let hours: UInt8 = 60
    static let day: UInt8 = 61
    static let month: UInt8 = 63
    static let year: UInt8 = 64
  }
  /// The day of the month names no moment that is further away in every month.
  static let longest = Interval.seconds(27 * 86_400)

  private let registers: any ByteRegisters

  /// - Returns: nil where the device does not answer, or is another.
  init?(_ registers: any ByteRegisters) {
    guard registers.read(Register.identity) == WittyPi4.identity else { return nil }
    self.registers = registers
  }

  var name: String { "the Witty Pi 4" }

  /// Its alarm is nobody else's; what each register took is read back.
  var setting: Int64? { nil }

  func set(in interval: Interval, shortest: Interval) -> Int32 {
    guard let now else { return EIO }
    let seconds = max(2, (min(interval, WittyPi4.longest).microseconds + 999_999) / 1_000_000)
    let moment = now + .seconds(seconds)
    let ofDay = moment.microsecondsOfDay / 1_000_000
    let time = [ofDay % 60, ofDay / 60 % 60, ofDay / 3_600, Int64(moment.date.day)]
    guard put(0, in: Register.alarmFlag) else { return EIO }
    for (place, part) in time.enumerated() {
      guard put(WittyPi4.bcd(part), in: Register.alarm + UInt8(place)) else { return EIO }
    }
    return 0
  }

  func restore(_ before: Int64?) {
    for place in 0..<4 { _ = put(0, in: Register.alarm + UInt8(place)) }
  }

  /// 1 is the start-up alarm, 8 the same after it had to wait for the board to be off.
  var hasSwitchedOn: Bool? { registers.read(Register.reason).map { $0 == 1 || $0 == 8 } }

  /// Its clock, as if that were UTC; nil where it cannot be read, or says what no clock says.
  private var now: UTCTime? {
    // Read over several seconds it may be torn: a second of before and a minute of after.
    for _ in 0..<3 {
      guard let first = value(Register.seconds, mask: 0x7F), let minutes = value(Register.minutes),
        let hours = value(Register.hours), let day = value(Register.day),
        let month = value(Register.month), let year = value(Register.year),
        let last = value(Register.seconds, mask: 0x7F)
      else { return nil }
      guard last >= first else { continue }
      guard let date = CalendarDate(year: 2_000 + year, month: month, day: day), hours < 24,
        minutes < 60, last < 60
      else { return nil }
      return date.start + .seconds(Int64(hours * 3_600 + minutes * 60 + last))
    }
    return nil
  }

  private func value(_ register: UInt8, mask: UInt8 = 0xFF) -> Int? {
    registers.read(register).map { Int(($0 & mask) >> 4) * 10 + Int($0 & mask & 0x0F) }
  }

  /// Writes, and looks whether it was heard, as the maker's own programs do.
  private func put(_ value: UInt8, in register: UInt8) -> Bool {
    for _ in 0..<3 where registers.write(value, to: register) {
      if registers.read(register) == value { return true }
    }
    return false
  }

  private static func bcd(_ value: Int64) -> UInt8 { UInt8(value / 10 * 16 + value % 10) }
}
