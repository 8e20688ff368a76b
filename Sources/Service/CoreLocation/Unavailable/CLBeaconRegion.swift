import Foundation

/// The surroundings of beacons.
///
/// No board detects beacons: monitoring fails with `regionMonitoringFailure`, ranging with `rangingUnavailable`
/// (REG-14). Source: Apple's documentation of `CLBeaconRegion`.
open class CLBeaconRegion: CLRegion {
  private let identity: BeaconIdentity

  /// Identity of the beacons.
  open var beaconIdentityConstraint: CLBeaconIdentityConstraint {
    CLBeaconIdentityConstraint(identity)
  }
  /// UUID of the beacons.
  open var uuid: UUID { identity.uuid }
  /// Most significant part of the identity; nil for any.
  open var major: NSNumber? { identity.major.map { NSNumber(value: $0) } }
  /// Least significant part of the identity; nil for any.
  open var minor: NSNumber? { identity.minor.map { NSNumber(value: $0) } }
  /// Whether an entry is reported when the display is turned on.
  open var notifyEntryStateOnDisplay = false

  /// The former name of ``uuid``.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }

  /// Creates a region for all beacons with this UUID.
  public init(uuid: UUID, identifier: String) {
    identity = BeaconIdentity(uuid: uuid)
    super.init(identifier: identifier)
  }

  /// Creates a region for all beacons with this UUID and major value.
  public init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    identity = BeaconIdentity(uuid: uuid, major: major)
    super.init(identifier: identifier)
  }

  /// Creates a region for the beacons with this identity.
  public init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
    super.init(identifier: identifier)
  }

  /// Creates a region for the beacons with this identity.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    identity = beaconIdentityConstraint.identity
    super.init(identifier: identifier)
  }

  /// The former name of ``init(uuid:identifier:)``.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public init(proximityUUID: UUID, identifier: String) {
    identity = BeaconIdentity(uuid: proximityUUID)
    super.init(identifier: identifier)
  }

  /// The former name of ``init(uuid:major:identifier:)``.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    identity = BeaconIdentity(uuid: proximityUUID, major: major)
    super.init(identifier: identifier)
  }

  /// The former name of ``init(uuid:major:minor:identifier:)``.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    identity = BeaconIdentity(uuid: proximityUUID, major: major, minor: minor)
    super.init(identifier: identifier)
  }

  /// Reads a region from an archive; nil if it has no identifier or UUID.
  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder) else { return nil }
    self.identity = identity
    super.init(coder: coder)
    notifyEntryStateOnDisplay = coder.decodeBool(forKey: "notifyEntryStateOnDisplay")
  }

  /// Writes the region to an archive.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    identity.encode(with: coder)
    coder.encode(notifyEntryStateOnDisplay, forKey: "notifyEntryStateOnDisplay")
  }

  /// Returns a region with the same identity and properties.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let region = CLBeaconRegion(
      beaconIdentityConstraint: beaconIdentityConstraint, identifier: identifier)
    region.copyNotificationProperties(from: self)
    region.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    return region
  }

  /// Data with which Bluetooth advertises the device as a beacon: empty, because no board can do so (REG-14).
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    NSMutableDictionary()
  }
}
