#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension TOMLText {
  /// Parses `bytes`, which may be anything; error messages name the text `file`.
  package init(_ bytes: [UInt8], file: String) throws(FileProblems) {
    do throws(TOMLParseError) {
      self = try TOMLText(bytes)
    } catch {
      throw FileProblems([TOMLText.syntaxError(error, file)])
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
  private static func syntaxError(_ fault: TOMLParseError, _ file: String) -> FileProblem {
    // A text of this length is not parsed at all.
    if firstRange(of: "longer than 64 KiB", in: fault.message) != nil {
      return FileProblem(
        file: file, "is longer than 64 KiB", suggestion: "check that this is the right file")
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
