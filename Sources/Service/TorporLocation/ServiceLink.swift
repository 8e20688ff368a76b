import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// One connection of this program to the service, with a thread that sends calls and receives notices, and sleeps in
/// one poll(2) for both.
///
/// Jobs run one after the other, in order. When the connection ends, every job fails, and every mailbox ends with the
/// same error.
@safe final class ServiceLink: Sendable {
  /// Work for the thread, and a handler for the case that the connection has ended.
  struct Job: Sendable {
    let run: @Sendable (inout LinkState) -> Void
    let fail: @Sendable (ClientError) -> Void
  }

  private struct Inbox {
    var jobs: [Job] = []
    /// Why the connection has ended; nil while it is open.
    var end: ClientError?
    /// Whether its owner has released it.
    var isReleased = false
  }

  private let inbox = Mutex(Inbox())
  /// Wake pipe: a byte in it wakes the thread.
  private let wakePipe: (readEnd: Int32, writeEnd: Int32)
  private let name: String
  private let path: String
  private let needsExplicitSessions: Bool

  /// Connects on a new thread, and returns immediately.
  init(name: String, path: String, needsExplicitSessions: Bool) {
    self.name = name
    self.path = path
    self.needsExplicitSessions = needsExplicitSessions
    var ends: [Int32] = [-1, -1]
    let hasPipe = unsafe pipe(&ends) == 0
    for end in ends where hasPipe {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wakePipe = (ends[0], ends[1])
    guard hasPipe else {
      end(.system("creating a pipe failed", code: errno))
      return
    }
    var thread = pthread_t()
    let link = unsafe Unmanaged.passRetained(self)
    let code = unsafe pthread_create(
      &thread, nil,
      { unsafe Unmanaged<ServiceLink>.fromOpaque($0!).takeRetainedValue().runThread() },
      link.toOpaque())
    guard code == 0 else {
      unsafe link.release()
      end(.system("creating a thread failed", code: code))
      return
    }
    pthread_detach(thread)
  }

  deinit {
    if wakePipe.readEnd >= 0 { Glibc.close(wakePipe.readEnd) }
    if wakePipe.writeEnd >= 0 { Glibc.close(wakePipe.writeEnd) }
  }

  /// Whether the connection has ended and a new one may be opened. If another process is this client now, it may not:
  /// the two would replace each other for ever.
  var isReplaceable: Bool { inbox.withLock { $0.end != nil && $0.end != .takenOver } }

  /// Runs `body` on the thread after all earlier jobs, and returns its result.
  func perform<Answer: Sendable>(
    _ body: @escaping @Sendable (inout LinkState) throws(ClientError) -> Answer
  ) async throws(ClientError) -> Answer {
    let result: Result<Answer, ClientError> = await withCheckedContinuation { continuation in
      submit { state in
        do throws(ClientError) {
          let answer = try body(&state)
          continuation.resume(returning: .success(answer))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      } orFail: {
        continuation.resume(returning: .failure($0))
      }
    }
    return try result.get()
  }

  /// Queues a job without waiting for it. Exactly one of the two closures is called, once.
  func submit(
    _ run: @escaping @Sendable (inout LinkState) -> Void,
    orFail fail: @escaping @Sendable (ClientError) -> Void = { _ in }
  ) {
    submit(Job(run: run, fail: fail))
  }

  /// Opens an object that the service numbers, whose notices go to `mailbox`. If that fails, the mailbox ends with the
  /// error.
  ///
  /// - Parameter note: Registers the mailbox under the number.
  func open<Element>(
    _ handle: ServiceHandle, for mailbox: Mailbox<Element>,
    _ open: @escaping @Sendable (inout LinkState) throws(ClientError) -> Int,
    note: @escaping @Sendable (inout LinkState, Int) -> Void
  ) {
    submit { state in
      do throws(ClientError) {
        let number = try open(&state)
        handle.number = number
        note(&state, number)
      } catch {
        mailbox.finish(error)
      }
    } orFail: {
      mailbox.finish($0)
    }
  }

  /// Closes the numbered object, once, if it is open.
  func close(
    _ handle: ServiceHandle, _ close: @escaping @Sendable (inout LinkState, Int) -> Void
  ) {
    submit { state in
      if let number = handle.consume() { close(&state, number) }
    }
  }

  private func submit(_ job: Job) {
    let end = inbox.withLock { inbox -> ClientError? in
      if inbox.end == nil { inbox.jobs.append(job) }
      return inbox.end
    }
    if let end { return job.fail(end) }
    wake()
  }

  /// Ends the connection after all earlier jobs.
  func disconnect() {
    inbox.withLock { $0.isReleased = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 1
    // A full pipe wakes the thread as well.
    _ = unsafe write(wakePipe.writeEnd, &byte, 1)
  }

  // MARK: Thread

  private func runThread() -> UnsafeMutableRawPointer? {
    do throws(ClientError) {
      var session = try ClientSession(
        name: name, path: path, needsExplicitSessions: needsExplicitSessions)
      try session.subscribe()
      var state = LinkState(session: session)
      let error = serve(&state)
      end(error)
      state.end(error)
    } catch {
      end(error)
    }
    return nil
  }

  /// Serves until the connection ends; returns why it ended.
  private func serve(_ state: inout LinkState) -> ClientError {
    while true {
      let (jobs, isReleased) = inbox.withLock { inbox in
        defer { inbox.jobs = [] }
        return (inbox.jobs, inbox.isReleased)
      }
      for job in jobs {
        if let error = state.connectionError { job.fail(error) } else { job.run(&state) }
      }
      state.dispatchNotices()
      if let error = state.connectionError { return error }
      if isReleased { return .disconnected }
      wait(for: state.session.descriptor)
    }
  }

  private func wait(for notices: Int32) {
    var entries = [
      pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakePipe.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&entries, 2, -1)
    guard entries[1].revents != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(wakePipe.readEnd, &bytes, bytes.count) > 0 {}
  }

  private func end(_ error: ClientError) {
    let jobs = inbox.withLock { inbox in
      inbox.end = inbox.end ?? error
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
    for job in jobs { job.fail(error) }
  }
}

/// State of a ``ServiceLink``, used by its thread only.
struct LinkState: LocationCaller, ~Copyable {
  var session: ClientSession
  /// Mailboxes of live updates by iterator number.
  var live: [Int: Mailbox<LiveElement>] = [:]
  /// Mailboxes of service sessions by session number.
  var diagnostics: [Int: Mailbox<SessionDiagnostics>] = [:]
  var events = MonitorEventRouter()
  /// Latest authorization from the service.
  var authorization: LocationAuthorization
  /// Why the connection has failed; nil while it works.
  private(set) var connectionError: ClientError?

  init(session: consuming ClientSession) {
    authorization = LocationAuthorization(
      status: session.session.authorization, isReduced: session.session.isReduced)
    self.session = session
  }

  /// Calls the service. A refusal is a reply; any other error ends the connection.
  @discardableResult
  mutating func call(_ call: WireCall) throws(ClientError) -> WireReply {
    do throws(ClientError) { return try session.call(call) } catch {
      if case .refused = error { throw error }
      connectionError = error
      throw error
    }
  }

  /// Dispatches received notices.
  mutating func dispatchNotices() {
    do throws(ClientError) {
      while connectionError == nil, let notice = try session.nextNotice(within: .zero) {
        dispatch(notice)
      }
    } catch {
      connectionError = connectionError ?? error
    }
  }

  private mutating func dispatch(_ notice: WireNotice) {
    switch notice {
    case .live(let element): live[element.iterator]?.put(element)
    case .region(let event, let number): events.route(event, number: number)
    case .session(let number, let diagnostic): diagnostics[number]?.put(diagnostic)
    case .authorization(let status, let isReduced):
      authorization = LocationAuthorization(status: status, isReduced: isReduced)
    case .takenOver: connectionError = .takenOver
    // This module requests none of these.
    case .fixes, .report, .finished, .gap, .visit, .paused, .resumed, .failure, .degraded: break
    }
  }

  /// Ends all mailboxes when the connection has ended.
  func end(_ error: ClientError) {
    for mailbox in live.values { mailbox.finish(error) }
    for mailbox in diagnostics.values { mailbox.finish(error) }
    events.finish(error)
  }
}
