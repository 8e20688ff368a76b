/// Texts from the kernel that other programs may have chosen, such as their own names.
public enum KernelText {
  /// The text with control characters replaced by `?`, so that it cannot send commands to a terminal.
  public static func printable(_ bytes: some Sequence<UInt8>) -> String {
    let text = String(decoding: Array(bytes), as: UTF8.self)
    var all = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // NUL, newline and tab separate words and are kept.
      let isSeparator = scalar.value == 0 || scalar.value == 0x0A || scalar.value == 0x09
      all.append(isControl && !isSeparator ? "?" : scalar)
    }
    return String(all)
  }
}
