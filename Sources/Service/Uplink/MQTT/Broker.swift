import CMosquitto
import LocationTypes
import UplinkPayload

/// Why a broker could not be used: a line that says what helps.
public struct BrokerError: Error, Equatable, CustomStringConvertible {
  /// What the failure means for the size of messages.
  enum Cause: Equatable {
    /// Nothing.
    case other
    /// The broker refuses messages of this size. `isConnected`: whether the connection can still be used.
    case tooLarge(isConnected: Bool)
    /// The connection was lost while a message was published, which may have been too large.
    case lost
    /// The message was not confirmed.
    case unconfirmed
  }

  /// The reason.
  public let description: String
  /// What the failure means for the size of messages.
  let cause: Cause

  init(description: String, cause: Cause = .other) {
    self.description = description
    self.cause = cause
  }
}

/// The operations of a broker that an upload uses. Tests replace the broker.
public protocol BrokerConnection: ~Copyable {
  /// Publishes a message and waits until the broker has acknowledged it.
  ///
  /// - Parameter isRetained: Whether the broker sends the last message of the topic to later subscribers as well.
  /// - Returns: false if the broker reports that no program subscribes to the topic.
  @discardableResult
  mutating func publish(
    _ bytes: [UInt8], to topic: String, isRetained: Bool
  ) throws(BrokerError) -> Bool
  /// The next receipt; nil if none arrives in time.
  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]?
}

/// A connection through libmosquitto.
@safe public struct Broker: BrokerConnection, ~Copyable {
  /// Longest wait for one answer of the broker.
  static let timeout = Interval.seconds(20)
  /// Longest time for a connection; several addresses of a host may not answer.
  static let connectionTimeout = Interval.seconds(30)

  private let connection: OpaquePointer
  private let address: String
  private let end: Instant

  /// Connects with MQTT 5, or with 3.1.1 if the broker does not know it, and subscribes to the device's receipts.
  ///
  /// - Parameters:
  ///   - end: When the connection must be closed: no wait lasts longer.
  ///   - memory: What is known of the broker; changed by what the connection shows.
  init(
    _ destination: UplinkSettings.Destination, device: DeviceName, until end: Instant,
    _ memory: inout BrokerMemory
  ) throws(BrokerError) {
    address = destination.address
    self.end = end
    var options = Options(
      destination: destination, device: device.description, usesIPv4: memory.usesIPv4, end: end)
    if let path = destination.passwordFile {
      options.password = PrivateFile.firstLine(of: path)
      guard options.password?.isEmpty == false else {
        throw BrokerError(
          description: "\(address): '\(path)' cannot be read, or its first line is empty")
      }
    }
    // All addresses are tried again after a failure.
    memory.setIPv4(false)
    if !memory.isOld, let opened = try unsafe Broker.open(options) {
      unsafe connection = opened
    } else {
      options.usesVersion5 = false
      guard let opened = try unsafe Broker.open(options) else {
        memory.setOld(false)
        throw BrokerError(description: "\(address): the broker supports neither MQTT 5 nor 3.1.1")
      }
      unsafe connection = opened
      memory.setOld(true)
    }
    let fellBack = unsafe cmosquitto_fell_back_to_ipv4(connection) != 0
    memory.setIPv4(options.usesIPv4 || fellBack)
  }

  deinit { unsafe cmosquitto_close(connection) }

  /// How to open a connection.
  private struct Options {
    let destination: UplinkSettings.Destination
    let device: String
    let usesIPv4: Bool
    let end: Instant
    var password: String?
    var usesVersion5 = true
  }

  /// An open connection; nil if the broker does not support the version.
  private static func open(_ options: Options) throws(BrokerError) -> OpaquePointer? {
    let destination = options.destination
    var result = CMOSQUITTO_FAILED
    let texts = CStrings([
      options.device, destination.host, destination.user, options.password,
      destination.authority, destination.certificate, destination.key,
      "torpor/\(options.device)/receipt",
    ])
    let timeout = milliseconds(min(connectionTimeout, options.end - UplinkClock.now))
    let opened = unsafe texts.characters.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      guard let start = buffer.baseAddress else { return nil }
      var settings = unsafe cmosquitto_settings()
      unsafe settings.client_id = texts.string(0, at: start)
      unsafe settings.host = texts.string(1, at: start)
      unsafe settings.port = CInt(destination.port)
      unsafe settings.uses_version_5 = options.usesVersion5 ? 1 : 0
      unsafe settings.uses_ipv4_only = options.usesIPv4 ? 1 : 0
      unsafe settings.user = texts.string(2, at: start)
      unsafe settings.password = texts.string(3, at: start)
      unsafe settings.authority = texts.string(4, at: start)
      unsafe settings.certificate = texts.string(5, at: start)
      unsafe settings.key = texts.string(6, at: start)
      unsafe settings.receipts = texts.string(7, at: start)
      return unsafe cmosquitto_open(&settings, timeout, &result)
    }
    guard let opened = unsafe opened else { throw BrokerError(description: "not enough memory") }
    if result == CMOSQUITTO_DONE { return unsafe opened }
    defer { unsafe cmosquitto_close(opened) }
    if result == CMOSQUITTO_OLD_BROKER { return nil }
    let reason = unsafe String(cString: cmosquitto_reason(opened))
    throw BrokerError(description: "\(destination.address): \(reason)")
  }

  /// Publishes a message with QoS 1 and waits until the broker has acknowledged it.
  @discardableResult
  public mutating func publish(
    _ bytes: [UInt8], to topic: String, isRetained: Bool
  ) throws(BrokerError) -> Bool {
    let timeout = Broker.milliseconds(min(Broker.timeout, end - UplinkClock.now))
    let result = unsafe bytes.withUnsafeBytes { raw in
      unsafe cmosquitto_publish(
        connection, topic, raw.baseAddress, raw.count, isRetained ? 1 : 0, timeout)
    }
    switch result {
    case CMOSQUITTO_DONE: return unsafe cmosquitto_has_no_subscriber(connection) == 0
    case CMOSQUITTO_TOO_LARGE:
      throw BrokerError(
        description: "\(address): the broker refuses a message of \(bytes.count) bytes: "
          + "increase its largest size of messages",
        cause: .tooLarge(isConnected: true))
    case CMOSQUITTO_LOST_TOO_LARGE: throw failure(.tooLarge(isConnected: false))
    case CMOSQUITTO_LOST: throw failure(.lost)
    case _: throw failure(.other)
    }
  }

  /// The next receipt; nil if none arrives in time.
  public mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? {
    var bytes: UnsafeRawPointer?
    var count = 0
    let result = unsafe cmosquitto_receipt(
      connection, Broker.milliseconds(min(limit, end - UplinkClock.now)), &bytes, &count)
    if result == CMOSQUITTO_TIMEOUT { return nil }
    guard result == CMOSQUITTO_DONE else { throw failure(.other) }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  private func failure(_ cause: BrokerError.Cause) -> BrokerError {
    let reason = unsafe String(cString: cmosquitto_reason(connection))
    return BrokerError(description: "\(address): \(reason)", cause: cause)
  }

  private static func milliseconds(_ interval: Interval) -> CInt {
    CInt(clamping: max(0, interval.microseconds / 1_000))
  }
}
