import BoardHardware
import Glibc
import TOMLFiles

/// The folder of boards. Each board is a subfolder with `profile.toml` and `README.md`.
public struct BoardCatalog: Equatable, Sendable {
  /// The board that is used if no board is specified.
  public static let defaultBoard = "simulated"

  /// Path of the folder, `Boards`.
  public var directory: String

  /// Creates a catalog of the folder at `directory` without reading it.
  public init(directory: String) { self.directory = directory }

  /// Finds the folder of boards.
  ///
  /// If `$TORPOR_BOARDS` is set, it must name a folder. Otherwise the result is the first of these folders that
  /// contains a board: `Boards` or `share/torpor/Boards` in the folder of the executable or above it; `Boards` in
  /// the working directory or above it; `Boards` in the source tree from which the program was built.
  ///
  /// - Throws: ``ProfileErrors`` if none is found.
  public static func standard() throws(ProfileErrors) -> BoardCatalog {
    try find(
      environment: environmentVariable("TORPOR_BOARDS"), executable: executablePath(),
      working: workingDirectory(), source: sourceTree(of: #filePath))
  }

  static func find(
    environment: String?, executable: String?, working: String?, source: String?
  ) throws(ProfileErrors) -> BoardCatalog {
    if let environment, !environment.isEmpty {
      guard isFolder(environment) else {
        throw ProfileErrors([
          ProfileError(
            file: printable(environment, maxLength: 300),
            "TORPOR_BOARDS is not the path of a folder",
            suggestion: "set it to the folder that contains a folder per board, or unset it")
        ])
      }
      return BoardCatalog(directory: environment)
    }
    var candidates: [String] = []
    for folder in executable.map({ ancestors(of: parent($0)) }) ?? [] {
      candidates += [path(folder, "Boards"), path(folder, "share/torpor/Boards")]
    }
    candidates += (working.map(ancestors) ?? []).map { path($0, "Boards") }
    if let source { candidates.append(path(source, "Boards")) }
    guard let directory = candidates.first(where: containsBoards) else {
      throw ProfileErrors([
        ProfileError(
          file: "Boards", "no folder of board profiles was found",
          suggestion: "set TORPOR_BOARDS to it")
      ])
    }
    return BoardCatalog(directory: directory)
  }

  /// The sorted names of the boards in the folder; empty if the folder does not exist.
  ///
  /// A board is a subfolder with a `profile.toml`. ``find(_:)`` validates the profile.
  public func list() -> [String] {
    BoardCatalog.entries(of: directory)
      .filter { BoardCatalog.exists(profilePath(of: $0)) }
      .sorted()
  }

  /// The sorted names of the boards in the folder.
  ///
  /// - Throws: ``ProfileErrors`` with a suggestion if the folder contains no board.
  public func names() throws(ProfileErrors) -> [String] {
    let names = list()
    guard names.isEmpty else { return names }
    throw ProfileErrors([
      ProfileError(
        file: printable(directory, maxLength: 300),
        "contains no board, that is, no folder with a profile.toml",
        suggestion: "create one with `torpor board new`, or set TORPOR_BOARDS to the folder that"
          + " contains a folder per board")
    ])
  }

  /// Path of the profile of the board `name`, whether or not it exists.
  public func profilePath(of name: String) -> String {
    BoardCatalog.path(BoardCatalog.path(directory, name), "profile.toml")
  }

  /// Path of the profile that `name` refers to: a path (see ``find(_:)``), a board of this folder, or, if no board
  /// has that name, a file or a folder with a `profile.toml` in the working directory.
  ///
  /// - Throws: ``ProfileErrors`` if none exists, with the names of the boards and the most similar one.
  public func file(of name: String) throws(ProfileErrors) -> String {
    if BoardCatalog.isPath(name) { return BoardCatalog.profileFile(at: name) }
    let names = list()
    if names.contains(name) { return profilePath(of: name) }
    if let file = BoardCatalog.localFile(of: name) { return file }
    throw unknownBoardError(name, among: names)
  }

  /// Path of the profile in the working directory that `name` refers to if no board has that name; nil if none
  /// exists.
  public static func localFile(of name: String) -> String? {
    guard !name.isEmpty, exists(name) else { return nil }
    let file = profileFile(at: name)
    return isFolder(file) ? nil : file
  }

  /// Path of the profile at `path`: the `profile.toml` in it if `path` is a folder that contains one.
  public static func profileFile(at path: String) -> String {
    let profile = self.path(path, "profile.toml")
    return isFolder(path) && exists(profile) ? profile : path
  }

  /// Whether `name` is the path of a profile and not the name of a board.
  public static func isPath(_ name: String) -> Bool {
    name.contains("/") || name.hasSuffix(".toml")
  }

  /// Reads the board `name`. A name that contains a slash or ends in `.toml` is the path of a profile or of its
  /// folder. ``file(of:)`` returns the file that is read.
  ///
  /// - Throws: ``ProfileErrors``; for an unknown name, with the names of the boards and the most similar one.
  public func find(_ name: String) throws(ProfileErrors) -> BoardProfile {
    let file = try file(of: name)
    let profile = try BoardProfile.load(path: file)
    guard profile.name == name || file != profilePath(of: name) else {
      throw ProfileErrors([
        ProfileError(
          file: file, at: .start, key: "name",
          "is \"\(profile.name)\" in a folder named \"\(name)\"",
          expected: "the name of the folder")
      ])
    }
    return profile
  }

  private func unknownBoardError(_ name: String, among names: [String]) -> ProfileErrors {
    let hint =
      name != "" && BoardCatalog.isFolder(name)
      ? "the folder of that name in the working directory has no profile.toml; "
      : nearestName(to: name, among: names).map { "did you mean \"\($0)\"? " } ?? ""
    let text = names.isEmpty ? "no boards exist" : "known boards: " + names.joined(separator: ", ")
    return ProfileErrors([
      ProfileError(
        file: printable(directory, maxLength: 300), "no board is named \"\(printable(name))\"",
        suggestion: hint + text)
    ])
  }
}

extension BoardCatalog {
  /// `folder` and its ancestors, computed from the path without reading the file system; at most 64.
  static func ancestors(of folder: String) -> [String] {
    var folders: [String] = []
    var folder = folder
    while folders.count < 64 {
      folders.append(folder)
      let next = parent(folder)
      if next == folder { break }
      folder = next
    }
    return folders
  }

  static func parent(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func path(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }

  /// Root of the package, from the path of this file: `Sources/Profiles/BoardProfiles/BoardCatalog.swift`.
  private static func sourceTree(of file: String) -> String { parent(parent(parent(parent(file)))) }

  /// Whether the folder contains a board. A folder named Boards without a profile belongs to another program.
  private static func containsBoards(_ folder: String) -> Bool {
    isFolder(folder) && !BoardCatalog(directory: folder).list().isEmpty
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0
  }

  private static func entries(of folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
        unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  private static func workingDirectory() -> String? {
    guard let folder = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder)
  }

  private static func executablePath() -> String? {
    guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }
}
