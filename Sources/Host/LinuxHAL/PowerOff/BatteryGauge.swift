/// Battery charge from a gauge of the kernel, a low-battery line, or both.
public struct BatteryGauge: Sendable {
  private let path: String?
  private let lowCharge: UInt8
  private var isLow: Bool?

  /// - Parameters:
  ///   - name: Name of the gauge below `/sys/class/power_supply`; nil for none.
  ///   - lowCharge: Charge in percent that is assumed while the line reports low.
  public init(name: String?, lowCharge: UInt8, folder: String = "/sys/class/power_supply") {
    path = name.map { "\(folder)/\($0)/capacity" }
    self.lowCharge = lowCharge
  }

  /// Records the state of the low-battery line.
  mutating func update(isLow: Bool) { self.isLow = isLow }

  /// Charge now, percent; nil if unknown. The line can only lower the gauge's value; without a gauge it gives 100 or
  /// `lowCharge`.
  public var charge: UInt8? {
    let read = path.flatMap(BatteryGauge.read)
    guard let isLow else { return read }
    return isLow ? min(read ?? lowCharge, lowCharge) : read ?? (path == nil ? 100 : nil)
  }

  private static func read(_ path: String) -> UInt8? {
    guard let text = SystemFiles.text(of: path, capacity: 16) else { return nil }
    guard let value = Int(text.prefix { $0 != "\n" }), (0...100).contains(value) else { return nil }
    return UInt8(value)
  }
}
