import BoardHardware
import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

/// Behaviour without a chip; `make test-board` tests the lines of a chip.
@Suite("GPIO lines on a board without a GPIO chip", .tags(.realTime))
struct GPIOTests {
  private func fault(_ line: String, in folder: TestFolder) throws -> GPIOFault? {
    let line = try GPIOLine(line)
    do throws(GPIOFault) {
      _ = try GPIOChips(folder: folder.path).find(line)
      return nil
    } catch {
      return error
    }
  }

  @Test("a missing chip is reported with the command that lists the chips")
  func noChip() throws {
    let folder = TestFolder()
    let first = GPIOFault.noChip(path: folder.file("gpiochip0"))
    #expect(try fault("GPIO17", in: folder) == first)
    #expect(try fault("gpiochip0:17", in: folder) == first)
    #expect(first.description.contains("gpiodetect"))
    // A regular file of that name is not a chip.
    folder.write([], to: "gpiochip0")
    #expect(try fault("gpiochip0:17", in: folder) == first)
    #expect(try fault("GPIO17", in: folder) == first)
  }

  @Test("two names for one line are refused, and the error contains both")
  func sameLine() throws {
    var wiring = GPIOWiring()
    wiring.receiverSupply = try GPIOLine("SUPPLY")
    wiring.motion = try GPIOLine("gpiochip0:17")
    let numbers = ["SUPPLY": 17, "gpiochip0:17": 17, "gpiochip0:18": 18]
    let fault = GPIOFault.sameLine(try GPIOLine("SUPPLY"), try GPIOLine("gpiochip0:17"))
    #expect(throws: fault) {
      try wiring.checkDistinct { line throws(GPIOFault) in numbers[line.text] ?? 0 }
    }
    #expect(fault.description.contains("'SUPPLY' and 'gpiochip0:17' are one GPIO line"))
    wiring.motion = try GPIOLine("gpiochip0:18")
    try wiring.checkDistinct { line throws(GPIOFault) in numbers[line.text] ?? 0 }
    var every = GPIOWiring()
    every.receiverWake = try GPIOLine("A")
    every.receiverSupply = try GPIOLine("B")
    every.pulse = try GPIOLine("C")
    every.batch = try GPIOLine("D")
    every.motion = try GPIOLine("E")
    every.lowBattery = try GPIOLine("F")
    every.sessionLight = try GPIOLine("G")
    #expect(every.lines.map(\.text) == ["A", "B", "C", "D", "E", "F", "G"])
  }

  @Test("empty wiring needs no chip, and its pins cannot be driven")
  func nothing() throws {
    let events = try EventWait()
    var pins = try GPIOPins(GPIOWiring(), GPIOChips(folder: "/nonexistent"), in: events)
    #expect(throws: PinFault.notWired) {
      try pins.set(PinCommand(.receiverWake, .active))
    }
    let succeeded = pins.setSessionLight(true)
    #expect(succeeded, "no light is wired")
    pins.rearm()
    #expect(pins.consumeChanges(from: events) == PinChanges())
    pins.prepareForSuspend()
    #expect(pins.consumePulses() == nil)
    var pulsing = GPIOWiring()
    pulsing.pulse = try GPIOLine("PULSE")
    #expect(throws: GPIOFault.noChip(path: "/nonexistent/gpiochip0")) {
      _ = try GPIOPins(pulsing, GPIOChips(folder: "/nonexistent"), in: events)
    }
    var wiring = GPIOWiring()
    wiring.motion = try GPIOLine("MOTION")
    #expect(throws: GPIOFault.self) {
      _ = try GPIOPins(wiring, GPIOChips(folder: "/nonexistent"), in: events)
    }
  }

  @Test("every fault contains a suggestion")
  func suggestions() throws {
    let line = try GPIOLine("GPIO17")
    let all: [(GPIOFault, String)] = [
      (.noLine(line), "gpio-line-names"),
      (.noLine(try GPIOLine("gpiochip3:99")), "gpioinfo gpiochip3"),
      (.ambiguous(line, chips: ["gpiochip0", "gpiochip1"]), "gpiochip0:17"),
      (.inUse(line, by: "kernel"), "dtoverlay"), (.inUse(line, by: "gpsd"), "end that program"),
      (.notPermitted(path: "/dev/gpiochip0", group: "gpio"), "to the group 'gpio'"),
      (.notPermitted(path: "/dev/gpiochip0", group: nil), "udev"),
      (
        .unsupported(line),
        "does not support the bias"
      ), (.refused(line, code: EIO), "Input/output error"),
    ]
    for (fault, part) in all { #expect(fault.description.contains(part), "\(fault)") }
  }

  @Test("PWR-10: charge from a gauge, from a low-battery line, or from both")
  func gauge() {
    let folder = TestFolder()
    _ = unsafe mkdir(folder.file("BAT0"), 0o755)
    var both = BatteryGauge(name: "BAT0", lowCharge: 7, folder: folder.path)
    #expect(both.charge == nil, "the gauge does not exist yet")
    for (text, charge) in [("81\n", 81), ("0", 0), ("100\n", 100)] as [(String, UInt8)] {
      folder.write(Array(text.utf8), to: "BAT0/capacity")
      #expect(both.charge == charge)
    }
    for text in ["", "101", "-1", "x", "5 %"] {
      folder.write(Array(text.utf8), to: "BAT0/capacity")
      #expect(both.charge == nil, "\(text)")
    }
    folder.write(Array("81\n".utf8), to: "BAT0/capacity")
    both.update(isLow: true)
    #expect(both.charge == 7, "the low-battery line takes precedence")
    folder.write(Array("3\n".utf8), to: "BAT0/capacity")
    #expect(both.charge == 3)
    both.update(isLow: false)
    #expect(both.charge == 3)
    folder.write([], to: "BAT0/capacity")
    #expect(both.charge == nil, "a failed reading is not reported as full")
    var alone = BatteryGauge(name: nil, lowCharge: 5)
    #expect(alone.charge == nil)
    alone.update(isLow: false)
    #expect(alone.charge == 100)
    alone.update(isLow: true)
    #expect(alone.charge == 5)
  }
}
