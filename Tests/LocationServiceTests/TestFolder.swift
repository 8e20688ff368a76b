import Glibc

/// A folder of one test, removed with it.
final class TestFolder {
  let path: String

  init() {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var name = Array("\(base)/torpor-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&name) else { preconditionFailure("no folder") }
    path = unsafe String(cString: made)
  }

  deinit {
    for name in names { _ = unsafe unlink("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }

  /// The names of its files.
  var names: [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// All bytes of a file.
  func read(_ name: String) -> [UInt8] {
    let descriptor = unsafe open("\(path)/\(name)", O_RDONLY)
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

  /// Writes a file.
  func write(_ bytes: [UInt8], to name: String) {
    let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(descriptor >= 0, "it can be written")
    defer { close(descriptor) }
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    precondition(count == bytes.count, "it is written whole")
  }

  func copy(_ name: String, to other: TestFolder) throws { other.write(read(name), to: name) }
}
