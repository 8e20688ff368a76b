import TOMLFiles

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The folder of boards: one folder each, with `profile.toml` and `README.md`.
public struct BoardCatalog: Equatable, Sendable {
  /// The board that is used when none is named.
  public static let defaultBoard = "simulated"

  /// The folder, `Boards`.
  public var directory: String

  /// Creates a catalog of the folder at `directory`; it is not looked into yet.
  public init(directory: String) { self.directory = directory }

  /// Finds the folder of boards.
  ///
  /// The first of these that is a folder: `$TORPOR_BOARDS`, which must be one when it is set;
  /// `Boards` or `share/torpor/Boards` beside the executable or above it; `Boards` in the working
  /// directory or above it; the source tree from which the program was built.
  ///
  /// - Throws: ``ProfileErrors`` when there is none.
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
            file: printable(environment, longest: 300), "TORPOR_BOARDS names no folder",
            suggestion: "set it to the folder that holds a folder per board, or unset it")
        ])
      }
      return BoardCatalog(directory: environment)
    }
    var candidates: [String] = []
    for folder in executable.map({ above(parent($0)) }) ?? [] {
      candidates += [path(folder, "Boards"), path(folder, "share/torpor/Boards")]
    }
    candidates += (working.map(above) ?? []).map { path($0, "Boards") }
    if let source { candidates.append(path(source, "Boards")) }
    guard let directory = candidates.first(where: holdsBoards) else {
      throw ProfileErrors([
        ProfileError(
          file: "Boards", "no folder of board profiles was found",
          suggestion: "set TORPOR_BOARDS to it")
      ])
    }
    return BoardCatalog(directory: directory)
  }

  /// The names of the boards there, sorted; empty when the folder is not there.
  ///
  /// A board is a folder with a `profile.toml`; whether that is right, ``find(_:)`` says.
  public func list() -> [String] {
    BoardCatalog.entries(of: directory)
      .filter { BoardCatalog.exists(profilePath(of: $0)) }
      .sorted()
  }

  /// The names of the boards there, sorted.
  ///
  /// - Throws: ``ProfileErrors`` when there is none, with what to do.
  public func names() throws(ProfileErrors) -> [String] {
    let names = list()
    guard names.isEmpty else { return names }
    throw ProfileErrors([
      ProfileError(
        file: printable(directory, longest: 300), "holds no board: no folder with a profile.toml",
        suggestion: "make one with `torpor board new`, or set TORPOR_BOARDS to the folder that"
          + " holds a folder per board")
    ])
  }

  /// Where the profile of the board `name` is or would be.
  public func profilePath(of name: String) -> String {
    BoardCatalog.path(BoardCatalog.path(directory, name), "profile.toml")
  }

  /// The file of the board `name` of this folder, of a path (as ``find(_:)`` has it), or, where no
  /// board here has that name, of a folder with a `profile.toml` or a file in the working directory.
  ///
  /// - Throws: ``ProfileErrors`` where there is none, with the boards there are and a guess.
  public func file(of name: String) throws(ProfileErrors) -> String {
    if BoardCatalog.isPath(name) { return BoardCatalog.profileFile(at: name) }
    let known = list()
    if known.contains(name) { return profilePath(of: name) }
    if let file = BoardCatalog.localFile(of: name) { return file }
    throw unknown(name, among: known)
  }

  /// The profile in the working directory that `name` stands for where no board has that name; nil
  /// where there is none.
  public static func localFile(of name: String) -> String? {
    guard !name.isEmpty, exists(name) else { return nil }
    let file = profileFile(at: name)
    return isFolder(file) ? nil : file
  }

  /// The profile at `path`: the one inside where that is the folder of one.
  public static func profileFile(at path: String) -> String {
    let inside = self.path(path, "profile.toml")
    return isFolder(path) && exists(inside) ? inside : path
  }

  /// Whether `name` is the path of a profile and not the name of a board.
  public static func isPath(_ name: String) -> Bool {
    name.contains("/") || name.hasSuffix(".toml")
  }

  /// Reads the board `name`; a name with a slash or ending in `.toml` is a path to a profile or to
  /// the folder of one. Where it is from, ``file(of:)`` says.
  ///
  /// - Throws: ``ProfileErrors``; an unknown name comes with the boards there are and a guess.
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

  private func unknown(_ name: String, among known: [String]) -> ProfileErrors {
    let near =
      name != "" && BoardCatalog.isFolder(name)
      ? "the folder here of that name has no profile.toml; "
      : nearest(name, among: known).map { "did you mean \"\($0)\"? " } ?? ""
    let there = known.isEmpty ? "there are none" : "there are " + known.joined(separator: ", ")
    return ProfileErrors([
      ProfileError(
        file: printable(directory, longest: 300), "no board is named \"\(printable(name))\"",
        suggestion: near + there)
    ])
  }
}

extension BoardCatalog {
  /// `folder` and every folder above it, by name alone.
  static func above(_ folder: String) -> [String] {
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

  /// The package's root, of which this file is `Sources/Profiles/BoardProfiles/BoardCatalog.swift`.
  private static func sourceTree(of file: String) -> String { parent(parent(parent(parent(file)))) }

  /// A folder called Boards without a profile in it is somebody else's.
  private static func holdsBoards(_ folder: String) -> Bool {
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
