import CLinux
import Glibc
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Connection of a serial line") struct SerialBusTests {
  private let folder = TestFolder()

  /// Creates a device file with its entry in `/sys`, and returns the device's path.
  private func device(_ name: String, at location: String) -> String {
    folder.makeFolders("sys/devices/\(location)")
    folder.makeFolders("sys/class/tty/\(name)")
    folder.write([], to: name)
    #expect(
      unsafe symlink(
        "\(folder.path)/sys/devices/\(location)", folder.file("sys/class/tty/\(name)/device")) == 0)
    return folder.file(name)
  }

  @Test("a line gets the given speed; without one it keeps its own")
  func lineSpeeds() {
    let terminal = Terminal()
    let descriptor = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
    defer { close(descriptor) }
    for baud: UInt32 in [4_800, 9_600, 115_200, 4_000_000] {
      #expect(clinux_line_configure(descriptor, baud) == 0)
      #expect(clinux_line_configure(descriptor, 0) == 0)
      #expect(clinux_line_speed(descriptor) == Int64(baud))
    }
  }

  @Test("LOC-8: a receiver on USB or Bluetooth is an accessory; one on a UART is not")
  func accessory() {
    let usb = device("ttyACM0", at: "platform/soc/xhci/usb1/1-1/1-1:1.0")
    #expect(SerialBus.isAccessory(usb, root: folder.path))
    #expect(unsafe symlink("ttyACM0", folder.file("gps0")) == 0)
    #expect(SerialBus.isAccessory(folder.file("gps0"), root: folder.path), "through a link")
    let port = device("ttyAMA0", at: "platform/soc/usbless/uart0")
    #expect(!SerialBus.isAccessory(port, root: folder.path))
    folder.write([], to: "rfcomm0")
    #expect(SerialBus.isAccessory(folder.file("rfcomm0"), root: folder.path))
    #expect(!SerialBus.isAccessory("/dev/pts/0", root: folder.path))
  }
}
