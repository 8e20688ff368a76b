import Foundation

/// A detected beacon.
///
/// No board detects beacons (REG-14); the type exists so that programs which handle beacons, and their tests, compile.
/// Source: Apple's documentation of `CLBeacon`.
open class CLBeacon: BeaconIdentityObject {
  /// UUID of the beacon.
  open var uuid: UUID { identity.uuid }
  /// Most significant part of the identity.
  open var major: NSNumber { NSNumber(value: identity.major ?? 0) }
  /// Least significant part of the identity.
  open var minor: NSNumber { NSNumber(value: identity.minor ?? 0) }
  /// Distance to the beacon.
  open var proximity: CLProximity { .unknown }
  /// Accuracy of the distance, metres; negative if not known.
  open var accuracy: CLLocationAccuracy { -1 }
  /// Signal strength, dBm; 0 if not known.
  open var rssi: Int { 0 }
  /// Time of the detection.
  open var timestamp: Date { .distantPast }

  /// The former name of ``uuid``.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }

  /// Creates a beacon whose identity is 0; for subclasses.
  public init() {
    super.init(
      BeaconIdentity(uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))))
  }

  /// Reads a beacon's identity from an archive; nil if it has no UUID.
  public required init?(coder: NSCoder) { super.init(coder: coder) }
}
