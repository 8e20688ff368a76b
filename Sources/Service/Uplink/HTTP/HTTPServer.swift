import CCurl
import LocationTypes
import UplinkPayload

/// An answer of an HTTP server.
struct HTTPAnswer: Equatable {
  /// Status code.
  let status: Int
  /// Start of the body.
  let body: [UInt8]

  /// Whether the server has accepted a batch.
  var isAccepted: Bool { (200...299).contains(status) && OverlandBatch.accepts(body) }
}

/// The operation of an HTTP server that an upload uses. Tests replace the server.
protocol HTTPConnection {
  /// Sends JSON, and waits for the answer.
  mutating func post(_ json: [UInt8]) throws(BrokerError) -> HTTPAnswer
}

/// A server, through libcurl.
struct HTTPServer: HTTPConnection {
  let destination: UplinkSettings.Destination
  let url: String
  /// When the last answer must have arrived.
  let end: Instant
  /// Bytes of an answer that are read.
  private static let answerSize = 4_096

  func post(_ json: [UInt8]) throws(BrokerError) -> HTTPAnswer {
    guard ccurl_is_available() != 0 else {
      throw BrokerError(description: "libcurl cannot be loaded: install the package libcurl4")
    }
    var token: String?
    if let path = destination.tokenFile {
      token = PrivateFile.firstLine(of: path)
      guard token?.isEmpty == false else {
        throw BrokerError(
          description:
            "\(destination.address): '\(path)' cannot be read, or its first line is empty")
      }
    }
    let body = try HTTPServer.compressed(json)
    // The token is part of the address, or of the headers.
    let address = HTTPServer.insert(token ?? "", into: url)
    let authorization = address == nil ? token.map { "Authorization: Bearer \($0)" } : nil
    let texts = CStrings([
      address ?? url, authorization, destination.authority, destination.certificate,
      destination.key,
    ])
    var text = [CChar](repeating: 0, count: HTTPServer.answerSize)
    let left = min(Broker.connectionTimeout, end - UplinkClock.now)
    let answer = unsafe texts.characters.withUnsafeBufferPointer { strings -> HTTPAnswer? in
      guard let start = strings.baseAddress else { return nil }
      return unsafe text.withUnsafeMutableBufferPointer { buffer in
        unsafe body.withUnsafeBytes { bytes in
          var request = unsafe ccurl_request()
          unsafe request.url = texts.string(0, at: start)
          unsafe request.authorization = texts.string(1, at: start)
          unsafe request.authority = texts.string(2, at: start)
          unsafe request.certificate = texts.string(3, at: start)
          unsafe request.key = texts.string(4, at: start)
          unsafe request.body = bytes.baseAddress
          unsafe request.count = bytes.count
          // 0 would mean no limit.
          unsafe request.timeout_ms = CInt(clamping: max(1, left.microseconds / 1_000))
          var answer = unsafe ccurl_answer()
          unsafe answer.text = buffer.baseAddress
          unsafe answer.capacity = buffer.count
          unsafe ccurl_post(&request, &answer)
          let received = unsafe buffer[..<answer.count].map { UInt8(bitPattern: $0) }
          return HTTPAnswer(status: Int(unsafe answer.status), body: received)
        }
      }
    }
    guard let answer, answer.status != 0 else {
      let reason = String(decoding: answer?.body ?? [], as: UTF8.self)
      throw BrokerError(description: "\(destination.address): \(reason)")
    }
    return answer
  }

  /// The address with the token in place of `{token}`; nil if it has no such place.
  static func insert(_ token: String, into url: String) -> String? {
    let (bytes, mark) = (Array(url.utf8), Array("{token}".utf8))
    guard bytes.count >= mark.count,
      let start = (0...(bytes.count - mark.count)).first(where: {
        bytes[$0..<$0 + mark.count].elementsEqual(mark)
      })
    else { return nil }
    let rest = bytes[(start + mark.count)...]
    return String(decoding: bytes[..<start] + Array(token.utf8) + rest, as: UTF8.self)
  }

  private static func compressed(_ json: [UInt8]) throws(BrokerError) -> [UInt8] {
    // gzip adds less than a thousandth and 64 bytes.
    var result = [UInt8](repeating: 0, count: json.count + json.count / 1_000 + 64)
    let count = unsafe json.withUnsafeBytes { from in
      unsafe result.withUnsafeMutableBytes { to in
        unsafe ccurl_compress(from.baseAddress, from.count, to.baseAddress, to.count)
      }
    }
    guard count > 0 else { throw BrokerError(description: "a batch cannot be compressed") }
    return Array(result[..<count])
  }
}
