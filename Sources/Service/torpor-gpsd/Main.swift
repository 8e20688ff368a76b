import CLinux
import Glibc

/// The helper `torpor-gpsd`: accepts TCP connections of local programs, finds the user of each, and passes user and
/// connection to `torpord`.
///
/// The service has no network: it sees local sockets only. This program has the network and nothing else: it reads and
/// writes no byte of a connection. The user comes from the kernel's list of sockets by one exact look-up. A connection
/// whose program has no user, because it has ended or is not on this machine, is closed.
@main
struct Main {
  static func main() {
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .output(let text): print(text)
    case .invalid(let reason):
      log("\(reason); run `torpor-gpsd --help` for the options")
      exit(EX_USAGE)
    case .run(let options): exit(run(options))
    }
  }

  private static func run(_ options: Options) -> Int32 {
    let listeners = inheritedListeners() ?? ownListeners(options.port)
    guard !listeners.isEmpty else { return EX_UNAVAILABLE }
    let list = clinux_socket_list_open()
    guard list >= 0 else {
      log("the kernel's list of sockets cannot be read: \(reason(-list))")
      return EX_UNAVAILABLE
    }
    // Without the list, no program's user would be found, and each connection closed.
    let check = clinux_socket_list_check(list, listeners[0])
    guard check == 0 else {
      log(
        "the kernel does not find the users of TCP connections: \(reason(-check)); it needs CONFIG_INET_DIAG "
          + "(module tcp_diag)")
      return EX_UNAVAILABLE
    }
    var link = ServiceLink(path: options.service)
    var ready = listeners.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      guard unsafe poll(&ready, nfds_t(ready.count), -1) >= 0 || errno == EINTR else {
        return EX_OSERR
      }
      for entry in ready where entry.revents != 0 { accept(entry.fd, list, &link) }
    }
  }

  /// Accepts one connection and passes it on.
  private static func accept(_ listener: Int32, _ list: Int32, _ link: inout ServiceLink) {
    let connection = clinux_accept(listener)
    guard connection >= 0 else {
      switch -connection {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        log("no connection can be accepted: \(reason(-connection))")
        // The connection stays in the queue: do not try again at once.
        sleep(1)
      default: break
      }
      return
    }
    defer { close(connection) }
    var user = UInt32.max
    let result = unsafe clinux_tcp_peer_user(list, connection, &user)
    switch -result {
    case 0: link.pass(connection, of: user)
    // The program has ended, or is not on this machine.
    case ENOENT, ENOTCONN: break
    default: link.logFailure(of: "the user of a connection cannot be found", -result)
    }
  }

  /// The sockets passed by the service manager (sd_listen_fds(3)); nil without them.
  private static func inheritedListeners() -> [Int32]? {
    guard let process = variable("LISTEN_PID"), Int32(process) == getpid(),
      let count = variable("LISTEN_FDS").flatMap({ Int32($0) }), (1...16).contains(count)
    else { return nil }
    let first: Int32 = 3
    let listeners = Array(first..<first + count)
    for listener in listeners {
      _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
      _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK)
    }
    return listeners
  }

  /// Listens on the loopback addresses; on a host without IPv6, on 127.0.0.1 only.
  private static func ownListeners(_ port: UInt16) -> [Int32] {
    let four = clinux_tcp_listen(0, port)
    guard four >= 0 else {
      log(
        "cannot listen on 127.0.0.1 port \(port): \(reason(-four)); `torpor doctor` names the program that uses it"
      )
      return []
    }
    let six = clinux_tcp_listen(1, port)
    if six < 0 { log("not listening on [::1] port \(port): \(reason(-six))") }
    return six < 0 ? [four] : [four, six]
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// The C library's text for an error number.
  static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// Writes a line to standard error.
  static func log(_ text: String) {
    let line = Array("torpor-gpsd: \(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The connection to the service. Opened when it is needed, and again after the service has restarted.
struct ServiceLink {
  private let path: String
  private var descriptor: Int32 = -1
  /// Whether the last attempt failed, so that a missing service is logged once.
  private var hasFailed = false
  /// Time of the last line about a failed look-up, seconds of the monotonic clock.
  private var lastFailure: Int?
  /// Least time between two such lines, seconds.
  private static let failurePause = 60

  init(path: String) { self.path = path }

  /// Passes a connection to the service. If that fails, the program's connection is closed by the caller.
  mutating func pass(_ connection: Int32, of user: UInt32) {
    if descriptor >= 0, clinux_send_descriptor(descriptor, user, connection) == 0 { return }
    if descriptor >= 0 { close(descriptor) }
    descriptor = unsafe path.withCString { unsafe clinux_local_connect($0) }
    var result = descriptor
    if descriptor >= 0 { result = clinux_send_descriptor(descriptor, user, connection) }
    if result < 0, !hasFailed {
      Main.log(
        "torpord cannot be reached at '\(path)': \(Main.reason(-result)); check that it runs with --gpsd-helper"
      )
    }
    hasFailed = result < 0
  }

  /// Logs a failure, at most once a minute.
  mutating func logFailure(of text: String, _ code: Int32) {
    let now = Int(clinux_monotonic_us() / 1_000_000)
    if let lastFailure, now - lastFailure < ServiceLink.failurePause { return }
    lastFailure = now
    Main.log("\(text): \(Main.reason(code))")
  }
}
