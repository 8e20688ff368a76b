/// Recognises a GPIO line written in the syntax of another tool, so that the error can show the correct text.
///
/// Line names come from device trees and may hold almost any character: `PIN_11`, `[SPI0 CLK]`, `P9_15 [eQEP]`,
/// `7J1 Header Pin12`. Rejected are only texts that no known board uses as a name and texts in which an attribute
/// would become part of the name. The corrected text contains nothing that the input does not give: a placeholder,
/// which is no valid line name, stands for a missing number.
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
    var place = Substring(text)
    var found: [String] = []
    var reason: String?
    var names = ""
    if place.first == "!" {
      reason = "an active-low line is marked with an attribute, not with '!'"
      found.append(GPIOLine.activeLow)
      place = place.drop { $0 == "!" || $0 == " " }
    }
    let cut = ForeignLineSyntax.removeAttributes(&place)
    if reason != nil || cut != nil, place.isEmpty {
      description = GPIOLine.nameRule
      return
    }
    if let cut {
      reason = "attributes follow the name, each after a comma"
      names = "; the attributes are \(GPIOLine.attributeList)"
      found += cut
    }
    if let wrong = ForeignLineSyntax.correctAddress(&place) { reason = reason ?? wrong }
    guard let reason else { return nil }
    for word in attributes {
      if let near = GPIOLine.closestAttribute(to: word), !found.contains(near) {
        found.append(near)
      }
    }
    let corrected = ([String(place)] + found).joined(separator: ", ")
    description = "\(reason), as in \"\(corrected)\"\(names)"
  }

  /// Removes attributes from the end of the text that do not follow a comma; nil if there are none.
  private static func removeAttributes(_ place: inout Substring) -> [String]? {
    if let mark = place.firstIndex(where: { $0 == "?" || $0 == ";" }) {
      let words = place[mark...].split { "?;&, ".contains($0) }
      place = place[..<mark]
      while place.last == " " { place = place.dropLast() }
      return words.compactMap { GPIOLine.closestAttribute(to: $0) }
    }
    var found: [String] = []
    while let cut = removeLastAttribute(&place) { found.insert(cut, at: 0) }
    return found.isEmpty ? nil : found
  }

  /// Removes the last word, or the last two if only both together are an attribute (`active low`).
  private static func removeLastAttribute(_ place: inout Substring) -> String? {
    let words = place.split { $0 == " " || $0 == ":" }
    for count in 1...2 where words.count > count {
      let tail = place[words[words.count - count].startIndex...]
      guard let near = GPIOLine.closestAttribute(to: tail) else { continue }
      place = place[..<words[words.count - count - 1].endIndex]
      return near
    }
    return nil
  }

  /// Converts a number, a path, or a chip and a number with a wrong separator to `gpiochipN:NUMBER`. Returns what was
  /// wrong, or nil if the text is none of these.
  private static func correctAddress(_ place: inout Substring) -> String? {
    func isNumber(_ text: Substring) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }
    if isNumber(place) {
      place = "gpiochip0:" + place
      return "a number alone does not name the chip; a line has a name, as `gpioinfo` shows it, "
        + "or a chip and a number"
    }
    if place.hasPrefix("/dev/") || place.hasPrefix("/sys/") {
      // In /sys/class/gpio the number of a chip is that of its first line, and the number of a
      // line counts across all chips.
      let isNumbered = !place.hasPrefix("/sys/class/gpio/")
      let last = place.split(separator: "/").last ?? ""
      place = isNumbered && last.hasPrefix("gpiochip") ? last : ""
      if !place.contains(":") { _ = correctAddress(&place) }
      if !place.contains(":") {
        let digits = place.dropFirst("gpiochip".count).prefix { $0 >= "0" && $0 <= "9" }
        let chip = digits.isEmpty ? unknownChip : "gpiochip\(digits)"
        place = "\(chip):\(unknownNumber)"
      }
      return "a line is named without a path"
    }
    let digits = place.hasPrefix("gpiochip") ? place.dropFirst("gpiochip".count) : place
    let chip = digits.prefix { $0 >= "0" && $0 <= "9" }
    let remainder = digits.dropFirst(chip.count)
    let isChip = place.hasPrefix("gpiochip")
    guard !chip.isEmpty, let separator = remainder.first, isNumber(remainder.dropFirst()),
      isChip ? " /.-".contains(separator) : separator == ":"
    else { return nil }
    place = "gpiochip\(chip):\(remainder.dropFirst())"
    return "a chip and a number are written with a colon between them"
  }
}
