import Foundation
import Glibc
import LocationClient
import LocationWire

/// Who this process is for the service, and what its Info.plist declares.
///
/// `Info.plist` is read from the folder of the executable, as `Bundle.main` does.
struct ClientIdentity: Sendable {
  /// The client's name (AUT-2): `TORPOR_CLIENT` of a program that the service started, else `CFBundleIdentifier`, else
  /// the name of the program's file.
  var name: String
  /// Path of the service's socket.
  var socket: String
  /// `NSLocationRequireExplicitServiceSession` or `CLRequireExplicitServiceSession` (X8, BKG-15).
  var needsExplicitSessions: Bool
  /// Whether `UIBackgroundModes` contains `location`.
  var hasBackgroundMode: Bool

  /// The identity of this process.
  static var process: ClientIdentity {
    func flag(_ key: String) -> Bool {
      Bundle.main.object(forInfoDictionaryKey: key) as? Bool ?? false
    }
    let modes = Bundle.main.object(forInfoDictionaryKey: "UIBackgroundModes") as? [String]
    return ClientIdentity(
      name: processName, socket: LocationConnection.defaultPath,
      needsExplicitSessions: flag("NSLocationRequireExplicitServiceSession")
        || flag("CLRequireExplicitServiceSession"),
      hasBackgroundMode: modes?.contains("location") ?? false)
  }

  private static var processName: String {
    let candidates = [
      variable("TORPOR_CLIENT"), Bundle.main.bundleIdentifier, executableName,
    ]
    return candidates.compactMap { $0 }.first { NameValidation.isValidClient($0) } ?? "program"
  }

  /// A variable of the environment. `ProcessInfo.environment` would add 2 MB to the resident memory of a program.
  private static func variable(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(cString: text)
  }

  /// Name of the program's file, shortened to a client name's maximum length.
  private static var executableName: String {
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(
      decoding: bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var name = path.split(separator: "/").last.map(String.init) ?? ""
    while name.utf8.count > WireLimits.clientName { name.removeLast() }
    return name
  }
}
