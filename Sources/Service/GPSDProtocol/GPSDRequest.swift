import LocationTypes
import TextFormats

/// A request of gpsd's protocol (gpsd_json(5)), with the extensions of this service.
public enum GPSDRequest: Equatable, Sendable {
  /// `?VERSION;`
  case version
  /// `?DEVICES;`
  case devices
  /// `?DEVICE;` or `?DEVICE={…}`. Settings of the device are ignored; the path is nil if none is named.
  case device(path: String?)
  /// `?WATCH;` or `?WATCH={…}`; nil changes nothing.
  case watch(GPSDWatch?)
  /// `?POLL;`
  case poll
  /// `?TORPOR={"since":…}`: fixes of the past.
  case history(since: UTCTime)
  /// No known request; the text for the error message.
  case unknown(String)
  /// A known request with a wrong parameter; the error message.
  case invalid(String)

  /// Longest part of a request that an error message repeats, characters.
  static let quotedLength = 64
  /// Limits of a request's parameters.
  private static let limits = JSONLimits(depth: 4, members: 32, nodes: 64)

  /// Parses a request from `?` on, without its end.
  init(_ bytes: ArraySlice<UInt8>) {
    let separator = bytes.firstIndex(of: UInt8(ascii: "="))
    let name = bytes[bytes.startIndex + 1..<(separator ?? bytes.endIndex)]
    let parameters = separator.map { bytes[($0 + 1)...] }
    switch (String(decoding: name, as: UTF8.self), parameters) {
    case ("VERSION", nil): self = .version
    case ("DEVICES", nil): self = .devices
    case ("POLL", nil): self = .poll
    case ("WATCH", nil): self = .watch(nil)
    case ("DEVICE", nil): self = .device(path: nil)
    case ("WATCH", let text?): self = GPSDRequest.parsed("WATCH", text, GPSDRequest.watch)
    case ("DEVICE", let text?): self = GPSDRequest.parsed("DEVICE", text, GPSDRequest.device)
    case ("TORPOR", let text?): self = GPSDRequest.parsed("TORPOR", text, GPSDRequest.history)
    default: self = .unknown(GPSDRequest.printable(bytes))
    }
  }

  /// Printable ASCII characters of a text of a program, at most ``quotedLength``.
  public static func printable(_ text: String) -> String { printable(Array(text.utf8)[...]) }

  /// Printable ASCII characters of a request, at most ``quotedLength``.
  static func printable(_ bytes: ArraySlice<UInt8>) -> String {
    let shown = bytes.prefix(quotedLength).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }
    return String(decoding: shown, as: UTF8.self) + (bytes.count > quotedLength ? "..." : "")
  }

  private static func parsed(
    _ name: String, _ text: ArraySlice<UInt8>,
    _ read: (_ object: JSONValue) throws(GPSDParameterError) -> GPSDRequest
  ) -> GPSDRequest {
    guard let document = try? JSONDocument(Array(text), limits: limits), document.root.isObject
    else { return .invalid("Invalid \(name): not a JSON object") }
    do {
      return try read(document.root)
    } catch {
      return .invalid("Invalid \(name): \(error.reason)")
    }
  }

  private static func watch(_ object: JSONValue) throws(GPSDParameterError) -> GPSDRequest {
    var watch = GPSDWatch()
    for member in object.members ?? [] { try watch.set(member.name, member.value) }
    return .watch(watch)
  }

  private static func device(_ object: JSONValue) throws(GPSDParameterError) -> GPSDRequest {
    guard let path = object["path"] else { return .device(path: nil) }
    guard let path = path.string else { throw GPSDParameterError("path must be a string") }
    return .device(path: path)
  }

  private static func history(_ object: JSONValue) throws(GPSDParameterError) -> GPSDRequest {
    guard let since = object["since"]?.double, (0...4_102_444_800).contains(since)
    else { throw GPSDParameterError("since must be a time in seconds since 1970") }
    return .history(since: UTCTime(microseconds: Int64(since * 1_000_000)))
  }
}

/// A parameter of a request has a wrong type or value.
struct GPSDParameterError: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The parameters of a `?WATCH={…}`; nil for those that it does not name.
public struct GPSDWatch: Equatable, Sendable {
  /// Whether data is requested; true if it is not named.
  public private(set) var enable = true
  /// Whether JSON objects are sent.
  public private(set) var json: Bool?
  /// Whether NMEA sentences are sent.
  public private(set) var nmea: Bool?
  /// Whether TOFF and PPS are sent.
  public private(set) var pps: Bool?
  /// Whether TOFF and PPS are sent.
  public private(set) var timing: Bool?
  /// Path of the device.
  public private(set) var device: String?
  /// Name of the client; `torpor_name`.
  public private(set) var name: String?
  /// Savings requested by `torpor_interval`, `torpor_accuracy` and `torpor_defer`.
  public private(set) var saving = GPSDSaving()

  /// Longest name of a client, bytes.
  public static let longestName = 64

  /// Sets a parameter. Unknown parameters are ignored, as gpsd does; `raw`, `scaled` and `split24` are refused by the
  /// answer, which has the policy in force.
  mutating func set(_ name: String, _ value: JSONValue) throws(GPSDParameterError) {
    switch name {
    case "enable": enable = try flag(name, value)
    case "json": json = try flag(name, value)
    case "nmea": nmea = try flag(name, value)
    case "pps": pps = try flag(name, value)
    case "timing": timing = try flag(name, value)
    case "raw", "scaled", "split24": _ = try flag(name, value)
    case "device": device = try text(name, value)
    case "torpor_name": self.name = try clientName(value)
    case "torpor_interval":
      saving.interval_s = try number(name, value, in: GPSDSaving.times_s)
    case "torpor_accuracy":
      saving.accuracy_m = try number(name, value, in: GPSDSaving.accuracies_m)
    case "torpor_defer": saving.defer_s = try number(name, value, in: GPSDSaving.times_s)
    default: break
    }
  }

  private func flag(_ name: String, _ value: JSONValue) throws(GPSDParameterError) -> Bool {
    if let flag = value.bool { return flag }
    // Some programs send 0 and 1.
    if let number = value.integer { return number != 0 }
    throw GPSDParameterError("\(name) must be true or false")
  }

  private func text(_ name: String, _ value: JSONValue) throws(GPSDParameterError) -> String {
    guard let text = value.string else { throw GPSDParameterError("\(name) must be a string") }
    return text
  }

  private func clientName(_ value: JSONValue) throws(GPSDParameterError) -> String {
    let text = try text("torpor_name", value)
    guard (1...GPSDWatch.longestName).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
    else {
      throw GPSDParameterError(
        "torpor_name must have 1 to \(GPSDWatch.longestName) ASCII characters without spaces")
    }
    return text
  }

  private func number(
    _ name: String, _ value: JSONValue, in range: ClosedRange<Double>
  ) throws(GPSDParameterError) -> Double {
    guard let number = value.double, range.contains(number) else {
      throw GPSDParameterError(
        "\(name) must be \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }
}

/// Savings of a client that needs fewer fixes than one a second; nil for those that do not apply.
public struct GPSDSaving: Hashable, Sendable {
  /// Permitted values of ``interval_s`` and ``defer_s``, seconds: one second to one day.
  public static let times_s = 1.0...86_400.0
  /// Permitted values of ``accuracy_m``, metres.
  public static let accuracies_m = 1.0...100_000.0

  /// Time between two fixes, seconds.
  public var interval_s: Double?
  /// Accuracy that suffices, metres.
  public var accuracy_m: Double?
  /// How long fixes may be held back, seconds.
  public var defer_s: Double?

  /// Creates savings.
  public init(interval_s: Double? = nil, accuracy_m: Double? = nil, defer_s: Double? = nil) {
    self.interval_s = interval_s
    self.accuracy_m = accuracy_m
    self.defer_s = defer_s
  }

  /// Savings of which each is the greater one of both.
  public func combined(with other: GPSDSaving) -> GPSDSaving {
    GPSDSaving(
      interval_s: GPSDSaving.greater(interval_s, other.interval_s),
      accuracy_m: GPSDSaving.greater(accuracy_m, other.accuracy_m),
      defer_s: GPSDSaving.greater(defer_s, other.defer_s))
  }

  private static func greater(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
  }
}
