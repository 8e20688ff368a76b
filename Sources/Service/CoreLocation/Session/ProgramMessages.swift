import Glibc
import LocationClient
import LocationPolicy
import LocationWire
import Synchronization

/// Lines on standard error that explain why a program gets no location, each once.
///
/// Delegates and updates report the same causes without words; these lines name the command that removes the cause.
final class ProgramMessages: Sendable {
  private let written = Mutex<Set<String>>([])

  /// Writes a line, unless it was written before.
  func write(_ text: String) {
    guard written.withLock({ $0.insert(text).inserted }) else { return }
    let line = Array("CoreLocation: \(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// The service could not be reached.
  func report(_ error: ClientError) { write(error.description) }

  /// Another process has taken over the client (AUT-2).
  func reportTakeOver() {
    write(
      "another program has connected as this client, and this one receives nothing any more: end one of them, or give "
        + "each a name of its own with TORPOR_CLIENT or with CFBundleIdentifier in Info.plist")
  }

  /// Updates in the background are not declared (BKG-18).
  func reportMissingMode() {
    write(
      "allowsBackgroundLocationUpdates has no effect: Info.plist, in the folder of the executable, needs the key "
        + "UIBackgroundModes with the value `location`")
  }

  /// The process needs an explicit service session, and has none (BKG-15).
  func reportMissingSession() {
    write(
      "Info.plist requires explicit service sessions (NSLocationRequireExplicitServiceSession): create a "
        + "CLServiceSession and keep it")
  }

  /// A connection has an authorization that gives no location.
  func report(_ authorization: Authorization, of client: String) {
    switch authorization {
    case .notDetermined:
      write(
        "it is not decided yet whether '\(client)' may use location; an administrator allows it with "
          + "`sudo \(ClientError.allowCommand(for: client))`")
    case .restricted, .denied: write(ClientError.locationNotPermitted(client: client).description)
    case .always, .whenInUse: break
    }
  }
}
