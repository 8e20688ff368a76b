#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Which login user a subordinate user id belongs to, as `/etc/subuid` says it (subuid(5)).
///
/// A login user may run processes under some 65,536 further user ids, in user namespaces. Whatever is limited per
/// user is limited for all of them together.
public struct SubordinateUsers: Equatable, Sendable {
  /// One line of the file.
  private struct Entry: Equatable, Sendable {
    var ids: ClosedRange<UInt32>
    var login: UInt32
  }

  /// Where Linux keeps them.
  public static let standardPath = "/etc/subuid"
  /// Bytes of the file that are read; the rest is passed over.
  static let longestFile = 65_536
  /// Lines of the file that count; the rest is passed over.
  static let capacity = 1_024

  private var entries: [Entry] = []

  /// No user has subordinate ids.
  public init() {}

  /// Reads the text of the file: `login:first:count` lines, the login user by name or number. Other lines are
  /// passed over, as `newuidmap` does.
  ///
  /// - Parameter users: The number of a user of that name, nil if there is none.
  public init(text: String, users: (String) -> UInt32?) {
    for line in text.split(separator: "\n") {
      guard entries.count < SubordinateUsers.capacity else { return }
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 3, let login = UInt32(fields[0]) ?? users(String(fields[0])),
        let first = UInt32(fields[1]), let count = UInt32(fields[2]), count > 0
      else { continue }
      let (last, isOver) = first.addingReportingOverflow(count - 1)
      entries.append(Entry(ids: first...(isOver ? .max : last), login: login))
    }
  }

  /// The system's; none where the file is not there or cannot be read.
  public static func system(path: String = standardPath) -> SubordinateUsers {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return SubordinateUsers() }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: longestFile)
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      guard got > 0 else { break }
      count += got
    }
    return SubordinateUsers(
      text: String(decoding: bytes[..<count], as: UTF8.self), users: AccessPolicy.systemUser)
  }

  /// The user who answers for `uid`: the login user that has it as a subordinate id, else the user itself.
  ///
  /// - Complexity: O(lines of the file).
  public func login(of uid: UInt32) -> UInt32 {
    entries.first { $0.ids.contains(uid) }?.login ?? uid
  }
}
