/// A GPIO line as a profile names it: which one, and how it is wired.
///
/// `GPIO17`, `gpiochip0:17`, and behind either, each after a comma, how it is wired: `active-low`; one of
/// `pull-up`, `pull-down`, `no-bias`; one of `open-drain`, `open-source`.
public struct GPIOLine: Hashable, Sendable {
  /// Where it is.
  public enum Place: Hashable, Sendable {
    /// By the name that the device tree, or the firmware, gives it; on whichever chip.
    case name(String)
    /// By a chip's device, without `/dev/`, and the number on it.
    case offset(UInt32, chip: String)
  }

  /// What pulls it where nobody drives it.
  public enum Bias: String, CaseIterable, Sendable {
    /// Towards the supply.
    case pullUp = "pull-up"
    /// Towards ground.
    case pullDown = "pull-down"
    /// Nothing, by all means.
    case off = "no-bias"
  }

  /// How it is driven.
  public enum Drive: String, CaseIterable, Sendable {
    /// Towards ground, or not at all.
    case openDrain = "open-drain"
    /// Towards the supply, or not at all.
    case openSource = "open-source"
  }

  /// Where it is.
  public var place: Place
  /// Whether it is asserted at a low voltage.
  public var isActiveLow = false
  /// nil: as it is.
  public var bias: Bias?
  /// nil: towards both, push-pull.
  public var drive: Drive?

  /// A line that is wired as most are.
  public init(_ place: Place) { self.place = place }

  /// The text that names it, as short as it can be.
  public var text: String {
    var text =
      switch place {
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

/// Why a text names no line.
public struct GPIOLineError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong and what would be right.
  public var description: String
}

extension GPIOLine {
  /// Bytes of a line's name at the most: the kernel's own limit.
  public static let longestName = 31

  /// Reads a line's text.
  ///
  /// - Throws: `GPIOLineError`.
  public init(_ text: String) throws(GPIOLineError) {
    var parts = text.split(separator: ",", omittingEmptySubsequences: false).map(GPIOLine.trimmed)
    let place = parts.removeFirst()
    if let foreign = ForeignLineSyntax(place, attributes: parts) {
      throw GPIOLineError(description: foreign.description)
    }
    self.init(try GPIOLine.place(place))
    for word in parts { try add(word) }
  }

  private static func place(_ text: String) throws(GPIOLineError) -> Place {
    if text.hasPrefix("gpiochip"), let colon = text.firstIndex(of: ":") {
      let chip = String(text[..<colon])
      let number = text[text.index(after: colon)...]
      guard chip.utf8.dropFirst("gpiochip".utf8.count).allSatisfy({ $0 >= 48 && $0 <= 57 }),
        chip.utf8.count > "gpiochip".utf8.count, chip.utf8.count <= longestName,
        number.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let offset = UInt32(number)
      else {
        throw GPIOLineError(description: "'\(text)' should be a chip and a number: gpiochip0:17")
      }
      return .offset(offset, chip: chip)
    }
    guard (1...longestName).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 > 31 && $0 != 127 })
    else {
      throw GPIOLineError(description: nameRule)
    }
    return .name(text)
  }

  static var nameRule: String {
    "a line's name has 1 to \(longestName) bytes, as `gpioinfo` tells it"
  }

  static var attributeList: String { attributes.joined(separator: ", ") }

  private mutating func add(_ word: String) throws(GPIOLineError) {
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
            "'\(word)' is one too many: a line has one direction of pull and one kind of "
            + "drive, each said once")
      }
      let near = GPIOLine.attribute(near: word).map { "did you mean \($0)? There" } ?? "there"
      throw GPIOLineError(
        description: "'\(word)' is no attribute of a line; \(near) are \(GPIOLine.attributeList)")
    }
  }

  private static func trimmed(_ part: some StringProtocol) -> String {
    var core = part[...]
    while core.first == " " { core = core.dropFirst() }
    while core.last == " " { core = core.dropLast() }
    return String(core)
  }
}
