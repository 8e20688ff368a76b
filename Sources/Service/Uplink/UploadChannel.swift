import LocationTypes
import UplinkPayload

/// The way to a destination, from the connection to its end.
protocol UploadChannel: ~Copyable {
  /// Sends the oldest entries of `pending`, and removes them when they are confirmed. Returns false if there are none.
  mutating func sendNext(
    _ pending: inout PendingFixes, _ memory: inout BrokerMemory, log: (String) -> Void
  ) throws(BrokerError) -> Bool
  /// Publishes the newest position, after everything else was sent.
  mutating func publish(_ newest: inout NewestPublication?, log: (String) -> Void)
}

/// A connection with a broker.
struct MQTTChannel: UploadChannel, ~Copyable {
  private let upload: Upload
  private let address: String
  private var broker: Broker

  /// Connects.
  init(
    _ destination: UplinkSettings.Destination, _ upload: Upload, _ memory: inout BrokerMemory
  ) throws(BrokerError) {
    self.upload = upload
    address = destination.address
    broker = try Broker(destination, device: upload.device, until: upload.end, &memory)
  }

  mutating func sendNext(
    _ pending: inout PendingFixes, _ memory: inout BrokerMemory, log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    try upload.sendNext(&pending, over: &broker, &memory, log: log)
  }

  mutating func publish(_ newest: inout NewestPublication?, log: (String) -> Void) {
    newest?.publish(over: &broker, at: address, log: log)
  }
}

/// Requests to an HTTP server.
struct HTTPChannel: UploadChannel {
  private let upload: OverlandUpload
  private var server: HTTPServer

  /// Prepares the requests.
  init(_ server: HTTPServer, device: DeviceName) {
    self.server = server
    upload = OverlandUpload(device: device, clockOffset: UplinkClock.offset)
  }

  mutating func sendNext(
    _ pending: inout PendingFixes, _ memory: inout BrokerMemory, log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    try upload.sendNext(&pending, over: &server, &memory, log: log)
  }

  /// Nothing: the server knows the newest position from the batches.
  mutating func publish(_ newest: inout NewestPublication?, log: (String) -> Void) {}
}
