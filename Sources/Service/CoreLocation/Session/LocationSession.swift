import CCoreLocation
import Foundation
import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// This process as a client of the service: one connection, one thread, and the managers, monitors, loops and sessions
/// that share them.
///
/// # Problem
///
/// A second connection of the same client would take the client over (AUT-2). All objects of the module therefore share
/// this one. It must survive the end of the service without help of the program, deliver on the threads that the
/// program chose, acknowledge only what was handled (RNG-8), and cost no wake while nothing happens.
///
/// # Threads
///
///     any thread ── change(_:) ──→ state (lock) ←── receive ── reader thread ←── poll ── service
///                                    │   │                         ↑ wake pipe
///                                    │   └── outbox, acknowledgements
///                                    └──→ mailboxes ──→ run loop of each manager's thread
///
/// The reader thread alone uses the connection. It sends the outbox, reads notices, and sleeps in one poll(2). Calls in
/// the outbox are in the order of the program's calls. When the connection is lost, the thread opens another one with
/// a back-off, and the state asks it for everything again.
///
/// # Invariants
///
/// - Items are posted to mailboxes under the lock, so each manager gets them in the order of the notices.
/// - No function of a program is called under the lock.
@safe final class LocationSession: Sendable {
  /// The session of the process.
  static let shared = LocationSession(.process)

  let identity: ClientIdentity
  let messages = ProgramMessages()
  private let state = Mutex(SessionState())
  private let wakePipe = WakePipe()
  /// Signalled when the first attempt to connect has ended.
  private let firstAttempt = NSCondition()

  /// Starts a session, which connects on its own thread.
  init(_ identity: ClientIdentity) {
    self.identity = identity
    // The linker keeps the constructor of the executor because of this call.
    _ = torpor_executor_state()
    var thread = pthread_t()
    let session = unsafe Unmanaged.passRetained(self)
    let code = unsafe pthread_create(
      &thread, nil,
      { unsafe Unmanaged<LocationSession>.fromOpaque($0!).takeRetainedValue().runThread() },
      session.toOpaque())
    guard code == 0 else {
      unsafe session.release()
      messages.write("no thread can be created: \(code)")
      state.withLock { state in
        state.phase = .takenOver
        state.demand.close()
      }
      return
    }
    pthread_detach(thread)
  }

  // MARK: State

  /// Changes the state, carries out the effects, and wakes the thread if it has something to send or must act earlier.
  @discardableResult
  func change<Result: Sendable>(_ body: (inout sending SessionState) -> Result) -> Result {
    let (result, mustWake) = withState { state in
      let deadline = state.demand.deadline
      let result = body(&state)
      state.applyEffects()
      state.consumeHandled()
      return (result, state.hasOutput || state.demand.deadline < deadline)
    }
    if mustWake { wakePipe?.wake() }
    return result
  }

  /// Changes the state, then does what must be done without the lock.
  private func withState<Result: Sendable>(
    _ body: (inout sending SessionState) -> Result
  ) -> Result {
    let (result, wakeups) = state.withLock { state in
      let result = body(&state)
      defer { state.wakeups = [] }
      return (result, state.wakeups)
    }
    for wakeup in wakeups { wakeup() }
    return result
  }

  /// Reads the state after the first attempt to connect has ended, at most 2 s later.
  func read<Result: Sendable>(_ body: (borrowing SessionState) -> Result) -> Result {
    firstAttempt.lock()
    let limit = Date(timeIntervalSinceNow: 2)
    while state.withLock({ $0.phase == .starting }), firstAttempt.wait(until: limit) {}
    firstAttempt.unlock()
    return state.withLock { body($0) }
  }

  /// Queues a call, which is sent as soon as there is a connection.
  func send(
    _ call: WireCall, completion: (@Sendable (Result<WireReply, ClientError>) -> Void)? = nil
  ) {
    let isQueued = change { state in
      guard state.phase != .takenOver else { return false }
      state.queue(OutgoingCall(call: call, isKept: true, completion: completion))
      return true
    }
    if !isQueued { completion?(.failure(.takenOver)) }
  }

  /// Wakes the thread, because ``SessionState/isFull`` may have changed.
  func wake() { wakePipe?.wake() }

  // MARK: Objects that the service numbers

  /// Opens an object now and on each later connection.
  func open(_ object: any ServiceObject) {
    let phase = change { state in
      state.objects.add(object)
      // Before the object is opened.
      state.demand.setLoops(exist: state.objects.hasLoops)
      state.applyEffects()
      if state.phase == .connected { state.outbox.append(self.opening(object)) }
      return state.phase
    }
    reportMissingSession()
    switch phase {
    case .starting, .connected: break
    case .absent: object.connectionLost()
    case .takenOver: object.fail(.takenOver)
    }
  }

  /// Closes an object.
  func close(_ object: any ServiceObject) {
    change { state in
      if let call = state.objects.remove(object) {
        state.outbox.append(OutgoingCall(call: call))
      }
      state.demand.setLoops(exist: state.objects.hasLoops)
    }
  }

  /// Whether a service session is required, and there is none (BKG-15).
  func lacksSession(_ state: borrowing SessionState) -> Bool {
    identity.needsExplicitSessions && !state.objects.hasServiceSessions
  }

  /// Reports, once, that a service session is required, if there is none: loops and sessions that begin do not imply one.
  func reportMissingSession() { if lacksSession { messages.reportMissingSession() } }

  /// Whether a service session is required now, and there is none (BKG-15).
  var lacksSession: Bool { state.withLock { lacksSession($0) } }

  private func opening(_ object: any ServiceObject) -> OutgoingCall {
    OutgoingCall(call: object.openingCall) { [weak self] result in
      switch result {
      case .success(let reply):
        guard let number = object.opened(reply) else { return object.fail(.malformed("no number")) }
        self?.change { state in
          if !state.objects.setNumber(number, of: object),
            let call = object.closingCall(number)
          {
            state.outbox.append(OutgoingCall(call: call))
          }
        }
      case .failure(let error): if error.isRefusal { object.fail(error) }
      }
    }
  }

  // MARK: Thread

  private func runThread() -> UnsafeMutableRawPointer? {
    unsafe torpor_name_thread("CoreLocation")
    var backoff = RetryBackoff(initial: .milliseconds(250), longest: .seconds(30))
    while true {
      let error = runConnection { backoff.reset() }
      if error == .takenOver {
        takeOver(error)
        return nil
      }
      lose(error)
      let next = backoff.recordFailure(at: .now)
      while Instant.now < next {
        // Deferrals end in time without a service too (DEF-17).
        let deadline = withState { state in
          state.receive([], at: .now)
          return state.demand.deadline
        }
        sleep(or: -1, until: min(next, deadline))
      }
    }
  }

  /// Connects, and serves the connection until it ends; returns why.
  private func runConnection(_ opened: () -> Void) -> ClientError {
    do throws(ClientError) {
      var connection = try ClientSession(
        name: identity.name, path: identity.socket,
        needsExplicitSessions: identity.needsExplicitSessions)
      try connection.subscribe()
      let location = try LocationSession.permitted { () throws(ClientError) in
        try connection.getLocation()
      }
      let regions = try LocationSession.permitted { () throws(ClientError) in
        try connection.listRegions()
      }
      opened()
      begin(connection.session, location: location ?? nil, regions: regions ?? [])
      while true { try serve(&connection) }
    } catch {
      return error
    }
  }

  /// The result of a call; nil if the service refuses it, because the client is not authorized yet.
  private static func permitted<Value>(
    _ call: () throws(ClientError) -> Value
  ) throws(ClientError) -> Value? {
    do throws(ClientError) { return try call() } catch {
      if case .refused = error { return nil }
      if case .locationNotPermitted = error { return nil }
      throw error
    }
  }

  private func begin(
    _ session: WireSession, location: StoredFix?, regions: [WireMonitoredRegion]
  ) {
    state.withLock { state in
      state.phase = .connected
      if state.location == nil { state.location = location }
      if state.isFirstConnection { state.add(regions) }
      state.isFirstConnection = false
      let kept = state.outbox.filter(\.isKept)
      state.outbox = []
      state.demand.connected(session, at: .now)
      state.applyEffects()
      for object in state.objects.all { state.outbox.append(opening(object)) }
      state.outbox += state.stateRequests.map { stateCall($0) }
      state.stateRequests = []
      state.outbox += kept
      // What was handled while there was no connection, or was lost with the previous one.
      state.handledFix = state.handledFix ?? state.fixes.newest
    }
    messages.report(session.authorization, of: identity.name)
    endFirstAttempt()
  }

  private func endFirstAttempt() {
    firstAttempt.lock()
    firstAttempt.broadcast()
    firstAttempt.unlock()
  }

  /// One round: output, then notices, then sleep.
  private func serve(_ connection: inout ClientSession) throws(ClientError) {
    try sendOutput(&connection)
    var notices: [WireNotice] = []
    let isFull = state.withLock { $0.isFull }
    while !isFull, notices.count < ManagerMailbox.capacity,
      let notice = try connection.nextNotice(within: .zero)
    {
      notices.append(notice)
      if notice == .takenOver { throw .takenOver }
    }
    let (deadline, hasOutput) = withState { state in
      state.receive(notices, at: .now)
      return (state.demand.deadline, state.hasOutput)
    }
    reportAuthorization(notices)
    if hasOutput || !notices.isEmpty { return }
    sleep(or: isFull ? -1 : connection.descriptor, until: deadline)
  }

  /// Sleeps until the service sends something, another thread wakes this one, or the deadline.
  private func sleep(or descriptor: Int32, until deadline: Instant) {
    let milliseconds = LocationSession.milliseconds(until: deadline)
    if let wakePipe { return wakePipe.wait(or: descriptor, milliseconds: milliseconds) }
    // Without a pipe no thread can wake this one: it looks every 100 ms.
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds < 0 ? 100 : min(milliseconds, 100))
  }

  private func reportAuthorization(_ notices: [WireNotice]) {
    for case .authorization(let authorization, _) in notices {
      messages.report(authorization, of: identity.name)
    }
  }

  private func sendOutput(_ connection: inout ClientSession) throws(ClientError) {
    while let next = state.withLock({ $0.outbox.first }) {
      let result: Result<WireReply, ClientError>
      do throws(ClientError) {
        result = .success(try connection.call(next.call))
      } catch {
        guard error.isRefusal else { throw error }
        result = .failure(error)
      }
      state.withLock { _ = $0.outbox.removeFirst() }
      if case .failure(.backgroundNotPermitted) = result {
        messages.report(.backgroundNotPermitted(client: identity.name))
        change { $0.demand.backgroundRefused(at: .now) }
      }
      next.completion?(result)
    }
    let (fix, event) = state.withLock { state in
      defer {
        state.handledFix = nil
        state.handledEvent = nil
      }
      return (state.handledFix, state.handledEvent)
    }
    if let fix { try connection.acknowledge(fix) }
    if let event {
      do throws(ClientError) { try connection.call(.acknowledgeEvents(event)) } catch {
        guard error.isRefusal else { throw error }
      }
    }
  }

  /// The connection has ended, or could not be opened.
  private func lose(_ error: ClientError) {
    let objects = state.withLock { state -> [any ServiceObject] in
      defer { state.phase = .absent }
      state.outbox.removeAll { !$0.isKept }
      state.objects.clearNumbers()
      guard state.phase != .absent else { return [] }
      state.demand.disconnected()
      state.applyEffects()
      return state.objects.all
    }
    for object in objects { object.connectionLost() }
    messages.report(error)
    endFirstAttempt()
  }

  private func takeOver(_ error: ClientError) {
    let (objects, calls) = withState { state in
      state.phase = .takenOver
      state.demand.close()
      state.applyEffects()
      state.finishEvents(error)
      defer { state.outbox = [] }
      return (state.objects.all, state.outbox)
    }
    for object in objects { object.fail(error) }
    for call in calls { call.completion?(.failure(error)) }
    messages.reportTakeOver()
    endFirstAttempt()
  }

  /// Milliseconds from now, rounded up; -1 for never.
  private static func milliseconds(until deadline: Instant) -> Int32 {
    guard deadline < .distantFuture else { return -1 }
    let remaining = max(deadline - .now, .zero)
    return Int32(clamping: (remaining.microseconds + 999) / 1_000)
  }
}

extension SessionState {
  /// Whether the thread has something to send.
  fileprivate var hasOutput: Bool {
    phase == .connected && (!outbox.isEmpty || handledFix != nil || handledEvent != nil)
  }
}

extension ClientError {
  /// Whether the service refused one call, and the connection is still usable.
  var isRefusal: Bool {
    switch self {
    case .refused, .locationNotPermitted, .backgroundNotPermitted: true
    default: false
    }
  }
}
