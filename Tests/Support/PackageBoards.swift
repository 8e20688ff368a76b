/// The boards listed in `Boards/README.md`. A user's checkout may contain further boards.
public enum PackageBoards {
  /// The folder with one folder per board.
  public static let folder = "\(packageRoot)/Boards"

  /// The folder of the boards for tests only.
  public static let testFolder = "\(packageRoot)/Tests/Boards"

  /// Names of the boards, in the order of the list.
  public static let names: [String] = {
    let rows = String(decoding: readFile("\(folder)/README.md"), as: UTF8.self)
      .split(separator: "\n").filter { $0.hasPrefix("| [`") }
    let names = rows.map { String($0.dropFirst(4).prefix { $0 != "`" }) }
    precondition(!names.isEmpty, "Boards/README.md lists boards")
    return names
  }()
}
