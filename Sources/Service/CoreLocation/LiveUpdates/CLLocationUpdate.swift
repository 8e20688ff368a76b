import Foundation
import LocationPolicy

/// An element of the live updates (contract section LIV).
///
/// Each change of the properties gives an element, with a location or without, so that a lack of locations is always
/// explained (LIV-7). Source: Apple's documentation of `CLLocationUpdate`.
public struct CLLocationUpdate: Sendable {
  /// The location; nil in an element that reports something else (LIV-3).
  public let location: CLLocation?
  /// Whether the device is stationary: no more locations follow until it moves (LIV-4).
  public let stationary: Bool
  private let flags: LiveFlags

  init(_ element: LiveElement) {
    location = element.location.map { CLLocation($0) }
    stationary = element.isStationary
    flags = element.flags
  }

  /// The former name of ``stationary`` (LIV-4).
  public var isStationary: Bool { stationary }
  /// Whether the process may not use location (LIV-6, as for the next seven properties).
  public var authorizationDenied: Bool { flags.containsAny(of: .authorizationDenied) }
  /// Whether no process may use location.
  public var authorizationDeniedGlobally: Bool {
    flags.containsAny(of: .authorizationDeniedGlobally)
  }
  /// Whether the process may neither use location nor request permission.
  public var authorizationRestricted: Bool { flags.containsAny(of: .authorizationRestricted) }
  /// Whether the process is not in use as its authorization requires.
  public var insufficientlyInUse: Bool { flags.containsAny(of: .insufficientlyInUse) }
  /// Whether there is no location now: the receiver has no fix, or the service does not run.
  public var locationUnavailable: Bool { flags.containsAny(of: .locationUnavailable) }
  /// Whether locations have reduced accuracy (AUT-5).
  public var accuracyLimited: Bool { flags.containsAny(of: .accuracyLimited) }
  /// Whether a ``CLServiceSession`` is required (BKG-15).
  public var serviceSessionRequired: Bool { flags.containsAny(of: .serviceSessionRequired) }
  /// Whether an administrator's decision is pending (AUT-7).
  public var authorizationRequestInProgress: Bool {
    flags.containsAny(of: .authorizationRequestInProgress)
  }

  /// Purpose of the updates, which determines how soon the device counts as stationary (LIV-8).
  public enum LiveConfiguration: Int, Sendable {
    /// Unknown.
    case `default` = 0
    /// Driving by car on roads.
    case automotiveNavigation = 1
    /// Another vehicle.
    case otherNavigation = 2
    /// Walking, running or cycling.
    case fitness = 3
    /// Flying.
    case airborne = 4
  }

  /// Live updates: the service starts with each loop over them and stops with it (LIV-1, LIV-2).
  ///
  ///     for try await update in CLLocationUpdate.liveUpdates(.fitness) {
  ///       if let location = update.location { print(location.coordinate) }
  ///     }
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    Updates(configuration: configuration, session: .shared)
  }

  /// Live updates that have not started yet.
  ///
  /// A loop ends when its task is cancelled. It continues after a loss of the service, which an update with
  /// ``CLLocationUpdate/locationUnavailable`` reports; missing authorization is reported in the same way (LIV-11). It
  /// throws if another process becomes this client, or if the process has four loops already (LIV-9).
  public struct Updates: AsyncSequence, Sendable {
    /// An update.
    public typealias Element = CLLocationUpdate
    /// Error that ends a loop early.
    public typealias Failure = any Error

    let configuration: LiveConfiguration
    let session: LocationSession

    /// Creates a loop; updates start with its first element.
    public func makeAsyncIterator() -> Iterator {
      let purpose = LocationPolicy.LiveConfiguration(rawValue: UInt8(configuration.rawValue))
      return Iterator(loop: LiveLoop(purpose ?? .default, session))
    }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      /// An update.
      public typealias Element = CLLocationUpdate
      /// Error that ends a loop early.
      public typealias Failure = any Error

      let loop: LiveLoop

      /// The next update; nil if the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> CLLocationUpdate? {
        try await loop.next().map { CLLocationUpdate($0) }
      }
    }
  }
}
