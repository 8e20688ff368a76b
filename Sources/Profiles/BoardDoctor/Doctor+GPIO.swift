import BoardHardware
import BoardProfiles
import LinuxHAL

// Checks of GPIO: the chips, and the lines in the profile.

extension Doctor {
  mutating func examineGPIO() {
    guard !options.excludesGPIO else {
      let lines =
        excludedLines.isEmpty
        ? ""
        : "; excluded lines: " + excludedLines.joined(separator: ", ")
      return skip("GPIO chip", "not checked because of --no-pins\(lines)")
    }
    if skipWithoutProfile("GPIO chip") { return }
    let chips = gpio.chips()
    let lines = options.profile?.gpioLines ?? []
    examine(chips, areNeeded: !lines.isEmpty)
    // Without a chip, each line would fail for the same reason.
    if !chips.isEmpty { for line in lines { examine(line.text, as: line.name, line.path) } }
  }

  private mutating func examine(_ chips: [String], areNeeded: Bool) {
    guard !chips.isEmpty else {
      guard areNeeded else {
        return skip("GPIO chip", "there is no GPIO chip, and the profile names no line")
      }
      let fault = GPIOFault.noChip(path: files.fullPath("/dev/gpiochip0"))
      return fail("GPIO chip", "there is no GPIO chip", suggestion: fault.description)
    }
    var openable: [String] = []
    var firstFault: GPIOFault?
    for chip in chips {
      do throws(GPIOFault) {
        try gpio.check(chip)
        openable.append(chip)
      } catch {
        firstFault = firstFault ?? error
      }
    }
    let text = openable.joined(separator: ", ") + ", libgpiod \(GPIOSurvey.libraryVersion)"
    guard let firstFault else { return pass("GPIO chip", text) }
    let found =
      openable.isEmpty
      ? "no GPIO chip can be opened"
      : "\(text); another chip cannot be opened"
    if areNeeded { return fail("GPIO chip", found, suggestion: firstFault.description) }
    skip("GPIO chip", "\(found); the profile names no line", hint: firstFault.description)
  }

  /// torpord requests an output line when it first drives it, so that its start does not change the receiver's
  /// supply.
  private static let requestedLaterRemark =
    "; torpord is running and requests an output line when it first drives it"

  private mutating func examine(_ text: String, as key: String, _ path: String) {
    do {
      let line = try GPIOLine(text)
      switch try gpio.holder(line) {
      case nil:
        pass(
          key, "\(text) exists and is free" + (service == nil ? "" : Doctor.requestedLaterRemark))
      case "torpord": pass(key, "\(text) is held by torpord, as it should be")
      case let holder?:
        fail(
          key, "\(text) is held by \(holder == "kernel" ? "a kernel driver" : holder)",
          suggestion: GPIOFault.inUse(line, by: holder).description)
      }
    } catch let fault as GPIOFault {
      if case .noLine = fault { facts.missingLines.append(path) }
      fail(key, "\(text) cannot be used", suggestion: fault.description)
    } catch {
      fail(key, text, suggestion: "\(error)")
    }
  }
}
