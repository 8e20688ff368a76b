import Glibc

/// Looks up user IDs by name, for a file with many names. Local users are read once from `/etc/passwd`; only a few
/// other names are looked up in the system, because each look-up may block on a directory server.
struct UserNames {
  /// Path of the local users on Linux.
  static let standardPath = "/etc/passwd"
  /// Maximum number of bytes that are read of that file.
  static let longestFile = 262_144
  /// Maximum number of names that are looked up in the system.
  static let lookUpsLimit = 16

  private let path: String
  private let lookUp: (String) -> UInt32?
  /// Local users; nil until first used.
  private var localUsers: [Substring: UInt32]?
  /// Results of system look-ups.
  private var systemUsers: [String: UInt32?] = [:]
  /// Number of names that were not looked up because of the limit.
  private(set) var unresolvedCount = 0

  /// - Parameters:
  ///   - path: File of the local users in the format of passwd(5).
  ///   - lookUp: Looks up a user ID in the system's user database; nil if none exists.
  init(path: String = standardPath, lookUp: @escaping (String) -> UInt32?) {
    self.path = path
    self.lookUp = lookUp
  }

  /// The ID of a user; nil if none exists, or the look-up limit is exceeded.
  mutating func number(of name: String) -> UInt32? {
    let users = localUsers ?? UserNames.read(path)
    localUsers = users
    if let number = users[name[...]] { return number }
    if let cached = systemUsers[name] { return cached }
    guard systemUsers.count < UserNames.lookUpsLimit else {
      unresolvedCount += 1
      return nil
    }
    let number = lookUp(name)
    systemUsers[name] = .some(number)
    return number
  }

  private static func read(_ path: String) -> [Substring: UInt32] {
    let text = BoundedFile.text(path: path, atMost: longestFile)
    var users: [Substring: UInt32] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard fields.count == 4, !fields[0].isEmpty, let number = UInt32(fields[2]) else { continue }
      // As in getpwnam(3), the first line with a name applies.
      if users[fields[0]] == nil { users[fields[0]] = number }
    }
    return users
  }
}

/// Reads the beginning of system files.
enum BoundedFile {
  /// The first `limit` bytes of a file; empty if it is missing or unreadable.
  static func text(path: String, atMost limit: Int) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < bytes.count {
      let length = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      guard length > 0 else { break }
      count += length
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
