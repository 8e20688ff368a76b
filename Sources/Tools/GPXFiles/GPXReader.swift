import CExpat

/// Streaming reader of GPX 1.1 and 1.0, with limits on nesting and size. It loads no external resource.
///
/// The XML parser is expat, which handles entities, CDATA, namespaces and the encodings UTF-8, UTF-16, ISO-8859-1 and
/// US-ASCII. Elements without a namespace count as GPX.
@safe public struct GPXReader: ~Copyable {
  /// Greatest nesting depth of elements.
  public static let maximumNesting = 64
  /// Largest number of points of all tracks together.
  public static let maximumPoints = 10_000_000
  /// Longest tag or comment, bytes.
  public static let maximumTokenLength = 1 << 21
  /// Longest file, bytes.
  public static let maximumLength = 1 << 30

  private let session: ParserSession
  private let parser: XML_Parser
  private var length = 0

  /// Creates a reader.
  ///
  /// - Throws: ``GPXError`` if memory allocation fails.
  public init() throws(GPXError) {
    guard let parser = unsafe cexpat_parser_create() else {
      throw GPXError(position: GPXTextPosition(line: 1, column: 1), problem: .noMemory)
    }
    let session = unsafe ParserSession(parser)
    unsafe self.parser = unsafe parser
    self.session = session
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(session).toOpaque())
    unsafe XML_SetElementHandler(parser, ParserSession.elementStart, ParserSession.elementEnd)
    unsafe XML_SetCharacterDataHandler(parser, ParserSession.characterData)
  }

  deinit { unsafe XML_ParserFree(parser) }

  /// Whether a file that begins with `bytes` is XML, and so may be GPX.
  public static func isXML(_ bytes: [UInt8]) -> Bool {
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return true }
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    // In UTF-16 without a byte order mark, a zero byte precedes or follows the first character.
    let first = start.first { $0 > 0x20 }
    return first == UInt8(ascii: "<")
  }

  /// Parses the next bytes of the file; O(`bytes.count`).
  ///
  /// - Throws: ``GPXError`` with the position. Do not use the reader after an error.
  public mutating func add(_ bytes: [UInt8]) throws(GPXError) {
    length += bytes.count
    guard length <= GPXReader.maximumLength else { throw failure(.tooLong) }
    // The length argument of XML_Parse is an Int32.
    for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
      let end = min(start + 1 << 20, bytes.count)
      try parse(bytes[start..<end], isLast: false)
      // expat parses an unfinished token again from its start with each piece: the limit bounds that cost.
      let tokenStart = Int(unsafe XML_GetCurrentByteIndex(parser))
      guard length - bytes.count + end - tokenStart <= GPXReader.maximumTokenLength else {
        throw failure(.tokenTooLong)
      }
    }
  }

  /// Ends the document and returns its content.
  ///
  /// - Throws: As ``add(_:)``, also if the document is incomplete.
  public consuming func finish() throws(GPXError) -> GPXFile {
    try parse([], isLast: true)
    return session.content.file
  }

  private func parse(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws(GPXError) {
    let status = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XML_Parse(
        parser, buffer.bindMemory(to: CChar.self).baseAddress, Int32(buffer.count),
        isLast ? 1 : 0)
    }
    if let failure = session.failure { throw failure }
    guard status != XML_STATUS_OK else { return }
    let code = unsafe XML_GetErrorCode(parser)
    throw failure(GPXReader.problem(code, isLast: isLast))
  }

  private func failure(_ problem: GPXError.Problem) -> GPXError {
    GPXError(position: session.position, problem: problem)
  }

  private static func problem(_ code: XML_Error, isLast: Bool) -> GPXError.Problem {
    switch code {
    case XML_ERROR_NO_MEMORY: return .noMemory
    case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: return .unknownEncoding
    case XML_ERROR_AMPLIFICATION_LIMIT_BREACH: return .entityExpansion
    case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_PARTIAL_CHAR,
      XML_ERROR_UNCLOSED_CDATA_SECTION:
      if isLast { return .truncated }
      fallthrough
    case _:
      guard let message = unsafe XML_ErrorString(code) else { return .notXML("error") }
      return .notXML(unsafe String(cString: message))
    }
  }
}

/// User data of the expat callbacks: the content read so far and the first error.
@safe private final class ParserSession {
  var content = GPXContent()
  var failure: GPXError?
  private let parser: XML_Parser

  init(_ parser: XML_Parser) { unsafe self.parser = unsafe parser }

  var position: GPXTextPosition {
    GPXTextPosition(
      line: Int(unsafe XML_GetCurrentLineNumber(parser)),
      column: Int(unsafe XML_GetCurrentColumnNumber(parser)) + 1)
  }

  /// Runs a callback's step. The first error is stored and stops the parser; later steps do nothing.
  private func attempt(_ step: () throws(GPXError) -> Void) {
    guard failure == nil else { return }
    do { try step() } catch {
      failure = error
      _ = unsafe XML_StopParser(parser, 0)
    }
  }

  private static func of(_ user: UnsafeMutableRawPointer?) -> ParserSession {
    guard let user = unsafe user else { preconditionFailure("set before parsing starts") }
    return unsafe Unmanaged<ParserSession>.fromOpaque(user).takeUnretainedValue()
  }

  static let elementStart: XML_StartElementHandler = { user, name, attributes in
    let session = unsafe ParserSession.of(user)
    guard let name = unsafe name else { return }
    let element = unsafe String(cString: name)
    session.attempt { () throws(GPXError) in
      try session.content.start(
        element,
        { attribute in
          // A null-terminated array of alternating names and values.
          guard var pair = unsafe attributes else { return nil }
          while let name = unsafe pair[0], let value = unsafe pair[1] {
            if unsafe String(cString: name) == attribute { return unsafe String(cString: value) }
            unsafe pair += 2
          }
          return nil
        }, at: session.position)
    }
  }

  static let elementEnd: XML_EndElementHandler = { user, _ in
    let session = unsafe ParserSession.of(user)
    session.attempt { () throws(GPXError) in try session.content.end() }
  }

  static let characterData: XML_CharacterDataHandler = { user, text, length in
    let session = unsafe ParserSession.of(user)
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(length))
    session.attempt { () throws(GPXError) in try unsafe session.content.text(bytes) }
  }
}
