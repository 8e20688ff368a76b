import Foundation
import Testing

/// The repository these tests were built from.
enum Repository {
  /// Its top folder.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A file with its path from the top and what is in it.
  struct File: Sendable, CustomTestStringConvertible {
    var path: String
    var text: String
    var testDescription: String { path }
    /// The first two folders' second: the room a file of Sources is in.
    var room: String { String(path.split(separator: "/")[1]) }
  }

  /// The text of one file.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The names of the folders right below `path`.
  static func folders(in path: String) -> [String] {
    let folder = root.appending(path: path)
    let found = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
    return (found ?? []).filter {
      (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
    }
    .map(\.lastPathComponent).sorted()
  }

  /// All files below `folders` whose name ends in one of `endings`, sorted by path.
  static func files(in folders: [String], endings: Set<String>) throws -> [File] {
    var files: [File] = []
    for folder in folders {
      let start = root.appending(path: folder)
      guard let walk = FileManager.default.enumerator(atPath: start.path) else { continue }
      for case let path as String in walk
      where endings.contains((path as NSString).pathExtension) {
        files.append(File(path: "\(folder)/\(path)", text: try text("\(folder)/\(path)")))
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  /// Every source file of a room.
  static func sources() throws -> [File] {
    try files(in: ["Sources"], endings: ["swift", "c", "h", "cpp", "hpp", "modulemap"])
  }

  /// The Swift files of all rooms.
  static func swiftSources() throws -> [File] {
    try files(in: ["Sources"], endings: ["swift"])
  }
}
