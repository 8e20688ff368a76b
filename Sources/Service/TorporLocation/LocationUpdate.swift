import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// An element of the live updates (`CLLocationUpdate`).
///
/// Silence is never unexplained: each change of what is told below makes an element, with a location or
/// without (LIV-7).
public struct LocationUpdate: Equatable, Sendable {
  /// Where the board is; nil where an element tells of something else (LIV-3).
  public let location: Fix?
  /// The board has come to rest: no more locations come until it moves (LIV-4).
  public let stationary: Bool
  /// Locations before this one that nobody was there to take (LIV-10).
  public let dropped: Int
  private let flags: LiveFlags

  /// The older name of ``stationary`` (LIV-4).
  public var isStationary: Bool { stationary }
  /// This program may not use location (LIV-6; the seven that follow, too).
  public var authorizationDenied: Bool { flags.holdsAny(of: .authorizationDenied) }
  /// No program may.
  public var authorizationDeniedGlobally: Bool {
    flags.holdsAny(of: .authorizationDeniedGlobally)
  }
  /// It may not, and cannot ask for it.
  public var authorizationRestricted: Bool { flags.holdsAny(of: .authorizationRestricted) }
  /// It is not in use as its authorization demands.
  public var insufficientlyInUse: Bool { flags.holdsAny(of: .insufficientlyInUse) }
  /// The receiver has no position now.
  public var locationUnavailable: Bool { flags.holdsAny(of: .locationUnavailable) }
  /// Locations are coarse (AUT-5).
  public var accuracyLimited: Bool { flags.holdsAny(of: .accuracyLimited) }
  /// It must hold a ``ServiceSession`` (BKG-15).
  public var serviceSessionRequired: Bool { flags.holdsAny(of: .serviceSessionRequired) }
  /// An administrator has not decided yet (AUT-7).
  public var authorizationRequestInProgress: Bool {
    flags.holdsAny(of: .authorizationRequestInProgress)
  }

  init(_ element: LiveElement) {
    location = element.location?.fix
    stationary = element.isStationary
    dropped = Int(element.dropped)
    flags = element.flags
  }

  /// Live updates: the service starts with each loop over them, and ends with it (LIV-1, LIV-2).
  ///
  ///     for try await update in LocationUpdate.liveUpdates(.fitness) {
  ///       if let location = update.location { print(location.coordinate) }
  ///     }
  ///
  /// - Parameters:
  ///   - configuration: What they are for; it says how soon the board counts as standing.
  ///   - center: The client whose they are.
  public static func liveUpdates(
    _ configuration: LiveConfiguration = .default, of center: LocationCenter = .shared
  ) -> Updates {
    Updates(configuration: configuration, center: center)
  }

  /// Live updates that have not begun.
  ///
  /// A loop throws where the connection is lost, and where a program has four loops already (LIV-9); that it
  /// may not use location is told by elements (LIV-11). A loop whose task is cancelled ends.
  public struct Updates: AsyncSequence, Sendable {
    /// An update.
    public typealias Element = LocationUpdate
    /// Why a loop ends before its time.
    public typealias Failure = ClientError

    let configuration: LiveConfiguration
    let center: LocationCenter

    /// Begins them, when the first element is asked for.
    public func makeAsyncIterator() -> Iterator {
      Iterator(loop: LiveLoop(configuration, center))
    }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      let loop: LiveLoop

      /// The next update; nil when the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ClientError) -> LocationUpdate? {
        try await loop.next()
      }
    }
  }
}

/// One loop over live updates: opens an iterator of the service, and closes it when nobody loops any more.
final class LiveLoop: Sendable {
  private let configuration: LiveConfiguration
  private let center: LocationCenter
  private let mailbox = Mailbox<LiveElement>(merge: LiveLoop.merge)
  /// The service's number of it; known to the connection's thread.
  private let opened = OpenNumber()
  private let phase = Mutex(Phase.new)

  private enum Phase {
    case new, over
    /// It is open on that connection.
    case begun(ServiceLink)
  }

  init(_ configuration: LiveConfiguration, _ center: LocationCenter) {
    self.configuration = configuration
    self.center = center
  }

  deinit { close() }

  func next() async throws(ClientError) -> LocationUpdate? {
    switch phase.withLock({ $0 }) {
    case .new: begin()
    case .begun: break
    // After an error, or cancelled: nobody comes back for more.
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
    phase.withLock { $0 = .begun(link) }
    let mailbox = mailbox
    link.open(.openLive(configuration), opened, for: mailbox) { $0.live[$1] = mailbox }
  }

  private func close() {
    let before = phase.withLock { phase in
      defer { phase = .over }
      return phase
    }
    mailbox.finish()
    guard case .begun(let link) = before else { return }
    link.close(opened) { state, number in
      state.live[number] = nil
      _ = try? state.call(.closeLive(number))
    }
  }

  /// One element waits: the newest, with what it and those before it have to tell (LIV-10).
  ///
  /// A location from before a change of rights or accuracy is not told after it (AUT-6).
  private static func merge(_ waiting: inout [LiveElement], _ new: LiveElement) {
    guard let old = waiting.first else {
      waiting = [new]
      return
    }
    var merged = new
    let isSame =
      old.flags.holdsAny(of: .accuracyLimited) == new.flags.holdsAny(of: .accuracyLimited)
      && !new.flags.holdsAny(of: .withholding)
    if new.location == nil, isSame { merged.location = old.location }
    let isLost = old.location != nil && merged.location != old.location
    let (dropped, isOver) = old.dropped.addingReportingOverflow(new.dropped)
    merged.dropped = isOver ? .max : dropped
    if isLost, merged.dropped < .max { merged.dropped += 1 }
    waiting = [merged]
  }
}
