import Glibc
import LocationTypes
import TextFormats
import UplinkPayload

/// `torpor-uplink --check`: connects to every destination, sends a test message and waits for the answer of the store.
struct UplinkCheck {
  /// Longest wait for the answer.
  static let timeout = Interval.seconds(20)
  /// Longest check of a destination.
  static let longest = Interval.seconds(60)

  /// The settings to check.
  let settings: UplinkSettings

  /// Checks all destinations and prints a line for each. Returns whether all of them work.
  func run(print: (String) -> Void) -> Bool {
    var allWork = true
    for warning in settings.warnings { print("warning: \(warning)") }
    for destination in settings.destinations {
      do throws(BrokerError) {
        let end = UplinkClock.now + UplinkCheck.longest
        if let url = destination.url {
          var server = HTTPServer(destination: destination, url: url, end: end)
          try postNothing(to: &server)
          print("\(destination.address): the server answers")
          continue
        }
        var memory = BrokerMemory()
        var broker = try Broker(destination, device: settings.device, until: end, &memory)
        try exchange(over: &broker, number: UInt64.random(in: 1 ... .max))
        let what = settings.confirmation == .store ? "the store answers" : "the broker answers"
        print("\(destination.address): \(what)")
      } catch {
        allWork = false
        print(error.description)
      }
    }
    return allWork
  }

  /// Sends a batch without fixes, which the server must accept.
  func postNothing<Connection: HTTPConnection & ~Copyable>(
    to server: inout Connection
  ) throws(BrokerError) {
    let answer = try server.post(
      OverlandBatch.json([], device: settings.device, offset: 0))
    guard answer.isAccepted else { throw OverlandUpload.refusal(answer) }
  }

  /// Sends a test message, and waits until the store returns its number.
  func exchange<Connection: BrokerConnection & ~Copyable>(
    over broker: inout Connection, number: UInt64
  ) throws(BrokerError) {
    let text = number.hexadecimalDigits
    var output = JSONOutput()
    output.object { $0.member("check", text) }
    let hasSubscriber = try broker.publish(
      output.bytes, to: "torpor/\(settings.device)/check", isRetained: false)
    guard settings.confirmation == .store else {
      if hasSubscriber { return }
      throw BrokerError(
        description:
          "the broker works, but no program subscribes to torpor/\(settings.device)/check: start "
          + "the program that stores fixes, with a durable session")
    }
    let end = UplinkClock.now + UplinkCheck.timeout
    while let bytes = try broker.nextReceipt(within: max(.zero, end - UplinkClock.now)) {
      if UplinkCheck.answer(in: bytes) == text { return }
    }
    throw BrokerError(
      description: "the broker acknowledged the test message, but the store did not answer within "
        + "\(Int(UplinkCheck.timeout.seconds)) s: "
        + (hasSubscriber
          ? "check that it runs, and that it may read and write the topics of this board"
          : "no program subscribes to the topics of this board"))
  }

  /// The number of a test message that a receipt returns.
  private static func answer(in bytes: [UInt8]) -> String? {
    guard let document = try? JSONDocument(bytes, limits: JSONLimits(nodes: 64)) else { return nil }
    return document.root["check"]?.string
  }
}
