import Glibc

/// Whether a byte on a serial line ends a suspend: `/sys/class/tty/ttyS0/power/wakeup`.
struct SerialWake {
  private let files: KernelFiles
  /// nil for a device that has no such switch.
  private let path: String?

  /// - Parameter device: The line's device, or a link to it.
  init(_ device: String, _ files: KernelFiles) {
    self.files = files
    var name = device
    if let real = unsafe realpath(device, nil) {
      name = unsafe String(cString: real)
      unsafe free(real)
    }
    let path = "/sys/class/tty/\(name.split(separator: "/").last ?? "")/power/wakeup"
    self.path = files.exists(path) ? path : nil
  }

  /// Makes it so, if it is not.
  ///
  /// - Returns: The file that does not obey; nil if all is well. A device without a switch wakes nobody.
  func set(_ isOn: Bool) -> String? {
    guard let path else { return isOn ? "power/wakeup" : nil }
    let word = isOn ? "enabled" : "disabled"
    if files.read(path) == word { return nil }
    return files.write(word, to: path) == 0 ? nil : path
  }
}
