import CLinux
import Glibc
import LocationTypes
import LocationWire
import TextFormats

/// A blocking connection to the service: one call at a time.
///
/// To wait for several sources, poll(2) ``descriptor`` and then call with a timeout of zero.
public struct LocationConnection: LocationCaller, ~Copyable {
  /// Path that clients use by default: `TORPOR_SOCKET`, else ``ServiceSocket/standardPath``. All libraries, commands
  /// and examples use it. The service ignores the variable and listens at its `--socket`.
  public static var defaultPath: String {
    guard let value = unsafe getenv("TORPOR_SOCKET") else {
      return ServiceSocket.standardPath
    }
    let path = unsafe String(cString: value)
    return path.isEmpty ? ServiceSocket.standardPath : path
  }
  /// Default timeout for a reply; the service replies within milliseconds.
  public static let replyTimeout = Interval.seconds(10)

  /// Readable when data has arrived or the other end has closed.
  public let descriptor: Int32
  private var splitter = FrameSplitter(limit: WireLimits.replyFrame)
  private var chunk: [UInt8] = []
  private var chunkOffset = 0

  /// Connects to the service.
  public init(path: String = LocationConnection.defaultPath) throws(ClientError) {
    let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    guard !path.isEmpty, path.utf8.count < capacity else {
      throw .system(
        "the socket's path '\(path)' is empty or longer than \(capacity - 1) bytes", code: EINVAL)
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system("creating a socket failed", code: errno) }
    let result = unsafe clinux_path_connect(descriptor, path)
    guard result == 0 else {
      close(descriptor)
      throw LocationConnection.connectError(path, -result)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  static func connectError(_ path: String, _ code: Int32) -> ClientError {
    switch code {
    case ENOENT, ENOTDIR: return .noSocket(path: path)
    case EACCES, EPERM: return .connectionNotPermitted(path: path)
    case ECONNREFUSED:
      var status = stat()
      // A starting service removes the socket of the previous one.
      guard unsafe stat(path, &status) == 0 else { return .noSocket(path: path) }
      let isSocket = status.st_mode & S_IFMT == S_IFSOCK
      return isSocket ? .noService(path: path) : .notASocket(path: path)
    case ENOTSOCK: return .notASocket(path: path)
    default: return .system("connecting to '\(path)' failed", code: code)
    }
  }

  // MARK: Calls

  /// Sends a call and waits up to ``replyTimeout`` for the reply.
  @discardableResult
  public mutating func call(_ call: WireCall) throws(ClientError) -> WireReply {
    try self.call(call, within: LocationConnection.replyTimeout)
  }

  /// Sends a call and waits for the reply.
  ///
  /// - Throws: ``ClientError/refused(_:)`` for an error reply.
  @discardableResult
  public mutating func call(
    _ call: WireCall, within timeout: Interval
  ) throws(ClientError) -> WireReply {
    try send(call)
    guard let reply = try next(to: call, within: timeout) else { throw .timedOut }
    return reply.reply
  }

  /// Sends a call without waiting for its reply; with `oneway` no reply follows.
  public func send(_ call: WireCall, oneway: Bool = false) throws(ClientError) {
    var json = JSONOutput()
    CallEncoder.encode(call, oneway: oneway, to: &json)
    var sent = 0
    let bytes = json.bytes
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.send(
          descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EPIPE || errno == ECONNRESET { throw .disconnected }
        throw .system("writing to the service failed", code: errno)
      }
      sent += count
    }
  }

  /// The next reply to `call`.
  ///
  /// - Parameter timeout: Maximum time to wait; nil for no limit.
  /// - Returns: nil if no reply arrived in time.
  public mutating func next(
    to call: WireCall, within timeout: Interval?
  ) throws(ClientError) -> IncomingReply? {
    var deadline = timeout.map { LocationConnection.now + $0 }
    while true {
      let bytes = chunk
      var next = chunkOffset
      let outcome = splitter.next(in: bytes.span, at: &next)
      chunkOffset = next
      switch outcome {
      case .frame: return try decode(call)
      case .oversize: throw .malformed("a message longer than \(WireLimits.replyFrame) bytes")
      case .needsMore: break
      }
      guard try receive(until: &deadline) else { return nil }
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

  /// Received bytes of a connection that was upgraded from Varlink to raw data; empty at its end.
  public mutating func readRaw(
    within timeout: Interval = LocationConnection.replyTimeout
  ) throws(ClientError) -> [UInt8] {
    if chunkOffset == chunk.count {
      var deadline: Instant? = LocationConnection.now + timeout
      do throws(ClientError) {
        guard try receive(until: &deadline) else { throw .timedOut }
      } catch .disconnected {
        return []
      }
    }
    defer { chunkOffset = chunk.count }
    return Array(chunk[chunkOffset...])
  }

  /// Waits for bytes and reads them; false if none arrived in time.
  private mutating func receive(until deadline: inout Instant?) throws(ClientError) -> Bool {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let remaining = deadline.map { max($0 - LocationConnection.now, .zero) }
      let timeout = remaining.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
      let ready = unsafe poll(&entry, 1, timeout)
      if ready == 0 { return false }
      if ready < 0 {
        if errno == EINTR { continue }
        throw .system("waiting for the service failed", code: errno)
      }
      if try read() { return true }
    }
  }

  /// Reads received bytes; false after an interrupt.
  private mutating func read() throws(ClientError) -> Bool {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    chunk = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      let length = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if length < 0 { failure = errno }
      count = max(length, 0)
    }
    chunkOffset = 0
    switch failure {
    case 0:
      if chunk.isEmpty { throw .disconnected }
      return true
    case EINTR, EAGAIN: return false
    case ECONNRESET: throw .disconnected
    default: throw .system("reading from the service failed", code: failure)
    }
  }

  static var now: Instant { Instant(microseconds: clinux_monotonic_us()) }
}
