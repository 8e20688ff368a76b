import CMosquitto
import LocationTypes
import UplinkPayload

/// Why a broker could not be used: a line that says what helps.
public struct BrokerError: Error, Equatable, CustomStringConvertible {
  /// The reason.
  public let description: String
}

/// The operations of a broker that an upload uses. Tests replace the broker.
public protocol BrokerConnection: ~Copyable {
  /// Publishes a message and waits until the broker has acknowledged it.
  mutating func publish(_ bytes: [UInt8], to topic: String) throws(BrokerError)
  /// The next receipt; nil if none arrives in time.
  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]?
}

/// A connection through libmosquitto.
@safe public struct Broker: BrokerConnection, ~Copyable {
  /// Longest wait for one answer of the broker.
  static let timeout = Interval.seconds(20)

  private let connection: OpaquePointer
  private let address: String

  /// Connects with MQTT 5, or with 3.1.1 if the broker does not know it, and subscribes to the device's receipts.
  public init(
    _ destination: UplinkSettings.Destination, device: DeviceName
  ) throws(BrokerError) {
    let device = device.description
    address = destination.address
    var password: String?
    if let path = destination.passwordFile {
      password = PrivateFile.firstLine(of: path)
      guard password?.isEmpty == false else {
        throw BrokerError(
          description: "\(address): '\(path)' cannot be read, or its first line is empty")
      }
    }
    if let opened = try unsafe Broker.open(destination, password, device, usesVersion5: true) {
      unsafe connection = opened
    } else if let opened = try unsafe Broker.open(
      destination, password, device, usesVersion5: false)
    {
      unsafe connection = opened
    } else {
      throw BrokerError(description: "the broker supports neither MQTT 5 nor 3.1.1")
    }
  }

  deinit { unsafe cmosquitto_close(connection) }

  /// An open connection; nil if the broker does not support the version.
  private static func open(
    _ destination: UplinkSettings.Destination, _ password: String?, _ device: String,
    usesVersion5: Bool
  ) throws(BrokerError) -> OpaquePointer? {
    var result = CMOSQUITTO_FAILED
    let texts = CStrings([
      device, destination.host, destination.user, password, destination.authority,
      destination.certificate, destination.key, "torpor/\(device)/receipt",
    ])
    let opened = unsafe texts.characters.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      guard let start = buffer.baseAddress else { return nil }
      var settings = unsafe cmosquitto_settings()
      unsafe settings.client_id = texts.string(0, at: start)
      unsafe settings.host = texts.string(1, at: start)
      unsafe settings.port = CInt(destination.port)
      unsafe settings.uses_version_5 = usesVersion5 ? 1 : 0
      unsafe settings.user = texts.string(2, at: start)
      unsafe settings.password = texts.string(3, at: start)
      unsafe settings.authority = texts.string(4, at: start)
      unsafe settings.certificate = texts.string(5, at: start)
      unsafe settings.key = texts.string(6, at: start)
      unsafe settings.receipts = texts.string(7, at: start)
      return unsafe cmosquitto_open(&settings, milliseconds(timeout), &result)
    }
    guard let opened = unsafe opened else { throw BrokerError(description: "not enough memory") }
    if result == CMOSQUITTO_DONE { return unsafe opened }
    defer { unsafe cmosquitto_close(opened) }
    if result == CMOSQUITTO_OLD_BROKER { return nil }
    let reason = unsafe String(cString: cmosquitto_reason(opened))
    throw BrokerError(description: "\(destination.address): \(reason)")
  }

  /// Publishes a message with QoS 1 and waits until the broker has acknowledged it.
  public mutating func publish(_ bytes: [UInt8], to topic: String) throws(BrokerError) {
    let result = unsafe bytes.withUnsafeBytes { raw in
      unsafe cmosquitto_publish(
        connection, topic, raw.baseAddress, raw.count, 0, Broker.milliseconds(Broker.timeout))
    }
    guard result == CMOSQUITTO_DONE else { throw failure }
  }

  /// The next receipt; nil if none arrives in time.
  public mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? {
    var bytes: UnsafeRawPointer?
    var count = 0
    let result = unsafe cmosquitto_receipt(
      connection, Broker.milliseconds(limit), &bytes, &count)
    if result == CMOSQUITTO_TIMEOUT { return nil }
    guard result == CMOSQUITTO_DONE else { throw failure }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  private var failure: BrokerError {
    let reason = unsafe String(cString: cmosquitto_reason(connection))
    return BrokerError(description: "\(address): \(reason)")
  }

  private static func milliseconds(_ interval: Interval) -> CInt {
    CInt(clamping: max(0, interval.microseconds / 1_000))
  }
}
