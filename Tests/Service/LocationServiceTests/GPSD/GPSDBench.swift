import GNSSProtocols
import LocationPolicy
import LocationTypes
import TestSupport

@testable import LocationService

let watchJSON = "?WATCH={\"enable\":true,\"json\":true}"

/// The class of each object.
func classes(_ lines: [String]) -> [String] {
  lines.map { line in
    guard line.hasPrefix("{\"class\":\"") else { return line }
    return String(line.dropFirst(10).prefix { $0 != "\"" })
  }
}

/// A service with the sockets of gpsd's protocol.
enum GPSDBench {
  /// The programs need permission; root has it.
  static let user: UInt32 = 1_000

  /// A service that permits one user.
  static func make(
    _ rights: AccessRights = AccessRights(authorization: .always),
    others: [UInt32: AccessRights] = [:], after remains: ServiceBench.Remains? = nil,
    battery: BatteryThresholds = BatteryThresholds(),
    _ change: (inout LocationServer.Environment) -> Void = { _ in }
  ) throws -> ServiceBench {
    try ServiceBench(
      policy(rights, others: others), after: remains, canIdle: true, servesGPSD: true,
      battery: battery, change)
  }

  /// A service whose rule for the programs has savings.
  static func saving(
    interval_s: Double? = nil, accuracy_m: Double? = nil, defer_s: Double? = nil,
    staleAfter_s: Double? = nil
  ) throws -> ServiceBench {
    var rights = AccessRights(authorization: .always)
    rights.gpsd.saving.interval_s = interval_s
    rights.gpsd.saving.accuracy_m = accuracy_m
    rights.gpsd.saving.defer_s = defer_s
    rights.gpsd.staleAfter_s = staleAfter_s
    return try make(rights)
  }

  /// A policy with rules for users.
  static func policy(_ rights: AccessRights, others: [UInt32: AccessRights] = [:]) -> AccessPolicy {
    var rules = [AccessRule(AccessSubject(uid: user), rights, line: 1)]
    for (number, other) in others.sorted(by: { $0.key < $1.key }).enumerated() {
      rules.append(AccessRule(AccessSubject(uid: other.key), other.value, line: number + 2))
    }
    return AccessPolicy(rules: rules)
  }
}

extension ServiceBench {
  /// Whether the receiver is to send satellites in view.
  var watchesSatellites: Bool { loop.clients.watchesSatellites }

  /// Advances one second, then sends two satellites in view.
  func sendSatellites() {
    var view = SatelliteView()
    view.add(Satellite(.gps, 2, isUsed: true, elevation_deg: 71, azimuth_deg: 285, signal_dBHz: 46))
    view.add(Satellite(.gps, 5, elevation_deg: 3, azimuth_deg: 10))
    var frame = FrameBuffer()
    frame.appendNavSAT(view, timeOfWeek_ms: 1_000)
    send((0..<frame.count).map { frame[$0] })
  }

  /// The demand of the first client.
  var firstDemand: Demand { loop.engine.usage(of: ClientID(0), at: stage.now).demand }

  /// Lets a time pass, with a fix in each second in which the first client needs one. Returns the lines of a program.
  func run(_ seconds: Int, _ program: Program) -> [String] {
    var lines: [String] = []
    for _ in 0..<seconds {
      if isDemanding || needsFix { fix() } else { pass(1) }
      lines += program.lines()
    }
    return lines
  }
}

/// The times of the fixes among lines of JSON.
func times(_ lines: [String]) -> [String] {
  lines.filter { $0.contains("\"TPV\"") && $0.contains("\"lat\"") }.compactMap { line in
    line.split(separator: ",").first { $0.hasPrefix("\"time\":") }.map(String.init)
  }
}
