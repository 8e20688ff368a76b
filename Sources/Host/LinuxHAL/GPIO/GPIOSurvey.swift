import BoardHardware
import CGPIO
import Glibc

/// What of a board's GPIO lines can be seen without taking one, for whoever looks whether they can be had.
public final class GPIOSurvey {
  private let folder: String
  private let known: GPIOChips

  /// - Parameter folder: Where the devices are.
  public init(folder: String = "/dev") {
    self.folder = folder
    known = GPIOChips(folder: folder)
  }

  /// The library's version.
  public static var library: String {
    guard let version = unsafe cgpio_version() else { return "" }
    return unsafe String(cString: version)
  }

  /// The names of the chips, in order.
  public var chips: [String] {
    SystemFiles.names(in: folder).filter { $0.hasPrefix("gpiochip") }
  }

  /// Opens a chip, and leaves it alone.
  public func check(chip: String) throws(GPIOFault) {
    _ = try known.open(chip)
  }

  /// Looks for a line.
  ///
  /// - Returns: Who holds it; nil where nobody does.
  public func holder(of line: GPIOLine) throws(GPIOFault) -> String? {
    try known.find(line).holder
  }

  /// Takes a line to drive it; it falls back, and is free again, with the value.
  public func take(_ line: GPIOLine, isActive: Bool) throws(GPIOFault) -> GPIOSwitch {
    GPIOSwitch(request: try GPIORequest(known.find(line), for: .driven(isActive)))
  }
}

/// A line that is driven by hand.
public struct GPIOSwitch {
  fileprivate let request: GPIORequest

  /// Drives it; false where the kernel does not let it any more.
  public func set(_ isActive: Bool) -> Bool { request.set(isActive) }
}
