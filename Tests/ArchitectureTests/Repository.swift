import Foundation
import TestSupport
import Testing

/// The repository that contains these tests.
enum Repository {
  /// Its root folder.
  static let root = URL(filePath: packageRoot)

  /// A file with its path from the root and its text.
  struct File: Sendable, CustomTestStringConvertible {
    var path: String
    var text: String
    var testDescription: String { path }
    /// The last part of the path.
    var name: String { String(path.split(separator: "/").last ?? "") }
    /// The path without the name.
    var folder: String { String(path.dropLast(name.count + 1)) }
    /// The module that a file of `Sources` belongs to: its third folder.
    var module: String { String(path.split(separator: "/")[2]) }
  }

  /// The text of one file.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The names of all tracked entries of the root folder, including hidden ones.
  ///
  /// Git lists them; in a copy without `.git` they are all entries that are not ignored.
  static func topLevel() throws -> Set<String> {
    if FileManager.default.fileExists(atPath: root.appending(path: ".git").path),
      let listed = try? tracked()
    {
      return Set(listed.map { String($0.prefix { $0 != "/" }) })
    }
    let ignored = try text(".gitignore").split(separator: "\n").map(String.init)
    func isIgnored(_ name: String) -> Bool {
      ignored.contains { pattern in
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        return parts.count == 2
          ? name.hasPrefix(parts[0]) && name.hasSuffix(parts[1]) : name == pattern
      }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    return Set(names.filter { !isIgnored($0) && $0 != ".git" })
  }

  /// The paths of all files that git tracks.
  private static func tracked() throws -> [Substring] {
    try output(of: ["git", "-C", root.path, "-c", "safe.directory=*", "ls-files", "-z"])
      .split(separator: "\0")
  }

  /// The output of a program, which is found in `PATH` or by its path from the root.
  static func output(of arguments: [String]) throws -> String {
    let program = Process()
    let output = Pipe()
    program.executableURL = URL(filePath: "/usr/bin/env")
    program.currentDirectoryURL = root
    program.arguments = arguments
    program.standardOutput = output
    program.standardError = FileHandle.nullDevice
    try program.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    program.waitUntilExit()
    guard program.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names of the folders directly below `path`.
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
      where endings.contains((path as NSString).pathExtension)
        && walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular
      {
        files.append(File(path: "\(folder)/\(path)", text: try text("\(folder)/\(path)")))
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  /// Every source file.
  static func sources() throws -> [File] {
    try files(in: ["Sources"], endings: ["swift", "c", "h", "cpp", "hpp", "modulemap"])
  }

  /// The Swift files of all modules.
  static func swiftSources() throws -> [File] {
    try files(in: ["Sources"], endings: ["swift"])
  }
}
