import ArgumentParser

/// Values of `--service`: the service that the simulated client uses.
enum ServiceName: String, ExpressibleByArgument, CaseIterable {
  case standard, deferred, significant, visits, live, region, hourly

  /// Whether its program need not be connected (`--launched`).
  var canBeLaunched: Bool {
    switch self {
    case .standard, .deferred, .live: false
    case .significant, .visits, .region, .hourly: true
    }
  }
}

/// An option of `torpor simulate` that not every service uses.
enum ServiceOption: String, CaseIterable {
  case accuracy, distance, timeout, pause, radius

  /// Services that use the option.
  var services: [ServiceName] {
    switch self {
    case .accuracy, .pause: [.standard, .deferred]
    case .distance, .timeout: [.deferred]
    case .radius: [.region]
    }
  }

  /// Warning about given options that have no effect with `service`; nil if all have one.
  static func unused(_ given: [ServiceOption], by service: ServiceName) -> String? {
    let unused = given.filter { !$0.services.contains(service) }
    guard !unused.isEmpty else { return nil }
    let words = unused.map { option in
      let users = option.services.map(\.rawValue).joined(separator: " or ")
      return "--\(option.rawValue) (used by \(users))"
    }
    return "--service \(service.rawValue) ignores \(words.joined(separator: ", "))"
  }
}
