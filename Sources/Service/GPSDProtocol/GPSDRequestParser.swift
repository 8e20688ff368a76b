/// Splits the input of one connection into requests.
///
/// # Problem
///
/// The peer is not trusted, and its programs differ: several requests come in one write, one request comes in several
/// pieces, `;` needs no line feed, an object needs neither. A web page can send requests to local ports, so the first
/// line of an HTTP request must end the connection (gpsd answers the lines after it).
///
/// # States
///
///                 `?`                 `=` `{`                last `}`: request
///     BETWEEN ─────────▶ COMMAND ───────────▶ OBJECT ────────────────────▶ BETWEEN
///        │ ▲               │ `;` or line end: request           │ line end, or too long: error
///        │ │ line end      ▼                                    ▼
///        │ └─ SKIPPING ◀─ too long: error                  SKIPPING
///        └─ other byte ─▶ SKIPPING ── first line begins with an HTTP method: `webRequest`
///
/// # Bounds
///
/// ``longestRequest`` bytes are kept. Every byte is inspected once.
public struct GPSDRequestParser: Sendable {
  /// Longest request, bytes.
  public static let longestRequest = 1_024

  /// Result of ``next(in:at:)``.
  public enum Outcome: Equatable, Sendable {
    /// All bytes are consumed.
    case needsMore
    /// A request is complete.
    case request(GPSDRequest)
    /// The input is an HTTP request.
    case webRequest
  }

  private enum State: Equatable {
    case between
    case skipping
    case command
    /// An object at a nesting depth, inside of a string if `isString`.
    case object(depth: Int, isString: Bool, isEscaped: Bool)
  }

  /// HTTP methods that a web page can send, and the preface of HTTP/2.
  private static let methods = [
    "GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "DELETE ", "PATCH ", "CONNECT ", "TRACE ",
    "PRI ",
  ].map { Array($0.utf8) }
  private static let longestMethod = 8

  private var state = State.between
  /// Bytes of the request; while the first line is skipped, its first bytes.
  private var bytes: [UInt8] = []
  private var isFirstLine = true

  /// Creates a parser at the start of a connection.
  public init() {}

  /// Consumes bytes up to the end of a request.
  ///
  /// - Parameter offset: Position of the first byte that is not consumed yet; at most the number of bytes.
  public mutating func next(in input: Span<UInt8>, at offset: inout Int) -> Outcome {
    while offset < input.count {
      let byte = input[offset]
      offset += 1
      if let outcome = consume(byte) { return outcome }
    }
    return .needsMore
  }

  private mutating func consume(_ byte: UInt8) -> Outcome? {
    switch state {
    case .between: return begin(byte)
    case .skipping: return skip(byte)
    case .command: return continueCommand(byte)
    case .object(let depth, let isString, let isEscaped):
      return continueObject(byte, depth, isString: isString, isEscaped: isEscaped)
    }
  }

  private mutating func begin(_ byte: UInt8) -> Outcome? {
    switch byte {
    case UInt8(ascii: "?"):
      isFirstLine = false
      bytes = [byte]
      state = .command
      return nil
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ";"), UInt8(ascii: "\r"),
      UInt8(ascii: "\n"):
      return nil
    default:
      state = .skipping
      return skip(byte)
    }
  }

  private mutating func skip(_ byte: UInt8) -> Outcome? {
    if byte == UInt8(ascii: "\n") {
      isFirstLine = false
      bytes.removeAll()
      state = .between
      return nil
    }
    guard isFirstLine, bytes.count < GPSDRequestParser.longestMethod else { return nil }
    bytes.append(byte)
    return GPSDRequestParser.methods.contains(bytes) ? .webRequest : nil
  }

  private mutating func continueCommand(_ byte: UInt8) -> Outcome? {
    switch byte {
    case UInt8(ascii: ";"), UInt8(ascii: "\n"): return complete()
    case UInt8(ascii: "\r"): return nil
    case UInt8(ascii: "{") where bytes.last(where: { $0 != 0x20 }) == UInt8(ascii: "="):
      state = .object(depth: 1, isString: false, isEscaped: false)
      bytes.append(byte)
      return nil
    default: return append(byte)
    }
  }

  private mutating func continueObject(
    _ byte: UInt8, _ depth: Int, isString: Bool, isEscaped: Bool
  ) -> Outcome? {
    // Programs send an object on one line: without its end it is invalid, and must not consume later requests.
    if byte == UInt8(ascii: "\n") { return complete() }
    if let refusal = append(byte) { return refusal }
    if isString {
      let ends = !isEscaped && byte == UInt8(ascii: "\"")
      state = .object(
        depth: depth, isString: !ends, isEscaped: !isEscaped && byte == UInt8(ascii: "\\"))
      return nil
    }
    switch byte {
    case UInt8(ascii: "\""): state = .object(depth: depth, isString: true, isEscaped: false)
    case UInt8(ascii: "{"): state = .object(depth: depth + 1, isString: false, isEscaped: false)
    case UInt8(ascii: "}"):
      guard depth > 1 else { return complete() }
      state = .object(depth: depth - 1, isString: false, isEscaped: false)
    default: break
    }
    return nil
  }

  /// Appends a byte of a request. Returns an error if the request is too long.
  private mutating func append(_ byte: UInt8) -> Outcome? {
    bytes.append(byte)
    guard bytes.count > GPSDRequestParser.longestRequest else { return nil }
    let text = GPSDRequest.printable(bytes[...])
    bytes.removeAll()
    state = .skipping
    return .request(.unknown(text))
  }

  private mutating func complete() -> Outcome {
    let request = GPSDRequest(bytes[...])
    bytes.removeAll()
    state = .between
    return .request(request)
  }
}
