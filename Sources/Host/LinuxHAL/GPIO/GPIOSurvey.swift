import BoardHardware
import CGPIO
import Glibc

/// The board's GPIO lines as visible without a request, for `torpor doctor`.
public final class GPIOSurvey {
  private let openChips: GPIOChips

  /// - Parameter folder: Folder of the chips' devices.
  public init(folder: String = "/dev") { openChips = GPIOChips(folder: folder) }

  /// Version of libgpiod.
  public static var libraryVersion: String {
    guard let version = unsafe cgpio_version() else { return "" }
    return unsafe String(cString: version)
  }

  /// Names of the chips, sorted.
  public var chips: [String] { openChips.names }

  /// Checks that a chip can be opened; requests no line.
  public func check(chip: String) throws(GPIOFault) {
    _ = try openChips.open(chip)
  }

  /// Finds a line.
  ///
  /// - Returns: The holder of the line; nil if it is free.
  public func holder(of line: GPIOLine) throws(GPIOFault) -> String? {
    try openChips.find(line).holder
  }

  /// Requests a line as an output. Releasing the returned value frees the line, which may then return to its default
  /// level.
  public func drive(_ line: GPIOLine, isActive: Bool) throws(GPIOFault) -> GPIOOutput {
    GPIOOutput(request: try GPIORequest(openChips.find(line), for: .output(isActive)))
  }
}

/// An output that is set manually.
public struct GPIOOutput {
  fileprivate let request: GPIORequest

  /// Sets the output; false if the kernel refuses.
  public func set(_ isActive: Bool) -> Bool { request.set(isActive) }
}
