import Glibc
import LocationTypes
import LocationWire

/// A connection to the service: one call at a time, and waiting for its answer.
///
/// Plain and blocking, for programs with a thread to spare; who waits for more than one thing waits for
/// ``descriptor`` in poll(2) and then asks without patience.
public struct LocationConnection: ~Copyable {
  /// Where the service listens if nothing else was said.
  public static let standardPath = "/run/torpor/torpor.sock"
  /// Where it is looked for if no path is given: at `TORPOR_SOCKET`, else at ``standardPath``. Libraries, commands and
  /// examples all do so; the service listens where its `--socket` says, whatever the variable is.
  public static var defaultPath: String {
    guard let value = unsafe getenv("TORPOR_SOCKET") else { return standardPath }
    let path = unsafe String(cString: value)
    return path.isEmpty ? standardPath : path
  }
  /// How long an answer is waited for: the service answers in milliseconds.
  public static let patience = Interval.seconds(10)

  /// Readable when something has come, or the other end is gone.
  public let descriptor: Int32
  private var splitter = FrameSplitter(limit: WireLimits.replyFrame)
  private var chunk: [UInt8] = []
  private var place = 0

  /// Connects.
  public init(path: String = LocationConnection.defaultPath) throws(ClientError) {
    var address = sockaddr_un()
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard !path.isEmpty, path.utf8.count < room else {
      throw .system("the socket's path '\(path)' has over \(room - 1) bytes, or none", code: EINVAL)
    }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: Array(path.utf8))
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system("a socket cannot be made", code: errno) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      close(descriptor)
      throw LocationConnection.refusal(path, code)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  static func refusal(_ path: String, _ code: Int32) -> ClientError {
    switch code {
    case ENOENT, ENOTDIR: return .noSocket(path: path)
    case EACCES, EPERM: return .mayNotConnect(path: path)
    case ECONNREFUSED:
      var status = stat()
      // A service that begins takes away what the one before has left.
      guard unsafe stat(path, &status) == 0 else { return .noSocket(path: path) }
      let isSocket = status.st_mode & S_IFMT == S_IFSOCK
      return isSocket ? .noService(path: path) : .notASocket(path: path)
    case ENOTSOCK: return .notASocket(path: path)
    default: return .system("connecting to '\(path)' failed", code: code)
    }
  }

  // MARK: Calls

  /// Asks, and waits for the answer.
  ///
  /// - Throws: ``ClientError/refused(_:)`` where the service says no.
  public mutating func call(
    _ call: WireCall, within patience: Interval = LocationConnection.patience
  ) throws(ClientError) -> WireReply {
    try send(call)
    guard let reply = try next(to: call, within: patience) else { throw .noAnswer }
    return reply.reply
  }

  /// Says a call without waiting for its answer; with `oneway` there will be none.
  public func send(_ call: WireCall, oneway: Bool = false) throws(ClientError) {
    var json = JSONOutput()
    CallEncoder.encode(call, oneway: oneway, to: &json)
    var sent = 0
    let bytes = json.bytes
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe Glibc.send(
          descriptor, all.baseAddress?.advanced(by: sent), all.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EPIPE || errno == ECONNRESET { throw .ended }
        throw .system("writing to the service failed", code: errno)
      }
      sent += count
    }
  }

  /// The next answer to `call`.
  ///
  /// - Parameter patience: How long to wait for it; nil for as long as it takes.
  /// - Returns: nil when none came in that time.
  public mutating func next(
    to call: WireCall, within patience: Interval?
  ) throws(ClientError) -> IncomingReply? {
    var deadline = patience.map { LocationConnection.now + $0 }
    while true {
      let bytes = chunk
      var next = place
      let outcome = splitter.next(in: bytes.span, at: &next)
      place = next
      switch outcome {
      case .frame: return try decode(call)
      case .oversize: throw .malformed("a message of over \(WireLimits.replyFrame) bytes")
      case .needsMore: break
      }
      guard try fill(until: &deadline) else { return nil }
    }
  }

  private func decode(_ call: WireCall) throws(ClientError) -> IncomingReply {
    let reply: IncomingReply
    do throws(ReplyRejection) {
      reply = try ReplyDecoder.decode(splitter.frame, to: call)
    } catch {
      switch error {
      case .malformed: throw .malformed("no Varlink message")
      case .unexpected(let parameter): throw .malformed("the parameter '\(parameter)'")
      }
    }
    if case .error(let error) = reply.reply { throw .refused(error) }
    return reply
  }

  // MARK: Bytes

  /// What follows on a connection that no longer speaks Varlink; empty at its end.
  public mutating func raw(
    within patience: Interval = LocationConnection.patience
  ) throws(ClientError) -> [UInt8] {
    if place == chunk.count {
      var deadline: Instant? = LocationConnection.now + patience
      do throws(ClientError) {
        guard try fill(until: &deadline) else { throw .noAnswer }
      } catch .ended {
        return []
      }
    }
    defer { place = chunk.count }
    return Array(chunk[place...])
  }

  /// Waits for bytes and reads them; false when none came in time.
  private mutating func fill(until deadline: inout Instant?) throws(ClientError) -> Bool {
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let rest = deadline.map { max($0 - LocationConnection.now, .zero) }
      let timeout = rest.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
      let ready = unsafe poll(&waiting, 1, timeout)
      if ready == 0 { return false }
      if ready < 0 {
        if errno == EINTR { continue }
        throw .system("waiting for the service failed", code: errno)
      }
      if try read() { return true }
    }
  }

  /// Reads what is there; false when an interrupt came first.
  private mutating func read() throws(ClientError) -> Bool {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    chunk = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      let got = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if got < 0 { failure = errno }
      count = max(got, 0)
    }
    place = 0
    switch failure {
    case 0:
      if chunk.isEmpty { throw .ended }
      return true
    case EINTR, EAGAIN: return false
    case ECONNRESET: throw .ended
    default: throw .system("reading from the service failed", code: failure)
    }
  }

  static var now: Instant {
    var moment = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
    return Instant(
      microseconds: Int64(moment.tv_sec) * 1_000_000 + Int64(moment.tv_nsec) / 1_000)
  }
}
