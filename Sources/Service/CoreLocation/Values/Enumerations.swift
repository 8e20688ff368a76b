import Foundation
import LocationPolicy

// Apple's enumerations, with Apple's raw values. None has a description of its own: packages declare
// `CustomStringConvertible` themselves. As in Apple's framework, a switch in another package is expected to have an
// `@unknown default`.

/// Whether a program may use location (AUT-1).
@nonexhaustive(warn) public enum CLAuthorizationStatus: Int32, Sendable {
  /// Not decided yet.
  case notDetermined = 0
  /// Not allowed, and the user cannot change it.
  case restricted = 1
  /// Not allowed.
  case denied = 2
  /// Allowed at any time.
  case authorizedAlways = 3
  /// Allowed while the program is in use.
  case authorizedWhenInUse = 4

  /// The name of ``authorizedAlways`` in programs for macOS.
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// Whether a program receives precise locations (contract section AUT).
@nonexhaustive(warn) public enum CLAccuracyAuthorization: Int, Sendable {
  /// Precise locations.
  case fullAccuracy = 0
  /// Coarse locations.
  case reducedAccuracy = 1
}

/// Activity of the user; it sets the thresholds of automatic pauses, and filters no fix (PAU-6).
@nonexhaustive(warn) public enum CLActivityType: Int, Sendable {
  /// Unknown.
  case other = 1
  /// Driving by car on roads.
  case automotiveNavigation = 2
  /// Walking, running or cycling.
  case fitness = 3
  /// Another vehicle, such as a boat or a train.
  case otherNavigation = 4
  /// Flying.
  case airborne = 5
}

/// Orientation of a device, relative to which a heading is measured.
@nonexhaustive(warn) public enum CLDeviceOrientation: Int32, Sendable {
  /// Not known.
  case unknown = 0
  /// Upright, the button at the bottom.
  case portrait = 1
  /// Upright, the button at the top.
  case portraitUpsideDown = 2
  /// Upright, the button on the right.
  case landscapeLeft = 3
  /// Upright, the button on the left.
  case landscapeRight = 4
  /// Parallel to the ground, the screen upwards.
  case faceUp = 5
  /// Parallel to the ground, the screen downwards.
  case faceDown = 6
}

/// Where the device is, relative to a region (REG-10).
@nonexhaustive(warn) public enum CLRegionState: Int, Sendable {
  /// Not decided yet, or not monitored.
  case unknown = 0
  /// Inside the region.
  case inside = 1
  /// Outside the region.
  case outside = 2
}

/// Distance to a beacon.
@nonexhaustive(warn) public enum CLProximity: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Next to the device.
  case immediate = 1
  /// A few metres.
  case near = 2
  /// Far away.
  case far = 3
}

// MARK: - Conversions

// The service's enumerations have Apple's raw values too; a test compares them.

extension CLAuthorizationStatus {
  /// Converts from the socket's value.
  init(_ authorization: Authorization) {
    self = CLAuthorizationStatus(rawValue: Int32(authorization.rawValue)) ?? .notDetermined
  }
}

extension ActivityType {
  /// Converts to the socket's value.
  init(_ activity: CLActivityType) {
    self = ActivityType(rawValue: UInt8(activity.rawValue)) ?? .other
  }
}

extension CLRegionState {
  /// Converts from the socket's value.
  init(_ state: RegionState) { self = CLRegionState(rawValue: state.rawValue) ?? .unknown }
}

extension CLMonitor.Event.State {
  /// Converts from the socket's value.
  init(_ state: MonitorState) {
    self = CLMonitor.Event.State(rawValue: state.rawValue) ?? .unknown
  }
}

extension MonitorState {
  /// Converts to the socket's value.
  init(_ state: CLMonitor.Event.State) {
    self = MonitorState(rawValue: state.rawValue) ?? .unknown
  }
}
