import Glibc

extension TOMLText {
  /// Parses `bytes`, which may be anything; error messages name the text `file`.
  package init(_ bytes: [UInt8], file: String) throws(FileProblems) {
    do throws(TOMLParseError) {
      self = try TOMLText(bytes)
    } catch {
      throw FileProblems([TOMLText.syntaxError(error, bytes, file)])
    }
  }

  /// First occurrence of `words` in `text`. Swift's own search would link its regular expressions into the
  /// service.
  private static func firstRange(of words: String, in text: String) -> Range<String.Index>? {
    for start in text.indices where text[start...].hasPrefix(words) {
      return start..<text.index(start, offsetBy: words.count)
    }
    return nil
  }

  /// Converts an error of toml++ into a problem with a readable message.
  private static func syntaxError(
    _ fault: TOMLParseError, _ bytes: [UInt8], _ file: String
  ) -> FileProblem {
    // A text of this length is not parsed at all.
    if firstRange(of: "longer than 64 KiB", in: fault.message) != nil {
      return FileProblem(
        file: file, "is longer than 64 KiB", suggestion: "check that this is the right file")
    }
    if firstRange(of: "could not determine value type", in: fault.message) != nil {
      let word = unquotedWord(bytes, line: fault.position.line)
      return FileProblem(
        file: file, at: fault.position, "not valid TOML: the value has no known type",
        suggestion: "text needs quotes" + (word.map { ": \"\($0)\"" } ?? ""))
    }
    guard let found = firstRange(of: "cannot redefine existing ", in: fault.message) else {
      var message = fault.message
      let prefix = "Error while parsing "
      if message.hasPrefix(prefix) { message = String(message.dropFirst(prefix.count)) }
      if let end = firstRange(of: " (TOML_MAX", in: message) {
        message = String(message[..<end.lowerBound])
      }
      return FileProblem(
        file: file, at: fault.position, "not valid TOML: " + printable(message, maxLength: 300))
    }
    // "integer 'b'", "table 'board.idle'", "array 'a' as table"; toml++ garbles quoted keys.
    let what = fault.message[found.upperBound...]
    let parts = what.split(separator: "'", omittingEmptySubsequences: false)
    let isClean = parts.count == 3 && !parts[1].contains("\"")
    return FileProblem(
      file: file, at: fault.position, key: isClean ? String(parts[1]) : "",
      "is defined twice; it is \(typeDescription(what)) above", suggestion: "remove one of them")
  }

  /// The value of a line if it is one word, as in `default = ask` or, in a list, the first element; nil otherwise.
  private static func unquotedWord(_ bytes: [UInt8], line number: Int) -> String? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.indices.contains(number - 1),
      let sign = lines[number - 1].firstIndex(of: UInt8(ascii: "="))
    else { return nil }
    let value = lines[number - 1][(sign + 1)...].drop {
      $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "[")
    }
    let word = value.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard let first = word.first, first > UInt8(ascii: "9") else { return nil }
    return String(decoding: word.prefix(60), as: UTF8.self)
  }

  /// The name of a value's type in our messages, from toml++'s name.
  private static func typeDescription(_ what: Substring) -> String {
    let kind = what.prefix { $0 != " " }
    switch kind {
    case "integer": return "a whole number"
    case "floating-point": return "a number"
    case "string": return "text"
    case "boolean": return "true or false"
    case "array": return "a list"
    default: return "a " + printable(String(kind))
    }
  }
}

/// Reads a file: a profile or `clients.toml`. Stops after the block that passes 64 KiB, so that the caller can detect a
/// file that is too long.
///
/// - Throws: ``FileProblems`` if the path is invalid, is a folder, or cannot be opened or read.
package func readFile(
  _ path: String, folderHint hintForFolder: String = ""
) throws(FileProblems) -> [UInt8] {
  func failure(_ problem: String, _ suggestion: String = "") -> FileProblems {
    var fileProblem = FileProblem(
      file: printable(path, maxLength: 300), problem, suggestion: suggestion)
    fileProblem.isUnreadable = true
    return FileProblems([fileProblem])
  }
  guard !path.isEmpty, !path.utf8.contains(0) else {
    throw failure("this is not a valid file name")
  }
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw failure(readErrorText(errno), readErrorSuggestion(errno)) }
  defer { close(descriptor) }
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { throw failure(readErrorText(errno)) }
  if status.st_mode & S_IFMT == S_IFDIR {
    throw failure("is a folder", hintForFolder)
  }
  var bytes: [UInt8] = []
  var block = [UInt8](repeating: 0, count: 16_384)
  while bytes.count <= 65_536 {
    let count = unsafe block.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw failure(readErrorText(errno)) }
    if count == 0 { break }
    bytes.append(contentsOf: block.prefix(count))
  }
  return bytes
}

private func readErrorText(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe "cannot be read: " + String(cString: text)
}

private func readErrorSuggestion(_ code: Int32) -> String {
  code == EACCES ? "check its owner and mode with ls -l" : ""
}
