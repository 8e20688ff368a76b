/// What a board knows of its battery's charge: a gauge of the kernel's, a line that says low, or both.
public struct BatteryGauge: Sendable {
  private let path: String?
  private let lowCharge: UInt8
  private var isLow: Bool?

  /// - Parameters:
  ///   - name: The gauge's, below `/sys/class/power_supply`; nil for none.
  ///   - lowCharge: What is taken to be there, percent, while the line says low.
  public init(name: String?, lowCharge: UInt8, folder: String = "/sys/class/power_supply") {
    path = name.map { "\(folder)/\($0)/capacity" }
    self.lowCharge = lowCharge
  }

  /// The line has said something.
  mutating func hear(isLow: Bool) { self.isLow = isLow }

  /// The charge now, percent; nil where nothing tells. The line can only lower what the gauge says, and
  /// alone it knows full and low.
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
