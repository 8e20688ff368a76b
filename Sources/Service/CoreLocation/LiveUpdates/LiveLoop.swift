import LocationClient
import LocationPolicy
import LocationWire
import Synchronization

/// One loop over live updates: opens an iterator of the service with the first element, and closes it when the loop is
/// left (LIV-1, LIV-2).
final class LiveLoop: Sendable {
  private enum Phase {
    case new, open, over
  }

  private let session: LocationSession
  private let core: LiveLoopCore
  private let phase = Mutex(Phase.new)

  init(_ configuration: LiveConfiguration, _ session: LocationSession) {
    self.session = session
    core = LiveLoopCore(configuration)
  }

  deinit { close() }

  /// The next element; nil if the task was cancelled.
  func next() async throws(ClientError) -> LiveElement? {
    let previous = phase.withLock { phase in
      let previous = phase
      if phase == .new { phase = .open }
      return previous
    }
    switch previous {
    case .new: session.open(core)
    case .open: break
    // After an error or cancellation.
    case .over: return nil
    }
    let element: LiveElement?
    do throws(ClientError) { element = try await core.queue.next() } catch {
      close()
      throw error
    }
    if element == nil { close() }
    return element
  }

  private func close() {
    let wasOpen = phase.withLock { phase in
      defer { phase = .over }
      return phase == .open
    }
    core.queue.finish()
    if wasOpen { session.close(core) }
  }
}

/// The part of a loop that the session keeps while the loop is open.
final class LiveLoopCore: ServiceObject {
  private let configuration: LiveConfiguration
  let queue = UpdateQueue<LiveElement>(merge: LiveLoopCore.merge)

  init(_ configuration: LiveConfiguration) { self.configuration = configuration }

  var openingCall: WireCall { .openLive(configuration) }

  func closingCall(_ number: Int) -> WireCall? { .closeLive(number) }

  func opened(_ reply: WireReply) -> Int? {
    if case .opened(let number) = reply { number } else { nil }
  }

  func receive(_ notice: WireNotice) -> (@Sendable () -> Void)? {
    if case .live(let element) = notice { queue.add(element).wakeup } else { nil }
  }

  /// Silence has a reported reason (LIV-7); the loop continues on the next connection (LIV-12).
  func connectionLost() {
    queue.put(
      LiveElement(
        iterator: 0, location: nil, flags: .locationUnavailable, isStationary: false, dropped: 0))
  }

  func fail(_ error: ClientError) { queue.finish(error) }

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
