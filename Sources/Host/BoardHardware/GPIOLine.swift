/// A GPIO line as a profile names it: its address and its wiring.
///
/// The text is `GPIO17` or `gpiochip0:17`, followed by attributes, each after a comma: `active-low`; one of `pull-up`,
/// `pull-down`, `no-bias`; one of `open-drain`, `open-source`.
public struct GPIOLine: Hashable, Sendable {
  /// How the line is addressed.
  public enum Address: Hashable, Sendable {
    /// By the name from the device tree or the firmware, on any chip.
    case name(String)
    /// By offset on a chip; `chip` is the device's name without `/dev/`.
    case offset(UInt32, chip: String)
  }

  /// Bias of an input that nothing drives.
  public enum Bias: String, CaseIterable, Sendable {
    /// A pull-up resistor, towards the supply.
    case pullUp = "pull-up"
    /// A pull-down resistor, towards ground.
    case pullDown = "pull-down"
    /// Bias disabled.
    case disabled = "no-bias"
  }

  /// How an output is driven, if not push-pull.
  public enum Drive: String, CaseIterable, Sendable {
    /// Driven low or left floating.
    case openDrain = "open-drain"
    /// Driven high or left floating.
    case openSource = "open-source"
  }

  /// Address of the line.
  public var address: Address
  /// Whether a low voltage means active.
  public var isActiveLow = false
  /// Bias; nil leaves it unchanged.
  public var bias: Bias?
  /// Drive; nil is push-pull.
  public var drive: Drive?

  /// Creates an active-high push-pull line with unchanged bias.
  public init(_ address: Address) { self.address = address }

  /// The shortest text that names the line.
  public var text: String {
    var text =
      switch address {
      case .name(let name): name
      case .offset(let number, let chip): "\(chip):\(number)"
      }
    if isActiveLow { text += ", \(GPIOLine.activeLow)" }
    if let bias { text += ", \(bias.rawValue)" }
    if let drive { text += ", \(drive.rawValue)" }
    return text
  }

  static let activeLow = "active-low"
}

/// An error in the text of a line.
public struct GPIOLineError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong and how to correct it.
  public var description: String
}

extension GPIOLine {
  /// Maximum length of a line's name in bytes, as in the kernel.
  public static let maximumNameLength = 31

  /// Parses the text of a line.
  ///
  /// - Throws: `GPIOLineError`.
  public init(_ text: String) throws(GPIOLineError) {
    var parts = text.split(separator: ",", omittingEmptySubsequences: false).map(GPIOLine.trimmed)
    let addressText = parts.removeFirst()
    if let foreign = ForeignLineSyntax(addressText, attributes: parts) {
      throw GPIOLineError(description: foreign.description)
    }
    self.init(try GPIOLine.parseAddress(addressText))
    for word in parts { try addAttribute(word) }
  }

  private static func parseAddress(_ text: String) throws(GPIOLineError) -> Address {
    if text.hasPrefix("gpiochip"), let colon = text.firstIndex(of: ":") {
      let chip = String(text[..<colon])
      let number = text[text.index(after: colon)...]
      guard chip.utf8.dropFirst("gpiochip".utf8.count).allSatisfy({ $0 >= 48 && $0 <= 57 }),
        chip.utf8.count > "gpiochip".utf8.count, chip.utf8.count <= maximumNameLength,
        number.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let offset = UInt32(number)
      else {
        throw GPIOLineError(description: "'\(text)' should be a chip and a number: gpiochip0:17")
      }
      return .offset(offset, chip: chip)
    }
    guard (1...maximumNameLength).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 > 31 && $0 != 127 })
    else {
      throw GPIOLineError(description: nameRule)
    }
    return .name(text)
  }

  static var nameRule: String {
    "a line's name has 1 to \(maximumNameLength) bytes, as `gpioinfo` prints it"
  }

  static var attributeList: String { attributes.joined(separator: ", ") }

  private mutating func addAttribute(_ word: String) throws(GPIOLineError) {
    if word == GPIOLine.activeLow, !isActiveLow {
      isActiveLow = true
    } else if let new = Bias(rawValue: word), bias == nil {
      bias = new
    } else if let new = Drive(rawValue: word), drive == nil {
      drive = new
    } else {
      guard !GPIOLine.attributes.contains(word) else {
        throw GPIOLineError(
          description:
            "'\(word)' is one attribute too many: a line has at most one bias and one "
            + "drive, each given once")
      }
      let suggestion =
        GPIOLine.closestAttribute(to: word).map {
          "did you mean \($0)? The attributes"
        } ?? "the attributes"
      throw GPIOLineError(
        description:
          "'\(word)' is no attribute of a line; \(suggestion) are \(GPIOLine.attributeList)")
    }
  }

  private static func trimmed(_ part: some StringProtocol) -> String {
    var core = part[...]
    while core.first == " " { core = core.dropFirst() }
    while core.last == " " { core = core.dropLast() }
    return String(core)
  }
}
