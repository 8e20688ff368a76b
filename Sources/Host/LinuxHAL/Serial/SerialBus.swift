/// The bus between a serial line and the board.
public enum SerialBus {
  /// Whether a line uses USB or Bluetooth, so that the receiver is an accessory (LOC-8).
  ///
  /// - Parameters:
  ///   - path: The device; links are followed.
  ///   - root: Prefix of `/sys`; empty for the system's own.
  public static func isAccessory(_ path: String, root: String = "") -> Bool {
    let device = SystemFiles.realPath(path) ?? path
    let name = device.split(separator: "/").last.map(String.init) ?? device
    if name.hasPrefix("rfcomm") { return true }
    guard let devicePath = SystemFiles.realPath("\(root)/sys/class/tty/\(name)/device") else {
      return false
    }
    // In /sys a USB device is below its bus: /sys/devices/…/usb1/1-1/1-1:1.0/tty/ttyACM0.
    return devicePath.dropFirst(root.count).split(separator: "/").contains { part in
      let number = part.dropFirst(3)
      return part.hasPrefix("usb") && !number.isEmpty && number.allSatisfy(\.isNumber)
    }
  }
}
