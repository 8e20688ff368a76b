import Foundation

/// UUID, major and minor value of beacons; nil stands for any value.
///
/// No board detects beacons (REG-14). Source: Apple's documentation of `CLBeaconIdentityCondition`.
open class CLBeaconIdentityCondition: BeaconIdentityObject, @unchecked Sendable {
  /// UUID of the beacons.
  open var uuid: UUID { identity.uuid }
  /// Most significant part of the identity; nil for any.
  open var major: CLBeaconMajorValue? { identity.major }
  /// Least significant part of the identity; nil for any.
  open var minor: CLBeaconMinorValue? { identity.minor }

  /// Matches all beacons with this UUID.
  public init(uuid: UUID) {
    super.init(BeaconIdentity(uuid: uuid))
  }

  /// Matches all beacons with this UUID and major value.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    super.init(BeaconIdentity(uuid: uuid, major: major))
  }

  /// Matches the beacons with this identity.
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    super.init(BeaconIdentity(uuid: uuid, major: major, minor: minor))
  }

  override init(_ identity: BeaconIdentity) { super.init(identity) }

  /// Reads an identity from an archive; nil if it has no UUID.
  public required init?(coder: NSCoder) { super.init(coder: coder) }

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
