import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// An element of the live updates (`CLLocationUpdate`).
///
/// Each change of the properties below gives an element, with a location or without, so that a lack of locations is
/// always explained (LIV-7).
public struct LocationUpdate: Equatable, Sendable {
  /// Location; nil in an element that reports something else (LIV-3).
  public let location: Fix?
  /// Whether the board is stationary: no more locations follow until it moves (LIV-4).
  public let stationary: Bool
  /// Number of locations before this one that were discarded because the program did not read them in time (LIV-10).
  public let dropped: Int
  private let flags: LiveFlags

  /// Older name of ``stationary`` (LIV-4).
  public var isStationary: Bool { stationary }
  /// Whether this program may not use location (LIV-6, as for the next seven properties).
  public var authorizationDenied: Bool { flags.containsAny(of: .authorizationDenied) }
  /// Whether no program may use location.
  public var authorizationDeniedGlobally: Bool {
    flags.containsAny(of: .authorizationDeniedGlobally)
  }
  /// Whether this program may neither use location nor request permission.
  public var authorizationRestricted: Bool { flags.containsAny(of: .authorizationRestricted) }
  /// Whether the program is not in use as its authorization requires.
  public var insufficientlyInUse: Bool { flags.containsAny(of: .insufficientlyInUse) }
  /// Whether the receiver has no fix now.
  public var locationUnavailable: Bool { flags.containsAny(of: .locationUnavailable) }
  /// Whether locations have reduced accuracy (AUT-5).
  public var accuracyLimited: Bool { flags.containsAny(of: .accuracyLimited) }
  /// Whether a ``ServiceSession`` is required (BKG-15).
  public var serviceSessionRequired: Bool { flags.containsAny(of: .serviceSessionRequired) }
  /// Whether an administrator's decision is pending (AUT-7).
  public var authorizationRequestInProgress: Bool {
    flags.containsAny(of: .authorizationRequestInProgress)
  }

  init(_ element: LiveElement) {
    location = element.location?.fix
    stationary = element.isStationary
    dropped = Int(element.dropped)
    flags = element.flags
  }

  /// Live updates: the service starts with each loop over them and stops with it (LIV-1, LIV-2).
  ///
  ///     for try await update in LocationUpdate.liveUpdates(.fitness) {
  ///       if let location = update.location { print(location.coordinate) }
  ///     }
  ///
  /// - Parameters:
  ///   - configuration: The activity, which determines how soon the board counts as stationary.
  ///   - center: The client that receives the updates.
  public static func liveUpdates(
    _ configuration: LiveConfiguration = .default, of center: LocationCenter = .shared
  ) -> Updates {
    Updates(configuration: configuration, center: center)
  }

  /// Live updates that have not started yet.
  ///
  /// A loop throws if the connection is lost, or if the program already has four loops (LIV-9). Missing authorization
  /// is reported by elements (LIV-11). A loop ends when its task is cancelled.
  public struct Updates: AsyncSequence, Sendable {
    /// An update.
    public typealias Element = LocationUpdate
    /// Error that ends a loop early.
    public typealias Failure = ClientError

    let configuration: LiveConfiguration
    let center: LocationCenter

    /// Creates a loop; updates start with its first element.
    public func makeAsyncIterator() -> Iterator {
      Iterator(loop: LiveLoop(configuration, center))
    }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      let loop: LiveLoop

      /// The next update; nil if the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ClientError) -> LocationUpdate? {
        try await loop.next()
      }
    }
  }
}

/// One loop over live updates: opens an iterator of the service, and closes it on deinitialisation.
final class LiveLoop: Sendable {
  private let configuration: LiveConfiguration
  private let center: LocationCenter
  private let mailbox = Mailbox<LiveElement>(merge: LiveLoop.merge)
  /// The service's number for the iterator; used on the connection's thread only.
  private let handle = ServiceHandle()
  private let phase = Mutex(Phase.new)

  private enum Phase {
    case new, over
    /// The iterator was opened on that connection.
    case opened(ServiceLink)
  }

  init(_ configuration: LiveConfiguration, _ center: LocationCenter) {
    self.configuration = configuration
    self.center = center
  }

  deinit { close() }

  func next() async throws(ClientError) -> LocationUpdate? {
    switch phase.withLock({ $0 }) {
    case .new: begin()
    case .opened: break
    // After an error or cancellation.
    case .over: return nil
    }
    let element: LiveElement?
    do throws(ClientError) { element = try await mailbox.next() } catch {
      close()
      throw error
    }
    guard let element else {
      close()
      return nil
    }
    return LocationUpdate(element)
  }

  private func begin() {
    let link = center.connection
    phase.withLock { $0 = .opened(link) }
    let mailbox = mailbox
    let configuration = configuration
    link.open(handle, for: mailbox) { state throws(ClientError) in
      try state.openLive(configuration)
    } note: {
      $0.live[$1] = mailbox
    }
  }

  private func close() {
    let previous = phase.withLock { phase in
      defer { phase = .over }
      return phase
    }
    mailbox.finish()
    guard case .opened(let link) = previous else { return }
    link.close(handle) { state, number in
      state.live[number] = nil
      _ = try? state.call(.closeLive(number))
    }
  }

  /// Merges waiting elements into one: the newest, with the location and count of those before it (LIV-10).
  ///
  /// Drops a location from before a change of authorization or accuracy (AUT-6).
  private static func merge(_ waiting: inout [LiveElement], _ new: LiveElement) {
    guard let old = waiting.first else {
      waiting = [new]
      return
    }
    var merged = new
    let isOldLocationValid =
      old.flags.containsAny(of: .accuracyLimited) == new.flags.containsAny(of: .accuracyLimited)
      && !new.flags.containsAny(of: .withholding)
    if new.location == nil, isOldLocationValid { merged.location = old.location }
    let isLost = old.location != nil && merged.location != old.location
    let (dropped, overflows) = old.dropped.addingReportingOverflow(new.dropped)
    merged.dropped = overflows ? .max : dropped
    if isLost, merged.dropped < .max { merged.dropped += 1 }
    waiting = [merged]
  }
}
