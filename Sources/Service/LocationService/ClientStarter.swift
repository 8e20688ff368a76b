import CLinux
import Glibc
import LinuxHAL
import LocationWire
import TextFormats

/// Starts clients' programs as defined by the policy (BKG-19). Made by `torpord`, called by ``LocationServer``.
///
/// A command runs as its client's user, with the environment variables `TORPOR_LAUNCH_REASON`, `TORPOR_CLIENT` and
/// `TORPOR_SOCKET`. For a unit, these are written to `launch/UNIT.env` next to the socket, for `EnvironmentFile=`.
public struct ClientStarter: Sendable {
  /// Path of systemctl, which starts units.
  private let systemctl = "/usr/bin/systemctl"
  let socket: String

  /// Creates a starter for the clients of that socket.
  public init(socket: String) { self.socket = socket }

  /// Starts a program.
  ///
  /// - Returns: The error; nil on success.
  public func start(_ launch: Launch) -> String? {
    do {
      switch launch.relaunch {
      case .command(let arguments):
        try ProgramStarter.start(
          arguments, environment: environment(of: launch), as: launch.client.user)
      case .unit(let name):
        try write(environment(of: launch), for: name)
        try ProgramStarter.start(
          [systemctl, "--no-block", "start", name], environment: [], as: geteuid())
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func environment(of launch: Launch) -> [String] {
    [
      "TORPOR_LAUNCH_REASON=\(launch.reason.rawValue)", "TORPOR_CLIENT=\(launch.client.name)",
      "TORPOR_SOCKET=\(socket)",
    ]
  }

  /// A line of an environment file in the syntax of systemd.exec(5), with a quoted value.
  ///
  /// Scalars are compared: a mark and a combining mark after it are one `Character`, but two for systemd.
  static func quoted(_ variable: String) -> String {
    var line = String.UnicodeScalarView()
    var isValue = false
    for scalar in variable.unicodeScalars {
      if isValue, "\"\\`$".unicodeScalars.contains(scalar) { line.append("\\") }
      line.append(scalar)
      guard scalar == "=", !isValue else { continue }
      isValue = true
      line.append("\"")
    }
    return String(line) + "\"\n"
  }

  /// Writes the environment file of a unit atomically.
  private func write(_ environment: [String], for unit: String) throws(SystemError) {
    let folder =
      socket.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/") + "/launch"
    let result = unsafe mkdir(folder, 0o755)
    guard result == 0 || errno == EEXIST else {
      throw SystemError("creating '\(folder)'", code: errno)
    }
    let path = "\(folder)/\(unit).env"
    let text = Array(environment.map(ClientStarter.quoted).joined().utf8)
    let failure = TextFile.replace(path, with: text, for: .owner)
    guard failure == 0 else { throw SystemError("writing '\(path)'", code: failure) }
  }
}
