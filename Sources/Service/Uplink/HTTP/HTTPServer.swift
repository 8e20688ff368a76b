import CCurl
import LocationTypes
import UplinkPayload

/// An answer of an HTTP server.
struct HTTPAnswer: Equatable {
  /// Status code.
  let status: Int
  /// Start of the body.
  let body: [UInt8]
  /// Whether the body is longer.
  private(set) var isCut = false

  /// Whether the server has accepted a batch.
  var isAccepted: Bool { (200...299).contains(status) && !isCut && OverlandBatch.accepts(body) }
}

/// The operation of an HTTP server that an upload uses. Tests replace the server.
protocol HTTPConnection: ~Copyable {
  /// Sends JSON, and waits for the answer.
  mutating func post(_ json: [UInt8]) throws(BrokerError) -> HTTPAnswer
}

/// A server, through libcurl. Its connection is kept from one request to the next, and closed with this value.
@safe struct HTTPServer: HTTPConnection, ~Copyable {
  /// Largest number of bytes of an answer.
  static let answerSize = 65_536

  private let destination: UplinkSettings.Destination
  private let url: String
  private let end: Instant
  /// Nil without libcurl.
  private let handle: OpaquePointer?

  /// Prepares requests.
  ///
  /// - Parameter end: When the last answer must have arrived.
  init(destination: UplinkSettings.Destination, url: String, end: Instant) {
    self.destination = destination
    self.url = url
    self.end = end
    unsafe handle = ccurl_open()
  }

  deinit { if let handle = unsafe handle { unsafe ccurl_close(handle) } }

  /// Whether libcurl can be loaded.
  static var isAvailable: Bool { ccurl_is_available() != 0 }

  mutating func post(_ json: [UInt8]) throws(BrokerError) -> HTTPAnswer {
    guard let handle = unsafe handle else {
      throw BrokerError(description: "libcurl cannot be loaded: install the package libcurl4")
    }
    let token = try readToken()
    let body = destination.usesGzip ? try HTTPServer.compressed(json) : json
    // The token is part of the address, or of the headers.
    let address = HTTPServer.insert(token ?? "", into: url)
    let authorization = address == nil ? token.map { "Authorization: Bearer \($0)" } : nil
    let texts = CStrings([
      address ?? url, authorization, destination.authority, destination.certificate,
      destination.key,
    ])
    var text = [CChar](repeating: 0, count: HTTPServer.answerSize)
    let left = min(Broker.connectionTimeout, end - UplinkClock.now)
    let isCompressed = destination.usesGzip
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
          unsafe request.is_compressed = isCompressed ? 1 : 0
          // 0 would mean no limit.
          unsafe request.timeout_ms = CInt(clamping: max(1, left.microseconds / 1_000))
          var answer = unsafe ccurl_answer()
          unsafe answer.text = buffer.baseAddress
          unsafe answer.capacity = buffer.count
          unsafe ccurl_post(handle, &request, &answer)
          let received = unsafe buffer[..<answer.count].map { UInt8(bitPattern: $0) }
          return unsafe HTTPAnswer(
            status: Int(answer.status), body: received, isCut: answer.is_cut != 0)
        }
      }
    }
    guard let answer, answer.status != 0 else {
      let reason = String(decoding: answer?.body ?? [], as: UTF8.self)
      throw BrokerError(description: "\(destination.address): \(reason)")
    }
    return answer
  }

  /// The token; nil if the settings name none.
  private func readToken() throws(BrokerError) -> String? {
    guard let path = destination.tokenFile else { return nil }
    guard let token = PrivateFile.firstLine(of: path), !token.isEmpty else {
      throw BrokerError(
        description: "\(destination.address): '\(path)' cannot be read, or its first line is empty")
    }
    let isInAddress = HTTPServer.insert("", into: url) != nil
    guard !isInAddress || HTTPServer.isUnreserved(token) else {
      throw BrokerError(
        description:
          "\(destination.address): the token in '\(path)' has characters other than letters, "
          + "digits, -, ., _ and ~, which an address cannot contain: "
          + "remove {token} from `url`, so that the token is sent as a header")
    }
    return token
  }

  /// Whether a text can be a part of an address as it is (RFC 3986, unreserved characters).
  static func isUnreserved(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~".utf8.contains(byte)
      }
    }
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
    guard count > 0 else {
      throw BrokerError(
        description:
          "a batch cannot be compressed: install the package zlib1g, or remove the key `gzip`")
    }
    return Array(result[..<count])
  }
}
