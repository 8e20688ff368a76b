import Glibc
import LocationClient
import LocationTypes
import TOMLFiles
import UplinkPayload

/// The program `torpor-uplink`: reads its settings and runs a controller until it is ended.
public enum UplinkProgram {
  /// Where the settings are, unless an option names another file.
  public static let settingsPath = "/etc/torpor/uplink.toml"

  /// Reads settings from a file, and checks the files that they name.
  public static func settings(in path: String) throws(FileProblems) -> UplinkSettings {
    try UplinkSettings(
      parsing: try readFile(path), file: path, defaultDevice: defaultDevice,
      checkFile: PrivateFile.problem(with:isSecret:))
  }

  /// A name from a hash of the machine id, which itself must not leave the machine; nil if there is none.
  static var defaultDevice: DeviceName? {
    guard let id = PrivateFile.firstLine(of: "/etc/machine-id"), id.utf8.count == 32 else {
      return nil
    }
    var hash = FNV1a()
    for byte in "torpor-uplink \(id)".utf8 { hash.add(byte) }
    return DeviceName("board-" + String(hash.value, radix: 16))
  }

  /// Runs until another program takes over the client.
  ///
  /// - Parameters:
  ///   - socket: Path of the service's socket.
  ///   - status: File for the status; nil for none.
  ///   - metrics: Folder for the file with the metrics; nil for none.
  ///   - log: Writes a line to the log.
  public static func run(
    _ settings: UplinkSettings, socket: String, status: String?, metrics: String?,
    log: @escaping (String) -> Void
  ) throws(ClientError) -> Never {
    for warning in settings.warnings { log(warning) }
    var lastFailure: Int32 = 0
    var controller = UplinkController(settings, socket: socket, log: log) { report in
      if let status { report.write(to: status) }
      guard let metrics else { return }
      let path = "\(metrics)/torpor-uplink.prom"
      let failure = report.writeMetrics(to: path)
      if failure != 0, failure != lastFailure {
        log(
          "'\(path)' cannot be written: \(ClientError.reason(failure)); name a folder that this "
            + "user may write to with --metrics, for example /run/torpor-uplink")
      }
      lastFailure = failure
    }
    try controller.run()
  }

  /// Connects to all destinations and prints what works. Returns whether all of them do.
  public static func check(_ settings: UplinkSettings, print: (String) -> Void) -> Bool {
    UplinkCheck(settings: settings).run(print: print)
  }
}
