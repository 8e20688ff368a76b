/// One table of a profile.
public struct ProfileTable: Sendable {
  /// Its path, `receiver.power`; empty for the root.
  public let path: String
  /// Whether it must be there when the table around it is.
  public let isRequired: Bool
  /// What it is about, one sentence.
  public let meaning: String
}

/// Everything a profile may say, in one place: reading, `torpor board show` and the reference page
/// (`Docs/Reference/board-profile.md`) come from it.
public enum ProfileSchema {
  /// All tables, outer before inner.
  public static let tables: [ProfileTable] = [
    ProfileTable(path: "", isRequired: true, meaning: "Who the board is."),
    ProfileTable(path: "board", isRequired: true, meaning: "The board without its receiver."),
    ProfileTable(path: "board.awake", isRequired: true, meaning: "Running code."),
    ProfileTable(
      path: "board.idle", isRequired: true,
      meaning: "Waiting for an event, clocks running; any byte, edge or timer ends it."),
    ProfileTable(
      path: "board.suspended", isRequired: false,
      meaning: "Suspended (s2idle or mem). Leave it out where the kernel cannot."),
    ProfileTable(
      path: "board.off", isRequired: false,
      meaning: "Powered off until an alarm. Leave it out where nothing switches the board on again."
    ),
    ProfileTable(
      path: "receiver", isRequired: false,
      meaning: "The GNSS receiver and its wiring. Leave it out on a board without one."),
    ProfileTable(
      path: "receiver.power", isRequired: true,
      meaning: "What the receiver draws, antenna included, by state."),
    ProfileTable(
      path: "receiver.batch", isRequired: false,
      meaning: "Storing fixes inside the receiver. Leave it out where it cannot or shall not."),
    ProfileTable(
      path: "receiver.time_to_fix", isRequired: true,
      meaning: "How long after a time off the first fix comes."),
    ProfileTable(
      path: "motion", isRequired: false,
      meaning:
        "A sensor that tells of motion. Leave it out on a board without one. "
        + "What `[board.suspended]` does not hear is not made use of: "
        + "staying out of that sleep costs more than the looks it spares."
    ),
    ProfileTable(
      path: "battery", isRequired: false,
      meaning:
        "A battery that is watched, by a gauge or by a line that says low: below which charge"
        + " which promise is given up. One charge at least is named."),
    ProfileTable(path: "cache", isRequired: true, meaning: "The ring in which fixes wait."),
    ProfileTable(path: "policy", isRequired: false, meaning: "What the planner may assume."),
  ]

  /// All keys, table by table.
  public static let keys: [ProfileKey] =
    identity + board + receiver + motion + battery + cache + policy

  private static let byPath = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0) })

  /// The key at `path`; nil when there is none.
  static func key(_ path: String) -> ProfileKey? { byPath[path] }

  /// The table at `path`; nil when there is none.
  static func table(_ path: String) -> ProfileTable? { tables.first { $0.path == path } }

  /// The keys of one table.
  static func keys(of table: String) -> [ProfileKey] { keys.filter { $0.table == table } }

  /// The tables right inside `table`.
  static func tables(in table: String) -> [ProfileTable] {
    tables.filter { $0.path != "" && ProfileSchema.outer($0.path) == table }
  }

  /// The path of the table around `path`.
  static func outer(_ path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return "" }
    return String(path[..<dot])
  }

  /// The last name of `path`.
  static func last(_ path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return path }
    return String(path[path.index(after: dot)...])
  }
}
