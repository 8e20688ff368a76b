import Glibc
import LocationClient

/// The files that the settings name: certificates, and passwords and keys, which other users may not read.
enum PrivateFile {
  /// Largest size of a password file, bytes.
  static let limit = 1_024

  /// A problem with a file, and how to correct it.
  struct Problem: Equatable {
    let problem: String
    let suggestion: String
  }

  /// Why a file may not be used; nil if it may.
  ///
  /// - Parameter isSecret: Whether other users may not read it. Its group may, so that root can own it.
  static func problem(with path: String, isSecret: Bool) -> Problem? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else {
      let reason = ClientError.reason(errno)
      return Problem(
        problem: "'\(path)' cannot be read: \(reason)",
        suggestion: "check its owner and mode with ls -l")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return Problem(problem: "'\(path)' is not a file", suggestion: "name a regular file")
    }
    guard !isSecret || status.st_mode & 0o007 == 0 else {
      return Problem(
        problem: "'\(path)' can be read by other users", suggestion: "run `chmod o= \(path)`")
    }
    return nil
  }

  /// The first line of a file.
  static func firstLine(of path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = unsafe read(descriptor, &bytes, limit)
    guard count > 0 else { return nil }
    let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return String(decoding: line, as: UTF8.self)
  }
}

/// C strings in one buffer; nil stays nil.
struct CStrings {
  /// The strings, each with its NUL.
  private(set) var characters: [CChar] = []
  private var offsets: [Int?] = []

  init(_ texts: [String?]) {
    for text in texts {
      guard let text else {
        offsets.append(nil)
        continue
      }
      offsets.append(characters.count)
      characters += text.utf8CString
    }
  }

  /// The string with this index in ``characters``, which are at `start`.
  func string(_ index: Int, at start: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
    guard let offset = offsets[index] else { return nil }
    return unsafe start + offset
  }
}
