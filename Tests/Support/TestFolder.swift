import Glibc

/// A folder of one test, removed with all that is in it.
public final class TestFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Makes an empty one.
  public init() {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var name = Array("\(base)/torpor-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&name) else { preconditionFailure("no folder") }
    path = unsafe String(cString: made)
  }

  deinit { TestFolder.removeAll(path) }

  /// The path of one of its files.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of its files, hidden ones too.
  public var names: [String] { TestFolder.names(in: path) }

  /// All bytes of a file; none if it is not there.
  public func read(_ name: String) -> [UInt8] { readFile(file(name)) }

  /// Writes a file.
  public func write(_ bytes: [UInt8], to name: String) {
    let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(descriptor >= 0, "it can be written")
    defer { close(descriptor) }
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    precondition(count == bytes.count, "it is written whole")
  }

  /// Makes a folder in it, with those that it lies in; one that is there stays.
  public func makeFolders(_ name: String) {
    var place = path
    for part in name.split(separator: "/") {
      place += "/" + part
      precondition(unsafe mkdir(place, 0o700) == 0 || errno == EEXIST, "it can be made")
    }
  }

  /// Removes one of its files or folders.
  public func remove(_ name: String) { TestFolder.removeAll(file(name)) }

  /// Copies a file into another folder.
  public func copy(_ name: String, to other: TestFolder) { other.write(read(name), to: name) }

  /// The names in a folder, hidden ones too, in order.
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

  /// What cannot be unlinked is a folder.
  private static func removeAll(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    for name in names(in: path) { removeAll("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }
}

/// All bytes of a file; none if it is not there.
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
