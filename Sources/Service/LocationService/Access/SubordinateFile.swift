import Glibc

/// The login users of subordinate user IDs, from `/etc/subuid`, read again when the file changes (RES-3).
public struct SubordinateFile: Sendable {
  /// Attributes that change whenever the file changes.
  private struct Version: Equatable {
    var device: UInt
    var inode: UInt
    var size: Int
    var written_ns: Int
    var changed_ns: Int

    /// Reads the attributes of the file at `path`; nil if it does not exist.
    init?(path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
      size = status.st_size
      written_ns = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
      changed_ns = status.st_ctim.tv_sec &* 1_000_000_000 &+ status.st_ctim.tv_nsec
    }
  }

  /// Content of the file when it was last read.
  public private(set) var users: SubordinateUsers
  private let path: String?
  private let passwd: String
  private let lookUp: @Sendable (String) -> UInt32?
  private var version: Version?
  /// Number of ignored lines that was last reported, see ``consumeUnresolvedLines()``.
  private var reportedLines = 0

  /// Creates a fixed table without a file.
  public init(_ users: SubordinateUsers = SubordinateUsers()) {
    self.users = users
    path = nil
    passwd = UserNames.standardPath
    lookUp = { _ in nil }
  }

  /// Reads the file at `path`. A missing file is an empty table.
  public init(path: String) {
    self.init(path: path, passwd: UserNames.standardPath) { AccessPolicy.systemUser($0) }
  }

  /// Reads the file at `path`, with the local users from `passwd`, and `lookUp` for all other names.
  init(path: String, passwd: String, lookUp: @escaping @Sendable (String) -> UInt32?) {
    version = Version(path: path)
    users = .system(path: path, passwd: passwd, lookUp: lookUp)
    self.path = path
    self.passwd = passwd
    self.lookUp = lookUp
  }

  /// Whether the file was changed, replaced or removed since it was read. One system call; the file is not read.
  public var isChanged: Bool { path.map { Version(path: $0) != version } ?? false }

  /// Reads the file again if it was changed, replaced or removed. One system call if it was not.
  ///
  /// - Returns: Whether the table has changed.
  public mutating func refresh() -> Bool {
    guard let path else { return false }
    // Read the attributes before the content: a concurrent change is then detected by the next check.
    let current = Version(path: path)
    guard current != version else { return false }
    version = current
    let before = users
    users = .system(path: path, passwd: passwd, lookUp: lookUp)
    return users != before
  }

  /// Number of lines ignored because of the look-up limit; nil if there are none, or the number was already returned.
  mutating func consumeUnresolvedLines() -> Int? {
    guard users.unresolvedLines != reportedLines else { return nil }
    reportedLines = users.unresolvedLines
    return reportedLines > 0 ? reportedLines : nil
  }
}
