/// The boards of the package: those that `Boards/README.md` lists. A user may have made others beside them.
public enum PackageBoards {
  /// The folder that holds a folder for each.
  public static let folder = "\(packageRoot)/Boards"

  /// The folder of those that are for tests alone.
  public static let testFolder = "\(packageRoot)/Tests/Boards"

  /// Their names, in the order of the list.
  public static let names: [String] = {
    let rows = String(decoding: readFile("\(folder)/README.md"), as: UTF8.self)
      .split(separator: "\n").filter { $0.hasPrefix("| [`") }
    let names = rows.map { String($0.dropFirst(4).prefix { $0 != "`" }) }
    precondition(!names.isEmpty, "Boards/README.md lists boards")
    return names
  }()
}
