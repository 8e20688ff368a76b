import Glibc

/// A temporary folder of one test, which is removed with its content.
public final class TestFolder: Sendable {
  /// Path of the folder.
  public let path: String

  /// Creates an empty folder.
  public init() {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var name = Array("\(base)/torpor-XXXXXX".utf8CString)
    guard let created = unsafe mkdtemp(&name) else { preconditionFailure("no folder") }
    path = unsafe String(cString: created)
  }

  deinit { TestFolder.removeAll(path) }

  /// The path of a file in the folder.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The sorted names of its files, including hidden ones.
  public var names: [String] { TestFolder.names(in: path) }

  /// All bytes of a file; empty if it does not exist.
  public func read(_ name: String) -> [UInt8] { readFile(file(name)) }

  /// Writes a file.
  public func write(_ bytes: [UInt8], to name: String) {
    let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(descriptor >= 0, "the file can be opened")
    defer { close(descriptor) }
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    precondition(count == bytes.count, "the file is written completely")
  }

  /// Creates a folder and its parents, if they do not exist.
  public func makeFolders(_ name: String) {
    var folder = path
    for part in name.split(separator: "/") {
      folder += "/" + part
      precondition(unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST, "the folder can be created")
    }
  }

  /// Removes a file or folder in the folder.
  public func remove(_ name: String) { TestFolder.removeAll(file(name)) }

  /// Copies a file into another folder.
  public func copy(_ name: String, to other: TestFolder) { other.write(read(name), to: name) }

  /// The sorted names in a folder, including hidden ones.
  public static func names(in path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Removes a file, or a folder with its content.
  private static func removeAll(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    for name in names(in: path) { removeAll("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }
}

/// All bytes of a file; empty if it does not exist.
public func readFile(_ path: String) -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY)
  guard descriptor >= 0 else { return [] }
  defer { close(descriptor) }
  var all: [UInt8] = []
  var block = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe Glibc.read(descriptor, &block, block.count)
    guard count > 0 else { return all }
    all += block[..<count]
  }
}
