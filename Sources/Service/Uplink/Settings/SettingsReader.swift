import BoardHardware
import LocationTypes
import TOMLFiles
import UplinkPayload

/// Converts `uplink.toml` into settings and collects all problems.
struct SettingsReader {
  private let text: TOMLText
  private let checkFile: CheckFile
  private var problems: ProblemList

  /// Why a file that the settings name may not be used; nil if it may. The second argument: whether it is secret.
  typealias CheckFile = (String, Bool) -> PrivateFile.Problem?

  private static let rootKeys = [
    "device", "every_s", "slack_s", "receipt", "decimals", "visits", "newest", "home_assistant",
    "region",
    "destination",
  ]
  private static let regionKeys = ["name", "latitude", "longitude", "radius_m"]
  private static let destinationKeys = [
    "host", "port", "tls", "user", "password_file", "ca", "certificate", "key", "url", "token_file",
    "gzip",
  ]

  init(_ text: TOMLText, file: String, checkFile: @escaping CheckFile) {
    self.text = text
    problems = ProblemList(file: file)
    self.checkFile = checkFile
  }

  /// - Parameter defaultDevice: Name of the board if the file has none.
  mutating func read(defaultDevice: DeviceName?) throws(FileProblems) -> UplinkSettings {
    var device = defaultDevice
    var interval = 3_600.0
    var slack: Double?
    var confirmation = UplinkSettings.Confirmation.store
    var decimals = UplinkSettings.Limits.decimals.upperBound
    var (visits, newest, homeAssistant) = (false, false, false)
    var regions: [UplinkSettings.Region] = []
    var destinations: [UplinkSettings.Destination]?
    for index in text.children(of: -1) {
      let node = text.nodes[index]
      switch node.key {
      case "device": device = readDevice(node) ?? device
      case "every_s":
        let range = UplinkSettings.Limits.interval
        interval = problems.number(node, node.key, range, unit: "seconds") ?? interval
      case "slack_s":
        let range = 0...UplinkSettings.Limits.interval.upperBound
        slack = problems.number(node, node.key, range, unit: "seconds")
      case "receipt": confirmation = readConfirmation(node) ?? .store
      case "decimals":
        let range = UplinkSettings.Limits.decimals
        decimals = integer(node, node.key, range, "is not a number of decimals") ?? decimals
      case "visits": visits = problems.flag(node, node.key) ?? false
      case "newest": newest = problems.flag(node, node.key) ?? false
      case "home_assistant": homeAssistant = problems.flag(node, node.key) ?? false
      case "region":
        regions = readTables(index, limit: UplinkSettings.Limits.regions) {
          $0.readRegion($1, $2)
        }
      case "destination":
        destinations = readTables(index, limit: UplinkSettings.Limits.destinations) {
          $0.readDestination($1, $2)
        }
      default: problems.reportUnknown(node, path: node.key, among: SettingsReader.rootKeys)
      }
    }
    if destinations == nil {
      problems.report(
        "destination", at: .start, "is missing", expected: "at least one table [[destination]]")
    }
    if device == nil, !problems.contains("device") {
      problems.report(
        "device", at: .start, "is missing, and the machine id cannot be read",
        expected: "1 to 64 letters, digits, _ or -")
    }
    guard let device, let destinations else { throw FileProblems(sorting: problems.problems) }
    let settings = UplinkSettings(
      device: device, interval: Interval(seconds: interval),
      slack: Interval(seconds: slack ?? interval / 4), confirmation: confirmation,
      decimals: decimals, sendsVisits: visits, regions: regions, publishesNewest: newest,
      announces: homeAssistant,
      destinations: destinations)
    checkCombinations(in: settings)
    try problems.check()
    return settings
  }

  /// Checks keys that need or exclude others.
  private mutating func checkCombinations(in settings: UplinkSettings) {
    if Set(settings.regions.map(\.name)).count < settings.regions.count {
      problems.report("region", at: .start, "two regions have the same name")
    }
    if settings.announces, !settings.publishesNewest {
      problems.report(
        "home_assistant", at: .start, "needs the key `newest`", suggestion: "add `newest = true`")
    }
    // A table with a problem is not among the destinations.
    if problems.isEmpty { checkKinds(settings) }
  }

  /// Checks that all destinations are of one kind, because an HTTP server would confirm what it cannot keep; and that no
  /// key needs a broker without one.
  private mutating func checkKinds(_ settings: UplinkSettings) {
    let isHTTP = settings.destinations.map { $0.url != nil }
    guard isHTTP.contains(true) else { return }
    if isHTTP.contains(false) {
      problems.report(
        "destination", at: .start, "has brokers and HTTP servers, which keep no gaps and events",
        suggestion: "use either `host` or `url` in all tables")
      return
    }
    let keys = [
      ("visits", settings.sendsVisits), ("region", !settings.regions.isEmpty),
      ("newest", settings.publishesNewest),
    ]
    for (key, isUsed) in keys where isUsed {
      problems.report(
        key, at: .start, "needs a broker: HTTP servers get fixes only",
        suggestion: "remove it, or use a destination with `host`")
    }
  }

  // MARK: Tables

  /// The tables of a list; `read` gets the reader, the index and the path of each.
  private mutating func readTables<Table>(
    _ index: Int, limit: Int, _ read: (inout SettingsReader, Int, String) -> Table?
  ) -> [Table] {
    let list = text.nodes[index]
    guard list.value == .array else {
      problems.report(
        list.key, at: list.keyPosition, "is \(list.value.typeName)",
        expected: "tables [[\(list.key)]]")
      return []
    }
    var found: [Table] = []
    for (number, child) in text.children(of: index).enumerated() {
      let path = "\(list.key)[\(number)]"
      let node = text.nodes[child]
      guard number < limit else {
        problems.report(
          path, at: node.position, "there are more than \(limit) tables [[\(list.key)]]")
        break
      }
      guard node.value == .table else {
        problems.report(
          path, at: node.position, "is \(node.value.typeName)",
          expected: "a table [[\(list.key)]]")
        continue
      }
      if let table = read(&self, child, path) { found.append(table) }
    }
    if text.children(of: index).isEmpty {
      problems.report(
        list.key, at: list.keyPosition, "is empty",
        expected: "at least one table [[\(list.key)]]")
    }
    return found
  }

  private mutating func readRegion(_ index: Int, _ path: String) -> UplinkSettings.Region? {
    let before = problems.count
    var name: String?
    var latitude: Double?
    var longitude: Double?
    var radius: Double?
    for child in text.children(of: index) {
      let node = text.nodes[child]
      let inner = path + "." + node.key
      switch node.key {
      case "name": name = string(node, inner, limit: UplinkSettings.Limits.regionName)
      case "latitude": latitude = problems.number(node, inner, -90...90, unit: "degrees")
      case "longitude": longitude = problems.number(node, inner, -180...180, unit: "degrees")
      case "radius_m":
        let range = UplinkSettings.Limits.radius
        radius = problems.number(node, inner, range, unit: "metres")
      default: problems.reportUnknown(node, path: inner, among: SettingsReader.regionKeys)
      }
    }
    guard problems.count == before else { return nil }
    guard let name, let latitude, let longitude, let radius,
      let center = Coordinate(latitude: latitude, longitude: longitude)
    else {
      problems.report(
        path, at: text.nodes[index].position, "has a key too few",
        expected: SettingsReader.regionKeys.joined(separator: ", "))
      return nil
    }
    return UplinkSettings.Region(name: name, center: center, radius: radius)
  }

  private mutating func readDestination(_ index: Int, _ path: String)
    -> UplinkSettings.Destination?
  {
    let before = problems.count
    var found = UplinkSettings.Destination(host: "", port: 0)
    var port: Int?
    var hostPosition = text.nodes[index].position
    var tls: (isOn: Bool, position: TOMLPosition)?
    for child in text.children(of: index) {
      let node = text.nodes[child]
      let inner = path + "." + node.key
      switch node.key {
      case "host":
        found.host = string(node, inner) ?? ""
        hostPosition = node.position
      case "tls": tls = problems.flag(node, inner).map { ($0, node.position) }
      case "port": port = integer(node, inner, 1...65_535, "is not a port")
      case "user": found.user = string(node, inner)
      case "password_file": found.passwordFile = usableFile(node, inner, isSecret: true)
      case "url":
        found.url = string(node, inner)
        hostPosition = node.position
      case "token_file": found.tokenFile = usableFile(node, inner, isSecret: true)
      case "gzip": found.usesGzip = problems.flag(node, inner) ?? false
      case "ca": found.authority = usableFile(node, inner)
      case "certificate": found.certificate = usableFile(node, inner)
      case "key": found.key = usableFile(node, inner, isSecret: true)
      default: problems.reportUnknown(node, path: inner, among: SettingsReader.destinationKeys)
      }
    }
    if (found.certificate == nil) != (found.key == nil) {
      problems.report(
        path + ".certificate", at: text.nodes[index].position,
        "needs the key `key`, and the reverse")
    }
    if found.url == nil {
      check(found, path, at: text.nodes[index].position)
      checkEncryption(found, tls, path, at: hostPosition)
    } else {
      if let other = text.children(of: index).map({ text.nodes[$0] }).first(where: {
        ["host", "port", "tls", "user", "password_file"].contains($0.key)
      }) {
        problems.report(
          path + "." + other.key, at: other.keyPosition, "has no meaning with the key `url`")
      }
      checkURL(&found, path, at: hostPosition)
    }
    guard problems.count == before else { return nil }
    found.port = port ?? (found.authority == nil ? 1_883 : 8_883)
    return found
  }

  /// Checks required keys, and keys that require others.
  private mutating func check(
    _ found: UplinkSettings.Destination, _ path: String, at position: TOMLPosition
  ) {
    if found.host.isEmpty, !problems.contains(path + ".host") {
      problems.report(
        path + ".host", at: position, "is missing", expected: "a host name or an address")
    }
    if found.tokenFile != nil {
      problems.report(path + ".token_file", at: position, "needs the key `url`")
    }
    if found.usesGzip { problems.report(path + ".gzip", at: position, "needs the key `url`") }
    if found.passwordFile != nil, found.user == nil {
      problems.report(path + ".password_file", at: position, "needs the key `user`")
    }
    if found.certificate != nil, found.authority == nil {
      problems.report(
        path + ".certificate", at: position, "needs the key `ca`",
        suggestion: "name the file with the certificate of the broker's authority")
    }
  }

  /// Checks the address of an HTTP server.
  private mutating func checkURL(
    _ found: inout UplinkSettings.Destination, _ path: String, at position: TOMLPosition
  ) {
    guard let url = found.url else { return }
    guard let host = UplinkSettings.Destination.host(in: url) else {
      return problems.report(
        path + ".url", at: position, "is not an address of HTTP", expected: "https://HOST/PATH")
    }
    found.host = host
    if url.hasPrefix("http://"), !found.isLoopback {
      problems.report(
        path + ".url", at: position,
        "is not encrypted: fixes and token would be sent in clear text to \"\(host)\"",
        suggestion: "use https")
    }
    if found.tokenFile == nil, HTTPServer.insert("", into: url) != nil {
      problems.report(path + ".url", at: position, "needs the key `token_file` for {token}")
    }
  }

  /// Checks that nothing is sent in clear text over a network, unless the settings say so.
  private mutating func checkEncryption(
    _ found: UplinkSettings.Destination, _ tls: (isOn: Bool, position: TOMLPosition)?,
    _ path: String,
    at position: TOMLPosition
  ) {
    if let tls, tls.isOn != (found.authority != nil) {
      problems.report(
        path + ".tls", at: tls.position,
        tls.isOn ? "needs the key `ca`" : "contradicts the key `ca`",
        suggestion: tls.isOn
          ? "name the file with the certificate of the broker's authority"
          : "remove one of the two keys")
    }
    guard tls == nil, found.authority == nil, !found.host.isEmpty, !found.isLoopback else { return }
    problems.report(
      path + ".tls", at: position,
      "is missing: fixes and password would be sent unencrypted to "
        + "\"\(found.host)\"",
      suggestion: "add the key `ca` to use TLS, or `tls = false` for a network of your own")
  }

  // MARK: Values

  private mutating func readDevice(_ node: TOMLNode) -> DeviceName? {
    guard let name = string(node, "device") else { return nil }
    if let device = DeviceName(name) { return device }
    problems.report(
      "device", at: node.position, "\"\(printable(name))\" is not a name of a board",
      expected: "1 to 64 letters, digits, _ or -")
    return nil
  }

  private mutating func readConfirmation(_ node: TOMLNode) -> UplinkSettings.Confirmation? {
    guard let word = string(node, "receipt") else { return nil }
    if let confirmation = UplinkSettings.Confirmation(rawValue: word) { return confirmation }
    problems.report(
      "receipt", at: node.position, "unknown word \"\(printable(word))\"",
      expected: "\"store\" or \"broker\"")
    return nil
  }

  private mutating func integer(
    _ node: TOMLNode, _ path: String, _ range: ClosedRange<Int>, _ problem: String
  ) -> Int? {
    if case .integer(let whole) = node.value, range.contains(whole) { return whole }
    problems.report(
      path, at: node.position, problem, expected: "\(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// The path of a file that can be used.
  private mutating func usableFile(
    _ node: TOMLNode, _ key: String, isSecret: Bool = false
  ) -> String? {
    guard let path = string(node, key) else { return nil }
    guard let found = checkFile(path, isSecret) else { return path }
    problems.report(key, at: node.position, found.problem, suggestion: found.suggestion)
    return path
  }

  private mutating func string(
    _ node: TOMLNode, _ path: String, limit: Int = UplinkSettings.Limits.text
  ) -> String? {
    guard let string = problems.string(node, path, expected: "text") else { return nil }
    guard (1...limit).contains(string.utf8.count), printable(string, maxLength: limit) == string
    else {
      problems.report(
        path, at: node.position, "is empty, too long or has control characters",
        expected: "1 to \(limit) bytes")
      return nil
    }
    return string
  }
}

extension UplinkSettings {
  /// Parses settings; messages name the text `file`.
  ///
  /// - Parameters:
  ///   - defaultDevice: Name of the board if the file has none.
  ///   - checkFile: Why a file that the settings name may not be used; nil if it may.
  init(
    parsing bytes: [UInt8], file: String, defaultDevice: DeviceName?,
    checkFile: @escaping SettingsReader.CheckFile
  ) throws(FileProblems) {
    var reader = SettingsReader(
      try TOMLText(bytes, file: file), file: file, checkFile: checkFile)
    self = try reader.read(defaultDevice: defaultDevice)
  }
}
