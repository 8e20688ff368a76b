import Foundation

/// UUID, major and minor value of beacons; nil stands for any value.
///
/// No board detects beacons (REG-14). Source: Apple's documentation of `CLBeaconIdentityCondition`.
open class CLBeaconIdentityCondition: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  let identity: BeaconIdentity

  /// UUID of the beacons.
  open var uuid: UUID { identity.uuid }
  /// Most significant part of the identity; nil for any.
  open var major: CLBeaconMajorValue? { identity.major }
  /// Least significant part of the identity; nil for any.
  open var minor: CLBeaconMinorValue? { identity.minor }

  /// Matches all beacons with this UUID.
  public init(uuid: UUID) {
    identity = BeaconIdentity(uuid: uuid)
    super.init()
  }

  /// Matches all beacons with this UUID and major value.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    identity = BeaconIdentity(uuid: uuid, major: major)
    super.init()
  }

  /// Matches the beacons with this identity.
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  init(_ identity: BeaconIdentity) {
    self.identity = identity
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads an identity from an archive; nil if it has no UUID.
  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder) else { return nil }
    self.identity = identity
    super.init()
  }

  /// Writes the identity to an archive.
  open func encode(with coder: NSCoder) { identity.encode(with: coder) }

  /// Returns the condition itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether `object` is a condition with the same identity.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLBeaconIdentityCondition)?.identity == identity
  }

  /// Hash of the identity.
  open override var hash: Int { identity.hashValue }
}

/// Identity of beacons for ranging and for a ``CLBeaconRegion``.
///
/// No board detects beacons (REG-14). Source: Apple's documentation of `CLBeaconIdentityConstraint`.
open class CLBeaconIdentityConstraint: CLBeaconIdentityCondition, @unchecked Sendable {}

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
