import BoardHardware
import BoardProfiles
import LinuxHAL

// GPIO: chips, and the lines that the profile names.

extension Doctor {
  mutating func examinePins() {
    guard !options.isUnwired else {
      let lines = leftAlone.isEmpty ? "" : ", nor " + leftAlone.joined(separator: ", ")
      return skip("GPIO chip", "not looked at\(lines): --no-pins was said")
    }
    if skipWithoutProfile("GPIO chip") { return }
    let chips = pins.chips()
    let lines = options.profile?.gpioLines ?? []
    examine(chips, areNeeded: !lines.isEmpty)
    // Without a chip it would be the same of each.
    if !chips.isEmpty { for line in lines { examine(line.text, as: line.name, line.path) } }
  }

  private mutating func examine(_ chips: [String], areNeeded: Bool) {
    guard !chips.isEmpty else {
      guard areNeeded else {
        return skip("GPIO chip", "none is there, and the profile names no line")
      }
      let fault = GPIOFault.noChip(path: files.place("/dev/gpiochip0"))
      return fail("GPIO chip", "none is there", remedy: fault.description)
    }
    var open: [String] = []
    var refused: GPIOFault?
    for chip in chips {
      do throws(GPIOFault) {
        try pins.check(chip)
        open.append(chip)
      } catch {
        refused = refused ?? error
      }
    }
    let text = open.joined(separator: ", ") + ", libgpiod \(GPIOSurvey.library)"
    guard let refused else { return pass("GPIO chip", text) }
    let found = open.isEmpty ? "none can be opened" : "\(text); another cannot be opened"
    if areNeeded { return fail("GPIO chip", found, remedy: refused.description) }
    skip("GPIO chip", "\(found); the profile names no line", hint: refused.description)
  }

  /// A line that is driven is held from when it is driven first, so that a start takes nothing from a receiver.
  private static let takenLater =
    "; torpord runs, and takes a line that it drives when it first does"
  private var isServed: Bool { LineHolders.all(files).contains { $0.name == "torpord" } }

  private mutating func examine(_ text: String, as key: String, _ path: String) {
    do {
      let line = try GPIOLine(text)
      switch try pins.holder(line) {
      case nil: pass(key, "\(text) is there, and free" + (isServed ? Doctor.takenLater : ""))
      case "torpord": pass(key, "\(text) is held by torpord, as it should be")
      case let holder?:
        fail(
          key, "\(text) is held by \(holder == "kernel" ? "a driver of the kernel" : holder)",
          remedy: GPIOFault.inUse(line, by: holder).description)
      }
    } catch let fault as GPIOFault {
      if case .noLine = fault { facts.missingLines.append(path) }
      fail(key, "\(text) cannot be had", remedy: fault.description)
    } catch {
      fail(key, text, remedy: "\(error)")
    }
  }
}
