import BoardHardware
import TestSupport
import Testing

@Suite("Text form of a GPIO line")
struct GPIOLineTests {
  private func reason(_ text: String) -> String? {
    do throws(GPIOLineError) {
      _ = try GPIOLine(text)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("a line is addressed by its name, or by chip and number")
  func addresses() throws {
    #expect(try GPIOLine("GPIO17").address == .name("GPIO17"))
    #expect(try GPIOLine("gpiochip12:4294967295").address == .offset(.max, chip: "gpiochip12"))
    #expect(try GPIOLine("  a name ").address == .name("a name"))
    #expect(try GPIOLine("gpiochipless").address == .name("gpiochipless"))
    let plain = try GPIOLine("GPIO17")
    #expect(!plain.isActiveLow && plain.bias == nil && plain.drive == nil)
  }

  @Test("attributes follow after commas, in any order")
  func wiring() throws {
    let line = try GPIOLine("gpiochip0:3 ,open-drain, active-low,pull-up")
    #expect(line.isActiveLow && line.bias == .pullUp && line.drive == .openDrain)
    #expect(line.text == "gpiochip0:3, active-low, pull-up, open-drain")
  }

  @Test("parsing the text of a line gives the same line")
  func roundTrip() throws {
    for isActiveLow in [false, true] {
      for bias in [nil] + GPIOLine.Bias.allCases.map(Optional.some) {
        for drive in [nil] + GPIOLine.Drive.allCases.map(Optional.some) {
          var line = GPIOLine(.offset(7, chip: "gpiochip1"))
          line.isActiveLow = isActiveLow
          line.bias = bias
          line.drive = drive
          #expect(try GPIOLine(line.text) == line)
        }
      }
    }
  }

  @Test(
    "names from device trees are accepted with any punctuation",
    arguments: [
      "PIN_11", "ID_SDA", "[SPI0 CLK]", "P9_15 [eQEP1_index]", "7J1 Header Pin12", "GPIO-A", "NC",
      "SENSOR_ACTIVE_LOW", "VCC:EN", "nRESET", "/RESET", "J2 1:2", "gpiochipless", "17A",
    ])
  func names(_ name: String) throws {
    #expect(try GPIOLine(name + ", pull-up").address == .name(name))
  }

  @Test(
    "the syntax of another tool is refused with a suggestion in this syntax",
    arguments: [
      ("GPIO17 active-lwo", "GPIO17, active-low"), ("GPIO17:active-low", "GPIO17, active-low"),
      ("GPIO17:active-lwo", "GPIO17, active-low"), ("GPIO17?active-lwo", "GPIO17, active-low"),
      ("GPIO17 active low", "GPIO17, active-low"), ("GPIO17 ACTIVE_LOW", "GPIO17, active-low"),
      ("GPIO17: active-low pull-up", "GPIO17, active-low, pull-up"),
      ("GPIO17 active-low, pull-up", "GPIO17, active-low, pull-up"),
      ("[SPI0 CLK] pullup", "[SPI0 CLK], pull-up"), ("!GPIO17", "GPIO17, active-low"),
      ("!gpiochip1:17, pull-up", "gpiochip1:17, active-low, pull-up"), ("17", "gpiochip0:17"),
      ("!17", "gpiochip0:17, active-low"), ("17, active-low", "gpiochip0:17, active-low"),
      ("/dev/gpiochip1:17", "gpiochip1:17"), ("/dev/gpiochip1 17", "gpiochip1:17"),
      ("gpiochip1 17", "gpiochip1:17"), ("gpiochip1/17", "gpiochip1:17"), ("1:17", "gpiochip1:17"),
      ("gpiochip1:17:active-low", "gpiochip1:17, active-low"),
    ])
  func foreign(_ text: String, _ right: String) throws {
    let reported = try #require(reason(text))
    #expect(reported.contains(", as in \"\(right)\""), "\(reported)")
    #expect(reason(right) == nil, "\(right)")
  }

  @Test(
    "the suggested line contains only what the text contains",
    arguments: [
      ("/dev/gpiochip4", "gpiochip4:NUMBER"),
      ("/sys/bus/gpio/devices/gpiochip4", "gpiochip4:NUMBER"),
      ("/dev/gpiochip", "gpiochipN:NUMBER"), ("/sys/class/gpio/gpio4", "gpiochipN:NUMBER"),
      ("/sys/class/gpio/gpiochip512", "gpiochipN:NUMBER"),
      ("!/dev/gpiochip4, pull-up", "gpiochip4:NUMBER, active-low, pull-up"), ("GPIO22;", "GPIO22"),
      ("GPIO22?foo", "GPIO22"), ("GPIO22 ?foo, pull-up", "GPIO22, pull-up"),
      ("!GPIO22?foo", "GPIO22, active-low"), ("GPIO22;foo;pull-up", "GPIO22, pull-up"),
    ])
  func nothingInvented(_ text: String, _ right: String) throws {
    let reported = try #require(reason(text))
    #expect(reported.contains(", as in \"\(right)\""), "\(reported)")
    #expect((reason(right) == nil) == !right.contains("NUMBER"), "a placeholder names no line")
  }

  @Test(
    "an empty address is refused as an empty name, with any attributes",
    arguments: ["!", "! ", "!, pull-up", "?active-low", ";", "!;"])
  func emptyAddress(_ text: String) {
    #expect(reason(text)?.hasPrefix("a line's name has 1 to 31 bytes") == true)
  }

  @Test(
    "an invalid line is refused with the reason and the valid forms",
    arguments: [
      ("", "a line's name has 1 to 31 bytes"), (",active-low", "a line's name has 1 to 31 bytes"),
      ("A2345678901234567890123456789012", "a line's name has 1 to 31 bytes"),
      ("a\tb", "a line's name has 1 to 31 bytes"),
      ("gpiochip0:", "should be a chip and a number"), ("gpiochip:1", "should be a chip"),
      ("gpiochip0:-1", "should be a chip"), ("gpiochip0:4294967296", "should be a chip"),
      ("gpiochip0x:1", "should be a chip"),
      ("GPIO17,", "'' is no attribute of a line; the attributes are active-low, pull-up"),
      (
        "GPIO17, active-lwo",
        "'active-lwo' is no attribute of a line; did you mean active-low? The attributes are active-low, pull-up, pull-down, no-bias, open-drain, open-source"
      ),
      ("GPIO17, active-low, active-low", "'active-low' is one attribute too many"),
      ("GPIO17, pull-up, pull-down", "'pull-down' is one attribute too many"),
      ("GPIO17, open-drain, open-source", "each given once"),
      (
        "GPIO17?active-low",
        "each after a comma, as in \"GPIO17, active-low\"; the attributes are active-low"
      ),
      ("GPIO17?active-lwo", "each after a comma"),
      ("GPIO17 active-low", "as in \"GPIO17, active-low\""),
      ("GPIO17;pull-up", "each after a comma"), ("GPIO17:active-low", "each after a comma"),
      ("gpiochip0:5?bias=pull-up", "as in \"gpiochip0:5, pull-up\""),
      (
        "GPIO17, upside-down",
        "'upside-down' is no attribute of a line; the attributes are active-low"
      ),
      ("GPIO17, GPIO_ACTIVE_LOW", "did you mean active-low?"),
    ])
  func refused(_ text: String, _ part: String) {
    #expect(reason(text)?.contains(part) == true, "\(reason(text) ?? "accepted")")
  }
}
