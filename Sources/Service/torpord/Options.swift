/// What the command line says. Read by hand: the library that `torpor` uses is larger than all of
/// this service.
struct Options {
  /// A board's name or its profile's path; empty until it is said.
  var board = ""
  var line: String?
  var socket = "/run/torpor/torpor.sock"
  var clients: String?
  /// No GPIO line is used.
  var isUnwired = false
  var state = "/var/lib/torpor"
  /// The line is a FIFO, which QEMU's user mode can open. Only for tests, and not in ``help``.
  var isLinePipe = false

  /// Read where no other is named, if it is there.
  static let standardClients = "/etc/torpor/clients.toml"

  static let version = "0.1.0"

  static let help = """
    usage: torpord --board NAME|FILE [--line DEVICE] [--socket PATH] [--state FOLDER]
                   [--clients FILE] [--no-pins]

    Torpor's location service: keeps the GNSS receiver and the board asleep as long as its
    clients allow, and serves them on a socket. It runs in the foreground; SIGTERM ends it.

      --board NAME|FILE  the board's profile; `torpor board list` has the names
      --line DEVICE      the receiver's serial line (default: what the profile says)
      --socket PATH      where clients connect (default: \(Options().socket))
      --state FOLDER     where fixes are kept (default: \(Options().state))
      --clients FILE     who may use location (default: \(standardClients), if it is there)
      --no-pins          use no GPIO line that the profile names, as on a desk
      --version          tells the version
      --help             tells this

    Exit code: 0, or one of sysexits.h: 64 wrong options, 69 the service cannot run here,
    78 wrong board profile or clients file.
    """

  enum Parsed {
    case run(Options)
    case tell(String)
    case wrong(String)
  }

  static func parse(_ arguments: [String]) -> Parsed {
    var options = Options()
    var rest = arguments[...]
    var seen: Set<String> = []
    while let argument = rest.popFirst() {
      // `--board=NAME` says the same as `--board NAME`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = argument.hasPrefix("--") ? String(parts[0]) : argument
      if parts.count == 2, argument.hasPrefix("--") {
        rest.insert(String(parts[1]), at: rest.startIndex)
      }
      switch name {
      case "--help", "-h": return .tell(help)
      case "--version": return .tell("torpord \(version)")
      case "--no-pins": options.isUnwired = true
      case "--line-is-pipe": options.isLinePipe = true
      case "--board", "--line", "--socket", "--state", "--clients":
        guard let value = rest.popFirst(), !value.isEmpty else {
          return .wrong("\(name) needs a value")
        }
        guard seen.insert(name).inserted else { return .wrong("\(name) is given twice") }
        switch name {
        case "--board": options.board = value
        case "--line": options.line = value
        case "--socket": options.socket = value
        case "--clients": options.clients = value
        default: options.state = value
        }
      default:
        let kind = name.hasPrefix("-") ? "no option" : "nothing to be done with"
        return .wrong("there is \(kind) '\(name)'")
      }
    }
    if options.board.isEmpty { return .wrong("--board is missing: which board is this?") }
    return .run(options)
  }
}
