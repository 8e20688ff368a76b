import Foundation

/// Source of a location (LOC-8). Source: Apple's documentation of `CLLocationSourceInformation`.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let isSimulated: Bool
  private let isAccessory: Bool

  /// Whether the location is from a simulated board or a replay.
  open var isSimulatedBySoftware: Bool { isSimulated }
  /// Whether the location is from a receiver on USB or Bluetooth.
  open var isProducedByAccessory: Bool { isAccessory }

  /// Creates a source.
  public init(
    softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool
  ) {
    isSimulated = isSoftware
    self.isAccessory = isAccessory
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a source from an archive.
  public required init?(coder: NSCoder) {
    isSimulated = coder.decodeBool(forKey: "simulated")
    isAccessory = coder.decodeBool(forKey: "accessory")
    super.init()
  }

  /// Writes the source to an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(isSimulated, forKey: "simulated")
    coder.encode(isAccessory, forKey: "accessory")
  }

  /// Returns the source itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
