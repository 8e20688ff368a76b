import LocationClient
import LocationWire
import Uplink

/// The command line of `torpor-uplink`.
struct Options {
  /// The settings.
  var config = UplinkProgram.settingsPath
  /// Socket of the service.
  var socket = LocationConnection.defaultPath
  /// File for the status; nil for none.
  var status: String?
  /// Folder for the file with the metrics; nil for none.
  var metrics: String?
  /// What to check instead of running.
  var check: Check?

  /// What is checked.
  enum Check {
    case settings
    case destinations
  }

  static let help = """
    usage: torpor-uplink [--config FILE] [--socket PATH] [--status FILE] [--metrics FOLDER]
           torpor-uplink --check [--config FILE]
           torpor-uplink --check-settings [--config FILE]

    Sends the fixes of this board to a store, over an MQTT broker.

      --config FILE     settings (default: \(UplinkProgram.settingsPath))
      --socket PATH     socket of torpord (default: TORPOR_SOCKET, or \(ServiceSocket.standardPath))
      --status FILE     where `torpor uplink status` finds the status
      --metrics FOLDER  write the metrics to torpor-uplink.prom in this folder, for node_exporter's
                        textfile collector
      --check           connect to each destination, send a test message, wait for the store's answer
      --check-settings  only read the settings
      --help            print this text

    As root, both checks use the rights of the user \(UnitUser.name), as the unit does.

    Exit code: 0, or one of sysexits.h: 64 wrong options, 69 a destination does not work or another
    program uses the client's name, 71 the user cannot be changed, 78 wrong settings.
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
      case "--check": options.check = .destinations
      case "--check-settings": options.check = .settings
      case "--config", "--socket", "--status", "--metrics":
        guard let path = remaining.popFirst(), !path.isEmpty else {
          return .invalid("\(name) requires a path")
        }
        switch name {
        case "--config": options.config = path
        case "--socket": options.socket = path
        case "--status": options.status = path
        case _: options.metrics = path
        }
      default: return .invalid("unknown option '\(name)'")
      }
    }
    return .run(options)
  }
}
