import LocationWire

/// The command line of `torpord`. Parsed by hand, because the argument parser of `torpor` is larger than this whole
/// service.
struct Options {
  /// Name of the board or path of its profile; empty until parsed.
  var board = ""
  var line: String?
  var socket = ServiceSocket.standardPath
  var clients: String?
  /// Whether no GPIO line is used.
  var ignoresPins = false
  var state = "/var/lib/torpor"
  /// Socket for programs that use gpsd's protocol; nil for none.
  var gpsd: String?
  /// Socket for the helper that accepts their TCP connections; nil for none.
  var gpsdHelper: String?
  /// Whether the serial line is a FIFO, which QEMU's user mode can open. For tests only, and not in ``help``.
  var isLinePipe = false

  /// chronyd's socket for samples of the system clock; nil to leave the clock alone.
  var clock: String?

  /// Folder of the file with the metrics; nil for none.
  var metrics: String?

  /// Policy file that is read by default, if it exists.
  static let standardClients = "/etc/torpor/clients.toml"

  static let version = "0.1.0"

  static let help = """
    usage: torpord --board NAME|FILE [--line DEVICE] [--socket PATH] [--state FOLDER]
                   [--clients FILE] [--clock PATH] [--no-pins] [--gpsd PATH]
                   [--gpsd-helper PATH] [--metrics FOLDER]

    Torpor's location service: keeps the GNSS receiver and the board asleep as long as its
    clients allow, and serves them on a socket. It runs in the foreground; SIGTERM ends it.

      --board NAME|FILE  the board's profile; `torpor board list` shows the names
      --line DEVICE      the receiver's serial line (default: from the profile)
      --socket PATH      where clients connect (default: \(Options().socket))
      --state FOLDER     where fixes are stored (default: \(Options().state))
      --clients FILE     who may use location (default: \(standardClients), if it exists)
      --clock PATH       chronyd's socket (refclock SOCK), which receives the time of fixes,
                         or none (default: none)
      --no-pins          use no GPIO line of the profile, for a receiver on a desk
      --gpsd PATH        serve gpsd's protocol on this socket as well
      --gpsd-helper PATH take TCP connections of that protocol from torpor-gpsd here
      --metrics FOLDER   write the metrics to torpor.prom in this folder, for node_exporter's
                         textfile collector
      --version          print the version
      --help             print this text

    Exit code: 0, or one of sysexits.h: 64 wrong options, 69 the service cannot run here,
    78 wrong board profile or clients file.
    """

  enum Parsed {
    case run(Options)
    case output(String)
    case invalid(String)
  }

  static func parse(_ arguments: [String]) -> Parsed {
    var options = Options()
    var remaining = arguments[...]
    var names: Set<String> = []
    while let argument = remaining.popFirst() {
      // `--board=NAME` is the same as `--board NAME`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = argument.hasPrefix("--") ? String(parts[0]) : argument
      if parts.count == 2, argument.hasPrefix("--") {
        remaining.insert(String(parts[1]), at: remaining.startIndex)
      }
      switch name {
      case "--help", "-h": return .output(help)
      case "--version": return .output("torpord \(version)")
      case "--no-pins": options.ignoresPins = true
      case "--line-is-pipe": options.isLinePipe = true
      case "--board", "--line", "--socket", "--state", "--clients", "--clock", "--gpsd",
        "--gpsd-helper", "--metrics":
        guard let value = remaining.popFirst(), !value.isEmpty else {
          return .invalid("\(name) requires a value")
        }
        // The unit names a clock; the last one counts, so that the administrator's options can replace it.
        guard names.insert(name).inserted || name == "--clock" else {
          return .invalid("\(name) is given twice")
        }
        switch name {
        case "--board": options.board = value
        case "--line": options.line = value
        case "--socket": options.socket = value
        case "--clients": options.clients = value
        case "--clock":
          guard value == "none" || (value.utf8.first == 0x2F && value.utf8.count <= 107) else {
            return .invalid("--clock requires an absolute path of up to 107 bytes, or none")
          }
          options.clock = value == "none" ? nil : value
        case "--gpsd": options.gpsd = value
        case "--gpsd-helper": options.gpsdHelper = value
        case "--metrics": options.metrics = value
        default: options.state = value
        }
      default:
        let kind = name.hasPrefix("-") ? "unknown option" : "unexpected argument"
        return .invalid("\(kind) '\(name)'")
      }
    }
    if options.board.isEmpty {
      return .invalid(
        "--board is missing; name the board or its profile")
    }
    return .run(options)
  }
}
