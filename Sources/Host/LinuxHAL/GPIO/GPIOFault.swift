import BoardHardware
import Glibc

/// Why a GPIO line could not be had, and what to do about it.
public enum GPIOFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The board has no GPIO chip at all, or not that one.
  case noChip(path: String)
  /// No chip has a line of that name, or the chip no such number.
  case noLine(GPIOLine)
  /// Two chips have a line of that name.
  case ambiguous(GPIOLine, chips: [String])
  /// Two names of the profile are one line.
  case sameLine(GPIOLine, GPIOLine)
  /// Another program holds it, or a driver of the kernel's.
  case inUse(GPIOLine, by: String)
  /// This user may not open the chip; the group whose members may, if there is one.
  case notPermitted(path: String, group: String?)
  /// The chip cannot do what the profile asks of the line: a bias, a drive, edges.
  case unsupported(GPIOLine)
  /// The kernel refused for another reason.
  case refused(GPIOLine, code: Int32)

  /// What is wrong and what helps, in one line.
  public var description: String {
    switch self {
    case .noChip(let path):
      "there is no '\(path)': this kernel has no driver for such a GPIO chip, or it is not loaded; "
        + "`gpiodetect` lists those that are there; --no-pins does without"
    case .noLine(let line): GPIOFault.missing(line)
    case .ambiguous(let line, let chips):
      "'\(line.text)' is a line of \(chips.joined(separator: " and of ")): name it by chip and number, "
        + "\(chips.first ?? "gpiochip0"):17"
    case .sameLine(let first, let second):
      "'\(first.text)' and '\(second.text)' are one GPIO line: name another one for one of the two keys of the profile"
    case .inUse(let line, "kernel"):
      "GPIO line '\(line.text)' is held by a driver of the kernel: take it out of the device tree "
        + "(on a Raspberry Pi a dtoverlay of config.txt), or use another line"
    case .inUse(let line, let holder):
      "GPIO line '\(line.text)' is held by '\(holder)': end that program, or use another line"
    case .notPermitted(let path, let group?):
      "'\(path)' may not be opened by this user: add the user to the group '\(group)'"
    case .notPermitted(let path, nil):
      "'\(path)' may not be opened by this user: give it a group with a udev rule, and add the user"
    case .unsupported(let line):
      "GPIO line '\(line.text)' cannot be used as that: its chip lacks the bias, the drive, or edges"
    case .refused(let line, let code):
      "GPIO line '\(line.text)' cannot be had: \(SystemError.reason(code))"
    }
  }

  private static func missing(_ line: GPIOLine) -> String {
    switch line.place {
    case .name(let name):
      "no GPIO line is called '\(name)': `gpioinfo` has the names; the device tree gives them with "
        + "gpio-line-names; or name it by chip and number, gpiochip0:17"
    case .offset(let number, let chip):
      "\(chip) has no line \(number): `gpioinfo \(chip)` lists those that it has"
    }
  }
}
