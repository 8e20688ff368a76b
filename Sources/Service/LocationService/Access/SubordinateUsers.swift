/// Which login user a subordinate user id belongs to, as `/etc/subuid` says it (subuid(5)).
///
/// A login user may run processes under some 65,536 further user ids, in user namespaces. Whatever is limited per
/// user is limited for all of them together.
public struct SubordinateUsers: Equatable, Sendable {
  /// User ids of a line that no line before it has.
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

  /// Ascending, and none overlaps another one.
  private var entries: [Entry] = []
  /// Lines that were passed over because their user's name would have been one look-up too many; see
  /// ``UserNames/lookUpsLimit``.
  private(set) var unresolvedLines = 0

  /// No user has subordinate ids.
  public init() {}

  /// Reads the text of the file: `login:first:count` lines, the login user by name or number. Other lines are
  /// passed over, as `newuidmap` does; of lines that list the same id the first one counts.
  ///
  /// - Parameter users: The number of a user of that name, nil if there is none.
  public init(text: String, users: (String) -> UInt32?) {
    var count = 0
    for line in text.split(separator: "\n") {
      guard count < SubordinateUsers.capacity else { return }
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 3, let login = UInt32(fields[0]) ?? users(String(fields[0])),
        let first = UInt32(fields[1]), let ids = UInt32(fields[2]), ids > 0
      else { continue }
      count += 1
      let (last, isOver) = first.addingReportingOverflow(ids - 1)
      add(first...(isOver ? .max : last), login)
    }
  }

  /// Adds what no line before has of `ids`.
  private mutating func add(_ ids: ClosedRange<UInt32>, _ login: UInt32) {
    var index = firstIndex(endingAtOrAbove: ids.lowerBound)
    // Wider than an id, which may be the last one there is.
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

  /// The system's; none where the file is not there or cannot be read.
  ///
  /// - Parameters:
  ///   - passwd: The file of local users, which has most of the names.
  ///   - lookUp: The system's number of a user, nil if there is none.
  static func system(
    path: String = standardPath, passwd: String = UserNames.standardPath,
    lookUp: @escaping (String) -> UInt32? = AccessPolicy.systemUser
  ) -> SubordinateUsers {
    var names = UserNames(path: passwd, lookUp: lookUp)
    let text = BoundedFile.text(path: path, atMost: longestFile)
    var users = SubordinateUsers(text: text) { names.number(of: $0) }
    users.unresolvedLines = names.refusedCount
    return users
  }

  /// The user who answers for `uid`: the login user that has it as a subordinate id, else the user itself.
  ///
  /// - Complexity: O(log lines of the file).
  public func login(of uid: UInt32) -> UInt32 {
    let index = firstIndex(endingAtOrAbove: uid)
    guard index < entries.count, entries[index].ids.contains(uid) else { return uid }
    return entries[index].login
  }
}
