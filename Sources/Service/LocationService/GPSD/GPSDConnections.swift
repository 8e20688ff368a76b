import CLinux
import GPSDProtocol
import Glibc
import LinuxHAL
import LocationTypes

/// The sockets of gpsd's protocol.
public struct GPSDListeners {
  /// Socket for programs on this machine; nil for none.
  let programs: Listener?
  /// Socket for the helper that accepts TCP connections, `torpor-gpsd`; nil for none.
  let helpers: Listener?

  /// No sockets.
  public static var none: GPSDListeners { GPSDListeners() }

  private init() {
    programs = nil
    helpers = nil
  }

  /// Listens at the paths; nil for none.
  public init(programs: String?, helpers: String?) throws(SystemError) {
    self.programs = try programs.map(Listener.init(path:))
    self.helpers = try helpers.map(Listener.init(path:))
  }
}

/// The connections of gpsd's protocol, with their listeners: who is admitted, and when requests are handled.
///
/// # Problem
///
/// As in ``ConnectionTable``: one thread, mutually distrusting users. Programs connect to a local socket, where the
/// kernel names their user, or by TCP to the helper, which finds the user and hands over the descriptor. The helper must
/// run as root or as the user of this service; others are refused, because they could claim any user.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. This type does not depend on clients.
/// - Indices are reused; an event of a wait applies only to connections accepted before it.
///
/// # Bounds
///
/// ``capacity`` connections with the quotas below, ``helperCapacity`` helpers, ``acceptsPerWait`` accepted and
/// ``readSize`` bytes read per wait and descriptor, and the rate ``requests`` of each user.
struct GPSDConnections {
  /// Maximum number of connections.
  static let capacity = 128
  /// Quotas of connections.
  static let quota = ResourceQuota(
    total: capacity, reserved: 4, unpermitted: 32, perUser: 64, perUnpermittedUser: 8)
  /// Maximum number of helpers.
  static let helperCapacity = 4
  /// Maximum number of connections accepted per wait and listener.
  static let acceptsPerWait = 16
  /// How long accepting is suspended when no descriptor is free.
  static let acceptPause = Interval.seconds(1)
  /// Size of the read buffer in bytes.
  static let readSize = 4_096
  /// Rate of requests and reads of one user.
  static let requests = RateLimit(burst: 512, perSecond: 64)
  /// Rate of a user without permission.
  static let unpermittedRequests = RateLimit(burst: 64, perSecond: 2)
  /// Largest number of buckets.
  static let bucketCapacity = 64

  /// A ready descriptor.
  enum Event {
    case programs
    case helpers
    case helper(Int)
    case connection(Int, EventWait.Conditions)
  }

  /// Connections by index; nil where an index is free.
  private(set) var slots: [GPSDConnection?] = []
  /// Time at which listeners are added again after no descriptor was free; nil while connections are accepted.
  private(set) var acceptsAt: Instant?
  private var helpers = [Int32?](repeating: nil, count: helperCapacity)
  private var buckets = TokenBucketTable<UInt32>(capacity: bucketCapacity)
  private var buffer: [UInt8] = []
  private var wait: UInt64 = 0
  private var handled = 0
  private let listeners: GPSDListeners
  private let events: EventWait

  /// First token after those of ``ConnectionTable``.
  private static let firstToken =
    ConnectionTable.listenerToken.rawValue + 1 + 2 * UInt32(ConnectionTable.capacity)

  /// Accepts connections of the listeners, and adds all descriptors to `events`.
  init(_ listeners: GPSDListeners, on events: EventWait) throws(SystemError) {
    self.listeners = listeners
    self.events = events
    try addListeners()
    if isEnabled { buffer = [UInt8](repeating: 0, count: GPSDConnections.readSize) }
  }

  /// Whether there is any listener.
  var isEnabled: Bool { listeners.programs != nil || listeners.helpers != nil }

  var indices: Range<Int> { slots.indices }

  /// The connection at an index; nil if the index is free.
  subscript(index: Int) -> GPSDConnection? { index < slots.count ? slots[index] : nil }

  private static func token(_ offset: Int) -> EventWait.Token {
    EventWait.Token(rawValue: firstToken + UInt32(offset))
  }

  private static func token(ofHelper index: Int) -> EventWait.Token { token(2 + index) }

  private static func token(of connection: Int) -> EventWait.Token {
    token(2 + helperCapacity + connection)
  }

  // MARK: Ready descriptors

  /// The next ready descriptor of the last wait; nil if none remains.
  mutating func nextEvent() -> Event? {
    guard isEnabled else { return nil }
    if wait != events.waitCount {
      wait = events.waitCount
      handled = 0
    }
    while handled < events.readyCount {
      let ready = events.ready(at: handled)
      handled += 1
      guard ready.token.rawValue >= GPSDConnections.firstToken else { continue }
      let offset = Int(ready.token.rawValue - GPSDConnections.firstToken)
      switch offset {
      case 0: return .programs
      case 1: return .helpers
      case 2..<2 + GPSDConnections.helperCapacity: return .helper(offset - 2)
      default:
        let index = offset - 2 - GPSDConnections.helperCapacity
        guard let connection = self[index], connection.acceptedWait < wait else { continue }
        return .connection(index, ready.conditions)
      }
    }
    return nil
  }

  // MARK: Accepting

  private func addListeners() throws(SystemError) {
    if let programs = listeners.programs {
      try events.add(programs.descriptor, as: GPSDConnections.token(0), for: .readable)
    }
    if let helpers = listeners.helpers {
      try events.add(helpers.descriptor, as: GPSDConnections.token(1), for: .readable)
    }
  }

  /// Accepts programs. Returns their descriptors and users, at most ``acceptsPerWait``.
  mutating func acceptPrograms(at now: Instant) -> [(descriptor: Int32, user: UInt32)] {
    guard let listener = listeners.programs else { return [] }
    var accepted: [(descriptor: Int32, user: UInt32)] = []
    for _ in 0..<GPSDConnections.acceptsPerWait {
      guard let descriptor = accept(listener, at: now) else { break }
      if let peer = listener.peer(descriptor) {
        accepted.append((descriptor, peer.user))
      } else {
        Glibc.close(descriptor)
      }
    }
    return accepted
  }

  /// Accepts helpers. Returns the user of each that is refused.
  mutating func acceptHelpers(at now: Instant) -> [UInt32] {
    guard let listener = listeners.helpers else { return [] }
    var refused: [UInt32] = []
    for _ in 0..<GPSDConnections.helperCapacity {
      guard let descriptor = accept(listener, at: now) else { break }
      let user = listener.peer(descriptor)?.user ?? .max
      guard user == 0 || user == geteuid(), let index = helpers.firstIndex(of: nil) else {
        refused.append(user)
        Glibc.close(descriptor)
        continue
      }
      do {
        try events.add(descriptor, as: GPSDConnections.token(ofHelper: index), for: .readable)
        helpers[index] = descriptor
      } catch {
        Glibc.close(descriptor)
      }
    }
    return refused
  }

  /// Receives descriptors from a helper, at most ``acceptsPerWait``. Closes the helper at the end of its input.
  mutating func receive(fromHelper index: Int) -> [(descriptor: Int32, user: UInt32)] {
    guard let helper = helpers[index] else { return [] }
    var received: [(descriptor: Int32, user: UInt32)] = []
    for _ in 0..<GPSDConnections.acceptsPerWait {
      var (user, descriptor) = (UInt32.max, Int32(-1))
      let result = unsafe clinux_receive_descriptor(helper, &user, &descriptor)
      if result == 1 {
        clinux_tcp_configure(descriptor)
        received.append((descriptor, user))
        continue
      }
      if result != -EAGAIN, result != -EINTR {
        helpers[index] = nil
        events.remove(helper)
        Glibc.close(helper)
      }
      break
    }
    return received
  }

  /// Accepts a connection; nil if there is none, or no descriptor is free.
  private mutating func accept(_ listener: Listener, at now: Instant) -> Int32? {
    let descriptor = listener.accept()
    switch -descriptor {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: pauseAccepting(at: now)
    default: break
    }
    return descriptor < 0 ? nil : descriptor
  }

  private mutating func pauseAccepting(at now: Instant) {
    guard acceptsAt == nil else { return }
    acceptsAt = now + GPSDConnections.acceptPause
    for listener in [listeners.programs, listeners.helpers] {
      if let listener { events.remove(listener.descriptor) }
    }
  }

  /// Accepts connections again after a pause.
  mutating func resumeAccepting(at now: Instant) {
    guard let time = acceptsAt, time <= now else { return }
    do {
      try addListeners()
      acceptsAt = nil
    } catch {
      acceptsAt = now + GPSDConnections.acceptPause
    }
  }

  /// Adds a connection within its user's quota. Closes the descriptor if it is refused.
  ///
  /// - Returns: The index; nil if it is refused.
  mutating func admit(
    _ descriptor: Int32, of user: UInt32, _ permissions: borrowing Permissions
  ) -> Int? {
    guard isAdmitted(user, permissions) else {
      Glibc.close(descriptor)
      return nil
    }
    let index = slots.firstIndex { $0 == nil } ?? slots.count
    do {
      try events.add(descriptor, as: GPSDConnections.token(of: index), for: .readable)
    } catch {
      Glibc.close(descriptor)
      return nil
    }
    let connection = GPSDConnection(descriptor, of: user, since: events.waitCount)
    if index == slots.count { slots.append(connection) } else { slots[index] = connection }
    return index
  }

  private func isAdmitted(_ user: UInt32, _ permissions: borrowing Permissions) -> Bool {
    let account = permissions.account(of: user)
    var usage = ResourceQuota.Usage()
    for connection in slots {
      guard let connection else { continue }
      usage.all += 1
      if permissions.standing(of: connection.user) == .unpermitted { usage.unpermitted += 1 }
      if permissions.account(of: connection.user) == account { usage.own += 1 }
    }
    return GPSDConnections.quota.refusal(permissions.standing(of: user), usage) == nil
  }

  // MARK: Input and output

  /// Reads one buffer. At the end of the input the connection ends, after its requests are handled.
  mutating func read(_ index: Int) {
    guard let connection = self[index], connection.isReading else { return }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe recv(connection.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
    }
    if count > 0 {
      connection.receive(buffer[..<count])
    } else if count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      connection.end()
    }
  }

  /// Earliest time at which the next request of a user may be handled; `now` if there is no delay.
  func nextRequest(of account: UInt32, at now: Instant) -> Instant {
    buckets.nextTime(of: account, at: now)
  }

  /// Charges a request or a read to a user.
  mutating func charge(
    _ cost: Double, to account: UInt32, _ standing: Standing, at now: Instant
  ) {
    switch standing {
    case .unpermitted:
      buckets.consume(cost, of: account, GPSDConnections.unpermittedRequests, at: now)
    case .permitted: buckets.consume(cost, of: account, GPSDConnections.requests, at: now)
    case .administrator: break
    }
  }

  /// Writes as much output as the socket accepts, and sets what to wait for.
  ///
  /// - Returns: Whether the connection must be closed.
  func send(_ index: Int) -> Bool {
    guard let connection = self[index] else { return false }
    guard connection.send(), !connection.isEnding else { return true }
    var interest: EventWait.Conditions = connection.isReading ? .readable : []
    if !connection.output.text.isEmpty { interest.insert(.writable) }
    guard interest != connection.interest else { return false }
    connection.setInterest(interest)
    do {
      try events.change(
        connection.descriptor, as: GPSDConnections.token(of: index), to: interest)
      return false
    } catch {
      return true
    }
  }

  /// Closes and removes a connection. Returns it; nil if the index is free.
  mutating func remove(_ index: Int) -> GPSDConnection? {
    guard let connection = self[index] else { return nil }
    slots[index] = nil
    while let last = slots.last, last == nil { slots.removeLast() }
    events.remove(connection.descriptor)
    Glibc.close(connection.descriptor)
    return connection
  }

  /// Closes all connections, at the end of the service.
  mutating func removeAll() {
    for index in slots.indices.reversed() { _ = remove(index) }
    for index in helpers.indices {
      guard let helper = helpers[index] else { continue }
      helpers[index] = nil
      events.remove(helper)
      Glibc.close(helper)
    }
  }
}
