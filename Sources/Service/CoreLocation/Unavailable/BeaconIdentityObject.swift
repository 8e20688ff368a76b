import Foundation

/// An object that consists of the identity of a beacon and cannot change: its archive and its copy.
///
/// The common part of ``CLBeacon`` and ``CLBeaconIdentityCondition``; Core Location has no such class.
open class BeaconIdentityObject: NSObject, NSCopying, NSSecureCoding {
  let identity: BeaconIdentity

  init(_ identity: BeaconIdentity) {
    self.identity = identity
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads the identity from an archive; nil if it has no UUID.
  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder) else { return nil }
    self.identity = identity
    super.init()
  }

  /// Writes the identity to an archive.
  open func encode(with coder: NSCoder) { identity.encode(with: coder) }

  /// Returns the object itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// UUID, major and minor value of a beacon; nil stands for any value.
struct BeaconIdentity: Hashable {
  var uuid: UUID
  var major: CLBeaconMajorValue?
  var minor: CLBeaconMinorValue?
}

extension BeaconIdentity {
  /// Reads the identity from an archive; nil if it has no UUID.
  init?(_ coder: NSCoder) {
    guard
      let text = coder.decodeObject(of: NSString.self, forKey: "uuid"),
      let uuid = UUID(uuidString: String(describing: text))
    else { return nil }
    self.uuid = uuid
    if coder.containsValue(forKey: "major") {
      major = UInt16(truncatingIfNeeded: coder.decodeInteger(forKey: "major"))
    }
    if coder.containsValue(forKey: "minor") {
      minor = UInt16(truncatingIfNeeded: coder.decodeInteger(forKey: "minor"))
    }
  }

  /// Writes the identity to an archive.
  func encode(with coder: NSCoder) {
    coder.encode(NSString(string: uuid.uuidString), forKey: "uuid")
    if let major { coder.encode(Int(major), forKey: "major") }
    if let minor { coder.encode(Int(minor), forKey: "minor") }
  }
}
