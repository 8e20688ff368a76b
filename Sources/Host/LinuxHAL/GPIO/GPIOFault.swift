import BoardHardware
import Glibc

/// Why a GPIO line cannot be used. The description says how to fix it.
public enum GPIOFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The board has no GPIO chip at all, or not this one.
  case noChip(path: String)
  /// No chip has a line with this name, or the chip has no line with this offset.
  case noLine(GPIOLine)
  /// Several chips have a line with this name.
  case ambiguous(GPIOLine, chips: [String])
  /// Two lines of the profile are the same line of the board.
  case sameLine(GPIOLine, GPIOLine)
  /// Another program, or a driver of the kernel, holds the line.
  case inUse(GPIOLine, by: String)
  /// This user may not open the chip. `group` is the group with access, if any.
  case notPermitted(path: String, group: String?)
  /// The chip does not support the requested bias, drive or edge detection.
  case unsupported(GPIOLine)
  /// The kernel refused for another reason.
  case refused(GPIOLine, code: Int32)

  /// What is wrong and how to fix it, in one line.
  public var description: String {
    switch self {
    case .noChip(let path):
      "'\(path)' does not exist: the kernel has no driver for this GPIO chip, or the driver is not loaded; "
        + "`gpiodetect` lists the chips of this board; --no-pins runs without GPIO lines"
    case .noLine(let line): GPIOFault.missing(line)
    case .ambiguous(let line, let chips):
      "'\(line.text)' is a line of \(chips.joined(separator: " and of ")): name it by chip and number, "
        + "\(chips.first ?? "gpiochip0"):17"
    case .sameLine(let first, let second):
      "'\(first.text)' and '\(second.text)' are one GPIO line: "
        + "change one of the two keys in the profile to another line"
    case .inUse(let line, "kernel"):
      "GPIO line '\(line.text)' is held by a driver of the kernel: remove that driver from the device tree "
        + "(on a Raspberry Pi a dtoverlay in config.txt), or use another line"
    case .inUse(let line, let holder):
      "GPIO line '\(line.text)' is held by '\(holder)': end that program, or use another line"
    case .notPermitted(let path, let group?):
      "this user may not open '\(path)': add the user to the group '\(group)'"
    case .notPermitted(let path, nil):
      "this user may not open '\(path)': give it a group with a udev rule, and add the user to that group"
    case .unsupported(let line):
      "GPIO line '\(line.text)' cannot be used this way: "
        + "its chip does not support the bias, the drive or edge detection"
    case .refused(let line, let code):
      "GPIO line '\(line.text)' cannot be requested: \(SystemError.reason(code))"
    }
  }

  private static func missing(_ line: GPIOLine) -> String {
    switch line.address {
    case .name(let name):
      "no GPIO line has the name '\(name)': `gpioinfo` lists the names, which the device tree sets with "
        + "gpio-line-names; or name the line by chip and number, gpiochip0:17"
    case .offset(let number, let chip):
      "\(chip) has no line \(number): `gpioinfo \(chip)` lists its lines"
    }
  }
}
