/// A text that is written in another tool's syntax: recognised so that the error gives the right one.
///
/// Names of lines come from device trees, and hold what their authors liked: `PIN_11`, `[SPI0 CLK]`,
/// `P9_15 [eQEP]`, `7J1 Header Pin12`. Refused is only what no board is known to use as a name, and
/// what would hide an attribute in the name. The right line has nothing that the text does not give: in the place of a
/// number that is not there it has a placeholder, which no line is named by.
struct ForeignLineSyntax {
  /// Where a text names a chip and no line on it.
  private static let unknownNumber = "NUMBER"
  /// Where it does not name the chip.
  private static let unknownChip = "gpiochipN"

  /// What is wrong with it, and the line with its attributes as this library writes them.
  let description: String

  /// Recognises the text before the first comma.
  ///
  /// - Parameters:
  ///   - text: That text, without spaces around it.
  ///   - attributes: What stands behind commas.
  /// - Returns: nil for what may be a name.
  init?(_ text: String, attributes: [String]) {
    var place = Substring(text)
    var found: [String] = []
    var reason: String?
    var names = ""
    if place.first == "!" {
      reason = "a line that is active low has an attribute and no '!'"
      found.append(GPIOLine.activeLow)
      place = place.drop { $0 == "!" || $0 == " " }
    }
    let cut = ForeignLineSyntax.cutAttributes(&place)
    if reason != nil || cut != nil, place.isEmpty {
      description = GPIOLine.nameRule
      return
    }
    if let cut {
      reason = "attributes follow the name, each after a comma"
      names = "; there are \(GPIOLine.attributeList)"
      found += cut
    }
    if let wrong = ForeignLineSyntax.correctPlace(&place) { reason = reason ?? wrong }
    guard let reason else { return nil }
    for word in attributes {
      if let near = GPIOLine.attribute(near: word), !found.contains(near) { found.append(near) }
    }
    let corrected = ([String(place)] + found).joined(separator: ", ")
    description = "\(reason), as in \"\(corrected)\"\(names)"
  }

  /// Takes attributes that are not behind a comma from the text's end; nil where there are none.
  private static func cutAttributes(_ place: inout Substring) -> [String]? {
    if let mark = place.firstIndex(where: { $0 == "?" || $0 == ";" }) {
      let words = place[mark...].split { "?;&, ".contains($0) }
      place = place[..<mark]
      while place.last == " " { place = place.dropLast() }
      return words.compactMap { GPIOLine.attribute(near: $0) }
    }
    var found: [String] = []
    while let cut = cutAttribute(&place) { found.insert(cut, at: 0) }
    return found.isEmpty ? nil : found
  }

  /// Takes the last word, or the last two where only both are an attribute (`active low`).
  private static func cutAttribute(_ place: inout Substring) -> String? {
    let words = place.split { $0 == " " || $0 == ":" }
    for count in 1...2 where words.count > count {
      let tail = place[words[words.count - count].startIndex...]
      guard let near = GPIOLine.attribute(near: tail) else { continue }
      place = place[..<words[words.count - count - 1].endIndex]
      return near
    }
    return nil
  }

  /// Makes a place of a number, a path, or a chip and a number with another separator; says what was
  /// wrong, or nil where nothing was.
  private static func correctPlace(_ place: inout Substring) -> String? {
    func isNumber(_ text: Substring) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }
    if isNumber(place) {
      place = "gpiochip0:" + place
      return "a number alone does not name the chip; a line has a name, as `gpioinfo` shows it, "
        + "or a chip and a number"
    }
    if place.hasPrefix("/dev/") || place.hasPrefix("/sys/") {
      // There a chip is numbered by its first line, and a line across all chips.
      let isNumbered = !place.hasPrefix("/sys/class/gpio/")
      let last = place.split(separator: "/").last ?? ""
      place = isNumbered && last.hasPrefix("gpiochip") ? last : ""
      if !place.contains(":") { _ = correctPlace(&place) }
      if !place.contains(":") {
        let digits = place.dropFirst("gpiochip".count).prefix { $0 >= "0" && $0 <= "9" }
        let chip = digits.isEmpty ? unknownChip : "gpiochip\(digits)"
        place = "\(chip):\(unknownNumber)"
      }
      return "a line is named without a path"
    }
    let digits = place.hasPrefix("gpiochip") ? place.dropFirst("gpiochip".count) : place
    let chip = digits.prefix { $0 >= "0" && $0 <= "9" }
    let rest = digits.dropFirst(chip.count)
    let isChip = place.hasPrefix("gpiochip")
    guard !chip.isEmpty, let separator = rest.first, isNumber(rest.dropFirst()),
      isChip ? " /.-".contains(separator) : separator == ":"
    else { return nil }
    place = "gpiochip\(chip):\(rest.dropFirst())"
    return "a chip and a number are written with a colon between them"
  }
}
