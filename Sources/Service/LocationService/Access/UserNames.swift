#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The numbers of users by their names, for a file that lists many: the file of local users is read once, and only a few
/// names that it does not have are looked up in the system, because each look-up may wait for a directory server.
struct UserNames {
  /// Where Linux keeps the local users.
  static let standardPath = "/etc/passwd"
  /// Bytes of that file that are read.
  static let longestFile = 262_144
  /// Names that the file does not have and that are looked up in the system.
  static let lookUpsLimit = 16

  private let path: String
  private let lookUp: (String) -> UInt32?
  /// The local users; nil before the first name.
  private var local: [Substring: UInt32]?
  /// What the system answered.
  private var found: [String: UInt32?] = [:]
  /// How often a name was asked for that would have been one look-up too many.
  private(set) var refusedCount = 0

  /// - Parameters:
  ///   - path: The file of local users, as passwd(5) has it.
  ///   - lookUp: The system's number of a user, nil if there is none.
  init(path: String = standardPath, lookUp: @escaping (String) -> UInt32?) {
    self.path = path
    self.lookUp = lookUp
  }

  /// The number of a user; nil if there is none, or too many were looked up.
  mutating func number(of name: String) -> UInt32? {
    let users = local ?? UserNames.read(path)
    local = users
    if let number = users[name[...]] { return number }
    if let known = found[name] { return known }
    guard found.count < UserNames.lookUpsLimit else {
      refusedCount += 1
      return nil
    }
    let number = lookUp(name)
    found[name] = .some(number)
    return number
  }

  private static func read(_ path: String) -> [Substring: UInt32] {
    let text = BoundedFile.text(path: path, atMost: longestFile)
    var users: [Substring: UInt32] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard fields.count == 4, !fields[0].isEmpty, let number = UInt32(fields[2]) else { continue }
      // The first line of a name counts, as for getpwnam(3).
      if users[fields[0]] == nil { users[fields[0]] = number }
    }
    return users
  }
}

/// Files of the system, of which only the beginning is read.
enum BoundedFile {
  /// The first bytes of a file; empty where it is not there or cannot be read.
  static func text(path: String, atMost limit: Int) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      guard got > 0 else { break }
      count += got
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
