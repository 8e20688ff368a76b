import ArgumentParser

/// What a simulated client asks for.
enum ServiceName: String, ExpressibleByArgument, CaseIterable {
  case standard, deferred, significant, visits, live, region
}

/// An option of `torpor simulate` that some services make no use of.
enum ServiceOption: String, CaseIterable {
  case accuracy, distance, timeout, pause, radius

  /// The services for which it changes something. The one place that says so.
  var services: [ServiceName] {
    switch self {
    case .accuracy, .pause: [.standard, .deferred]
    case .distance, .timeout: [.deferred]
    case .radius: [.region]
    }
  }

  /// What to say of options that are given and change nothing for `service`; nil where all do.
  static func unused(_ given: [ServiceOption], by service: ServiceName) -> String? {
    let unused = given.filter { !$0.services.contains(service) }
    guard !unused.isEmpty else { return nil }
    let words = unused.map { option in
      let users = option.services.map(\.rawValue).joined(separator: " or ")
      return "--\(option.rawValue) (that is for \(users))"
    }
    return "--service \(service.rawValue) makes no use of \(words.joined(separator: ", "))"
  }
}
