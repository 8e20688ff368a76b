#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension TOMLText {
  /// Parses `bytes`, whatever they are; `file` is what messages call them.
  package init(_ bytes: [UInt8], file: String) throws(FileProblems) {
    do throws(TOMLFault) {
      self = try TOMLText(bytes)
    } catch {
      throw FileProblems([TOMLText.syntaxError(error, file)])
    }
  }

  /// Where `words` first stand in `text`; Swift's own search would link its regular expressions into
  /// the service.
  private static func place(of words: String, in text: String) -> Range<String.Index>? {
    for start in text.indices where text[start...].hasPrefix(words) {
      return start..<text.index(start, offsetBy: words.count)
    }
    return nil
  }

  /// What toml++ found, in words.
  private static func syntaxError(_ fault: TOMLFault, _ file: String) -> FileProblem {
    // Whatever is in it: nothing of it was read.
    if place(of: "longer than 64 KiB", in: fault.message) != nil {
      return FileProblem(
        file: file, "is longer than 64 KiB", suggestion: "is it the file that you mean?")
    }
    guard let found = place(of: "cannot redefine existing ", in: fault.message) else {
      var message = fault.message
      let prefix = "Error while parsing "
      if message.hasPrefix(prefix) { message = String(message.dropFirst(prefix.count)) }
      if let end = place(of: " (TOML_MAX", in: message) {
        message = String(message[..<end.lowerBound])
      }
      return FileProblem(
        file: file, at: fault.place, "not valid TOML: " + printable(message, longest: 300))
    }
    // "integer 'b'", "table 'board.idle'", "array 'a' as table"; a key in quotes comes garbled.
    let what = fault.message[found.upperBound...]
    let parts = what.split(separator: "'", omittingEmptySubsequences: false)
    let isClean = parts.count == 3 && !parts[1].contains("\"")
    return FileProblem(
      file: file, at: fault.place, key: isClean ? String(parts[1]) : "",
      "is given twice; it is \(article(what)) above", suggestion: "keep one of them")
  }

  /// toml++'s words for kinds of values in ours.
  private static func article(_ what: Substring) -> String {
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

/// The bytes of a file, at most one more than is read of one.
package func readFile(
  _ path: String, inFolder hintForFolder: String = ""
) throws(FileProblems) -> [UInt8] {
  func failure(_ problem: String, _ suggestion: String = "") -> FileProblems {
    var told = FileProblem(
      file: printable(path, longest: 300), problem, suggestion: suggestion)
    told.isUnreadable = true
    return FileProblems([told])
  }
  guard !path.isEmpty, !path.utf8.contains(0) else {
    throw failure("no file can have this name")
  }
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw failure(reason(errno), hint(errno)) }
  defer { close(descriptor) }
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { throw failure(reason(errno)) }
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
    guard count >= 0 else { throw failure(reason(errno)) }
    if count == 0 { break }
    bytes.append(contentsOf: block.prefix(count))
  }
  return bytes
}

private func reason(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe "cannot be read: " + String(cString: text)
}

private func hint(_ code: Int32) -> String {
  code == EACCES ? "look at its owner and mode with ls -l" : ""
}
