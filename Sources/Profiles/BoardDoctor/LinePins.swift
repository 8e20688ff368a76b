import BoardHardware
import LinuxHAL

/// The GPIO lines as the doctor needs them; tests bring others.
public struct LinePins {
  /// Drives a line that was taken; false where it could not.
  public typealias Drive = (_ isActive: Bool) -> Bool

  /// The names of the chips that are there.
  public var chips: () -> [String]
  /// Opens a chip.
  public var check: (_ chip: String) throws(GPIOFault) -> Void
  /// Who holds a line; nil where nobody does.
  public var holder: (GPIOLine) throws(GPIOFault) -> String?
  /// Takes a line, driven so at first; it is given back with what drives it.
  public var take: (GPIOLine, _ isActive: Bool) throws(GPIOFault) -> Drive

  /// Creates pins of these four.
  public init(
    chips: @escaping () -> [String], check: @escaping (String) throws(GPIOFault) -> Void,
    holder: @escaping (GPIOLine) throws(GPIOFault) -> String?,
    take: @escaping (GPIOLine, Bool) throws(GPIOFault) -> Drive
  ) {
    self.chips = chips
    self.check = check
    self.holder = holder
    self.take = take
  }

  /// Those of the kernel.
  public static func kernel(_ files: BoardFiles) -> LinePins {
    let survey = GPIOSurvey(folder: files.place("/dev"))
    return LinePins(
      chips: { survey.chips },
      check: { chip throws(GPIOFault) in try survey.check(chip: chip) },
      holder: { line throws(GPIOFault) in try survey.holder(of: line) },
      take: { line, isActive throws(GPIOFault) in
        let pin = try survey.take(line, isActive: isActive)
        return { pin.set($0) }
      })
  }
}
