import BoardHardware
import LinuxHAL

/// The access to GPIO lines that ``Doctor`` needs; tests replace it.
public struct GPIOAccess {
  /// Drives a requested line; returns false if that fails.
  public typealias Drive = (_ isActive: Bool) -> Bool

  /// Names of the existing GPIO chips.
  public var chips: () -> [String]
  /// Checks that a chip can be opened.
  public var check: (_ chip: String) throws(GPIOFault) -> Void
  /// Name of the holder of a line; nil if the line is free.
  public var holder: (GPIOLine) throws(GPIOFault) -> String?
  /// Requests a line as output with this initial state; releasing the returned closure releases the line.
  public var request: (GPIOLine, _ isActive: Bool) throws(GPIOFault) -> Drive

  /// Creates the access from its four operations.
  public init(
    chips: @escaping () -> [String], check: @escaping (String) throws(GPIOFault) -> Void,
    holder: @escaping (GPIOLine) throws(GPIOFault) -> String?,
    request: @escaping (GPIOLine, Bool) throws(GPIOFault) -> Drive
  ) {
    self.chips = chips
    self.check = check
    self.holder = holder
    self.request = request
  }

  /// Access to the lines of the kernel.
  public static func kernel(_ files: BoardFiles) -> GPIOAccess {
    let survey = GPIOSurvey(folder: files.fullPath("/dev"))
    return GPIOAccess(
      chips: { survey.chips },
      check: { chip throws(GPIOFault) in try survey.check(chip: chip) },
      holder: { line throws(GPIOFault) in try survey.holder(of: line) },
      request: { line, isActive throws(GPIOFault) in
        let pin = try survey.drive(line, isActive: isActive)
        return { pin.set($0) }
      })
  }
}
