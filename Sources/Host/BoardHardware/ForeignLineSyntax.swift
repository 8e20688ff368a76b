/// Recognises a GPIO line written in the syntax of another tool, so that the error can show the correct text.
///
/// Line names come from device trees and may hold almost any character: `PIN_11`, `[SPI0 CLK]`, `P9_15 [eQEP]`,
/// `7J1 Header Pin12`. Only two kinds of text are rejected: those that no known board uses as a name, and those in
/// which an attribute would become part of the name. For a number alone, the corrected text assumes `gpiochip0`.
/// Otherwise it contains nothing that the input does not give: a placeholder, with which the text is no valid line,
/// replaces a missing chip or number.
struct ForeignLineSyntax {
  /// Placeholder for the offset when the text names only a chip.
  private static let unknownNumber = "NUMBER"
  /// Placeholder for the chip when the text does not name it.
  private static let unknownChip = "gpiochipN"

  /// What is wrong, and the corrected line with its attributes.
  let description: String

  /// Recognises the part of a line's text before the first comma.
  ///
  /// - Parameters:
  ///   - text: That part, without surrounding spaces.
  ///   - attributes: The parts after commas.
  /// - Returns: nil if the text may be a line name.
  init?(_ text: String, attributes: [String]) {
    var address = Substring(text)
    var found: [String] = []
    var reason: String?
    var attributeHint = ""
    if address.first == "!" {
      reason = "an active-low line is marked with an attribute, not with '!'"
      found.append(GPIOLine.activeLow)
      address = address.drop { $0 == "!" || $0 == " " }
    }
    let removed = ForeignLineSyntax.removeAttributes(&address)
    if reason != nil || removed != nil, address.isEmpty {
      description = GPIOLine.nameRule
      return
    }
    if let removed {
      reason = "attributes follow the name, each after a comma"
      attributeHint = "; the attributes are \(GPIOLine.attributeList)"
      found += removed
    }
    if let problem = ForeignLineSyntax.correctAddress(&address) { reason = reason ?? problem }
    guard let reason else { return nil }
    for word in attributes {
      if let attribute = GPIOLine.closestAttribute(to: word), !found.contains(attribute) {
        found.append(attribute)
      }
    }
    let corrected = ([String(address)] + found).joined(separator: ", ")
    description = "\(reason), as in \"\(corrected)\"\(attributeHint)"
  }

  /// Removes attributes at the end of the text that are not separated by commas; nil if there are none.
  private static func removeAttributes(_ address: inout Substring) -> [String]? {
    if let mark = address.firstIndex(where: { $0 == "?" || $0 == ";" }) {
      let words = address[mark...].split { "?;&, ".contains($0) }
      address = address[..<mark]
      while address.last == " " { address = address.dropLast() }
      return words.compactMap { GPIOLine.closestAttribute(to: $0) }
    }
    var found: [String] = []
    while let removed = removeLastAttribute(&address) { found.insert(removed, at: 0) }
    return found.isEmpty ? nil : found
  }

  /// Removes the last word, or the last two if only both together are an attribute (`active low`).
  private static func removeLastAttribute(_ address: inout Substring) -> String? {
    let words = address.split { $0 == " " || $0 == ":" }
    for count in 1...2 where words.count > count {
      let tail = address[words[words.count - count].startIndex...]
      guard let attribute = GPIOLine.closestAttribute(to: tail) else { continue }
      address = address[..<words[words.count - count - 1].endIndex]
      return attribute
    }
    return nil
  }

  /// Converts a number, a path, or a chip and a number with a wrong separator to `gpiochipN:NUMBER`. Returns what was
  /// wrong, or nil if the text is none of these.
  private static func correctAddress(_ address: inout Substring) -> String? {
    func isNumber(_ text: Substring) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }
    if isNumber(address) {
      address = "gpiochip0:" + address
      return "a number alone does not name the chip; a line has a name, as `gpioinfo` shows it, "
        + "or a chip and a number"
    }
    if address.hasPrefix("/dev/") || address.hasPrefix("/sys/") {
      // In /sys/class/gpio the number of a chip is that of its first line, and the number of a
      // line counts across all chips.
      let isNumbered = !address.hasPrefix("/sys/class/gpio/")
      let last = address.split(separator: "/").last ?? ""
      address = isNumbered && last.hasPrefix("gpiochip") ? last : ""
      if !address.contains(":") { _ = correctAddress(&address) }
      if !address.contains(":") {
        let digits = address.dropFirst("gpiochip".count).prefix { $0 >= "0" && $0 <= "9" }
        let chip = digits.isEmpty ? unknownChip : "gpiochip\(digits)"
        address = "\(chip):\(unknownNumber)"
      }
      return "a line is named without a path"
    }
    let digits = address.hasPrefix("gpiochip") ? address.dropFirst("gpiochip".count) : address
    let chip = digits.prefix { $0 >= "0" && $0 <= "9" }
    let remainder = digits.dropFirst(chip.count)
    let isChip = address.hasPrefix("gpiochip")
    guard !chip.isEmpty, let separator = remainder.first, isNumber(remainder.dropFirst()),
      isChip ? " /.-".contains(separator) : separator == ":"
    else { return nil }
    address = "gpiochip\(chip):\(remainder.dropFirst())"
    return "a chip and a number are written with a colon between them"
  }
}
