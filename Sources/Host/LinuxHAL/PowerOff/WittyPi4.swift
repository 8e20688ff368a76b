import CLinux
import Glibc
import LocationTypes

// UUGear's Witty Pi 4 as the alarm of `BoardPowerOff`, and access to its registers.

/// One-byte registers of a device on an I²C bus.
protocol ByteRegisters {
  /// Value of a register; nil if the device does not answer.
  func read(_ register: UInt8) -> UInt8?
  /// Writes a register; returns whether the device acknowledged it.
  func write(_ value: UInt8, to register: UInt8) -> Bool
}

/// A device on an I²C bus of the kernel, `/dev/i2c-1`.
///
/// A register is read in one transfer with a repeated start. The Witty Pi interprets a register number followed by a
/// stop as the start of a write, and would write undefined data into its clock.
final class I2CDevice: ByteRegisters {
  private let descriptor: Int32
  private let address: UInt16

  /// Opens the bus; nil on failure.
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

/// UUGear's Witty Pi 4: a HAT that cuts the board's supply after shutdown and restores it at an alarm. Source: its
/// firmware, revision 5.
///
/// The alarm is a day of the month and a time of day on the HAT's own clock, in any time zone. The firmware compares
/// it once a second, and skips an alarm that is set more than two seconds after its time.
struct WittyPi4: PowerOnAlarm {
  static let address: UInt16 = 0x08
  /// Value of register 0 on this model.
  static let identity: UInt8 = 0x26
  /// Register numbers; times are in BCD, seconds first.
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
  /// Maximum interval: a later day of the month would be ambiguous in short months.
  static let maximumInterval = Interval.seconds(27 * 86_400)

  private let registers: any ByteRegisters

  /// - Returns: nil if the device does not answer, or is another model.
  init?(_ registers: any ByteRegisters) {
    guard registers.read(Register.identity) == WittyPi4.identity else { return nil }
    self.registers = registers
  }

  var name: String { "the Witty Pi 4" }

  var time_s: Int64? { now.map { $0.microseconds / 1_000_000 } }

  /// No other program uses this alarm, so there is nothing to restore.
  var setting: Int64? { nil }

  func set(in interval: Interval, minimumDistance: Interval) -> Int32 {
    guard let now else { return EIO }
    let seconds = max(
      2, (min(interval, WittyPi4.maximumInterval).microseconds + 999_999) / 1_000_000)
    let moment = now + .seconds(seconds)
    let secondsOfDay = moment.microsecondsOfDay / 1_000_000
    let time = [
      secondsOfDay % 60, secondsOfDay / 60 % 60, secondsOfDay / 3_600, Int64(moment.date.day),
    ]
    guard writeVerified(0, to: Register.alarmFlag) else { return EIO }
    for (index, part) in time.enumerated() {
      guard writeVerified(WittyPi4.bcd(part), to: Register.alarm + UInt8(index)) else { return EIO }
    }
    return 0
  }

  func restore(_ before: Int64?) {
    for index in 0..<4 { _ = writeVerified(0, to: Register.alarm + UInt8(index)) }
  }

  /// Start reason 1 is the alarm, 8 the alarm after it had to wait for the power-off.
  var hasPoweredOn: Bool? { registers.read(Register.reason).map { $0 == 1 || $0 == 8 } }

  /// Time of its clock, interpreted as UTC; nil if it cannot be read or is invalid.
  private var now: UTCTime? {
    // The registers may change between the reads: repeat if the seconds overflowed.
    for _ in 0..<3 {
      guard let first = decimalValue(Register.seconds, mask: 0x7F),
        let minutes = decimalValue(Register.minutes),
        let hours = decimalValue(Register.hours), let day = decimalValue(Register.day),
        let month = decimalValue(Register.month), let year = decimalValue(Register.year),
        let last = decimalValue(Register.seconds, mask: 0x7F)
      else { return nil }
      guard last >= first else { continue }
      guard let date = CalendarDate(year: 2_000 + year, month: month, day: day), hours < 24,
        minutes < 60, last < 60
      else { return nil }
      return date.start + .seconds(Int64(hours * 3_600 + minutes * 60 + last))
    }
    return nil
  }

  private func decimalValue(_ register: UInt8, mask: UInt8 = 0xFF) -> Int? {
    registers.read(register).map { Int(($0 & mask) >> 4) * 10 + Int($0 & mask & 0x0F) }
  }

  /// Writes a register and reads it back, as the manufacturer's programs do.
  private func writeVerified(_ value: UInt8, to register: UInt8) -> Bool {
    for _ in 0..<3 where registers.write(value, to: register) {
      if registers.read(register) == value { return true }
    }
    return false
  }

  private static func bcd(_ value: Int64) -> UInt8 { UInt8(value / 10 * 16 + value % 10) }
}
