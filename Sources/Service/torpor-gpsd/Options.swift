/// The command line of `torpor-gpsd`.
struct Options {
  /// Socket of the service where descriptors are handed over.
  var service = "/run/torpor/gpsd-helper.sock"
  /// Port that is listened on, without a socket of the service manager.
  var port: UInt16 = 2_947

  static let help = """
    usage: torpor-gpsd [--service PATH] [--port NUMBER]

    Accepts local TCP connections of programs that use gpsd's protocol, finds the user of each
    program, and passes the connection to torpord, which serves it. The service manager passes
    the listening sockets; without them, it listens on 127.0.0.1 and [::1].

      --service PATH  where torpord accepts connections (default: \(Options().service))
      --port NUMBER   port without a service manager (default: \(Options().port))
      --help          print this text

    Exit code: 0, or one of sysexits.h: 64 wrong options, 69 the port or the
    kernel's list of TCP sockets cannot be used.
    """

  enum Parsed {
    case run(Options)
    case output(String)
    case invalid(String)
  }

  static func parse(_ arguments: [String]) -> Parsed {
    var options = Options()
    var remaining = arguments[...]
    while let name = remaining.popFirst() {
      switch name {
      case "--help", "-h": return .output(help)
      case "--service":
        guard let path = remaining.popFirst(), !path.isEmpty else {
          return .invalid("--service requires a path")
        }
        options.service = path
      case "--port":
        guard let text = remaining.popFirst(), let port = UInt16(text), port > 0 else {
          return .invalid("--port requires a number from 1 to 65535")
        }
        options.port = port
      default: return .invalid("unknown option '\(name)'")
      }
    }
    return .run(options)
  }
}
