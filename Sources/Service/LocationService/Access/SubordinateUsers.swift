/// Maps subordinate user IDs to login users, as listed in `/etc/subuid` (subuid(5)).
///
/// A login user may run processes under about 65,536 more user IDs, in user namespaces. Limits per user apply to all of
/// them together.
public struct SubordinateUsers: Equatable, Sendable {
  /// User IDs of one line, without the IDs of earlier lines.
  private struct Entry: Equatable, Sendable {
    var ids: ClosedRange<UInt32>
    var login: UInt32
  }

  /// Path of the file on Linux.
  public static let standardPath = "/etc/subuid"
  /// Maximum number of bytes that are read. The remainder is ignored.
  static let longestFile = 65_536
  /// Maximum number of lines that are used. Further lines are ignored.
  static let capacity = 1_024

  /// Sorted by user ID, without overlaps.
  private var entries: [Entry] = []
  /// Number of lines ignored because their user name exceeds ``UserNames/lookUpsLimit``.
  private(set) var unresolvedLines = 0

  /// Creates an empty table.
  public init() {}

  /// Parses `login:first:count` lines, with the login user as a name or number. Invalid lines are ignored, as by
  /// `newuidmap`. If several lines contain an ID, the first one applies.
  ///
  /// - Parameter users: Looks up the ID of a user by name; nil if none exists.
  public init(text: String, users: (String) -> UInt32?) {
    var count = 0
    for line in text.split(separator: "\n") {
      guard count < SubordinateUsers.capacity else { return }
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 3, let login = UInt32(fields[0]) ?? users(String(fields[0])),
        let first = UInt32(fields[1]), let ids = UInt32(fields[2]), ids > 0
      else { continue }
      count += 1
      let (last, overflows) = first.addingReportingOverflow(ids - 1)
      add(first...(overflows ? .max : last), login)
    }
  }

  /// Adds the part of `ids` that no earlier line contains.
  private mutating func add(_ ids: ClosedRange<UInt32>, _ login: UInt32) {
    var index = firstIndex(endingAtOrAbove: ids.lowerBound)
    // 64 bits, because the ID after the last one does not fit into 32.
    var next = UInt64(ids.lowerBound)
    while next <= ids.upperBound {
      let known = index < entries.count ? entries[index].ids : nil
      let end = min(known.map { UInt64($0.lowerBound) } ?? .max, UInt64(ids.upperBound) + 1)
      if next < end {
        entries.insert(Entry(ids: UInt32(next)...UInt32(end - 1), login: login), at: index)
        index += 1
      }
      guard let known else { return }
      next = UInt64(known.upperBound) + 1
      index += 1
    }
  }

  private func firstIndex(endingAtOrAbove uid: UInt32) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].ids.upperBound < uid { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Reads the system's table; empty if the file is missing or unreadable.
  ///
  /// - Parameters:
  ///   - passwd: File of the local users, which contains most of the names.
  ///   - lookUp: Looks up a user ID in the system's user database; nil if none exists.
  static func system(
    path: String = standardPath, passwd: String = UserNames.standardPath,
    lookUp: @escaping (String) -> UInt32? = AccessPolicy.systemUser
  ) -> SubordinateUsers {
    var names = UserNames(path: passwd, lookUp: lookUp)
    let text = BoundedFile.text(path: path, atMost: longestFile)
    var users = SubordinateUsers(text: text) { names.number(of: $0) }
    users.unresolvedLines = names.unresolvedCount
    return users
  }

  /// The user that `uid` is counted as: the login user with that subordinate ID, else the user itself.
  ///
  /// - Complexity: O(log n) for n lines.
  public func login(of uid: UInt32) -> UInt32 {
    let index = firstIndex(endingAtOrAbove: uid)
    guard index < entries.count, entries[index].ids.contains(uid) else { return uid }
    return entries[index].login
  }
}
