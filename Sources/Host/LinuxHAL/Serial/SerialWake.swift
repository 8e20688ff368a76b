/// Whether a byte on a serial line ends a suspend: `/sys/class/tty/ttyS0/power/wakeup`.
struct SerialWake {
  private let files: KernelFiles
  /// nil if the device has no such file.
  private let path: String?

  /// - Parameter device: Device of the line, or a link to it.
  init(_ device: String, _ files: KernelFiles) {
    self.files = files
    let name = SystemFiles.realPath(device) ?? device
    let path = "/sys/class/tty/\(name.split(separator: "/").last ?? "")/power/wakeup"
    self.path = files.exists(path) ? path : nil
  }

  /// Enables or disables the wakeup, if it is not already.
  ///
  /// - Returns: Path of the file if that fails; nil on success. A device without the file wakes nothing.
  func set(_ isOn: Bool) -> String? {
    guard let path else { return isOn ? "power/wakeup" : nil }
    let word = isOn ? "enabled" : "disabled"
    if files.read(path) == word { return nil }
    return files.write(word, to: path) == 0 ? nil : path
  }
}
