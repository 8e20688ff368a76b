import Glibc

/// Who answers for whose user ids, as `/etc/subuid` says it now (RES-3).
public struct SubordinateFile: Sendable {
  /// What tells one state of a file from another.
  private struct Version: Equatable {
    var device: UInt
    var inode: UInt
    var size: Int
    var written_ns: Int
    var changed_ns: Int

    /// That of the file at `path`; nil where there is none.
    init?(path: String) {
      var found = stat()
      guard unsafe stat(path, &found) == 0 else { return nil }
      device = UInt(found.st_dev)
      inode = UInt(found.st_ino)
      size = found.st_size
      written_ns = found.st_mtim.tv_sec &* 1_000_000_000 &+ found.st_mtim.tv_nsec
      changed_ns = found.st_ctim.tv_sec &* 1_000_000_000 &+ found.st_ctim.tv_nsec
    }
  }

  /// What the file said when it was read last.
  public private(set) var users: SubordinateUsers
  private let path: String?
  private let passwd: String
  private let lookUp: @Sendable (String) -> UInt32?
  private var version: Version?
  /// The lines passed over that were reported last; see ``takeUnresolvedLines()``.
  private var reportedLines = 0

  /// What no file can change.
  public init(_ users: SubordinateUsers = SubordinateUsers()) {
    self.users = users
    path = nil
    passwd = UserNames.standardPath
    lookUp = { _ in nil }
  }

  /// Reads the file at `path`; one that is not there lists nobody.
  public init(path: String) {
    self.init(path: path, passwd: UserNames.standardPath) { AccessPolicy.systemUser($0) }
  }

  /// Reads the file at `path`, with the file of local users at `passwd`, and `lookUp` for users that are not there.
  init(path: String, passwd: String, lookUp: @escaping @Sendable (String) -> UInt32?) {
    version = Version(path: path)
    users = .system(path: path, passwd: passwd, lookUp: lookUp)
    self.path = path
    self.passwd = passwd
    self.lookUp = lookUp
  }

  /// Whether the file was changed, replaced or removed since it was read; one system call, and nothing is read.
  public var isChanged: Bool { path.map { Version(path: $0) != version } ?? false }

  /// Reads the file again if it was changed, replaced or removed; one system call where it was not.
  ///
  /// - Returns: Whether other users answer for user ids than before.
  public mutating func refresh() -> Bool {
    guard let path else { return false }
    // Taken before it is read: what is written meanwhile is found the next time.
    let found = Version(path: path)
    guard found != version else { return false }
    version = found
    let before = users
    users = .system(path: path, passwd: passwd, lookUp: lookUp)
    return users != before
  }

  /// How many lines were passed over because their users' names were too many to look up; nil where that is none,
  /// or was given before.
  mutating func takeUnresolvedLines() -> Int? {
    guard users.unresolvedLines != reportedLines else { return nil }
    reportedLines = users.unresolvedLines
    return reportedLines > 0 ? reportedLines : nil
  }
}
