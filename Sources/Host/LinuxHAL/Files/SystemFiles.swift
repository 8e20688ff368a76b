import Glibc

/// Reads folders, links and small files of `/dev`, `/proc` and `/sys`.
public enum SystemFiles {
  /// Names in a folder, sorted; empty if the folder is missing or unreadable.
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

  /// Target of a symbolic link as stored in it; nil if the path is no link or is unreadable.
  public static func linkTarget(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: 4_096)
    let length = unsafe target.withUnsafeMutableBytes { bytes in
      guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
      return unsafe readlink(path, start, bytes.count)
    }
    return length < 0 ? nil : String(decoding: target.prefix(length), as: UTF8.self)
  }

  /// Absolute path with all symbolic links resolved; nil if it cannot be resolved.
  public static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Result of one read of a file, at most `capacity` bytes; nil if the file is unreadable.
  ///
  /// - Parameters:
  ///   - flags: Additional flags for open(2); by default the read does not block.
  ///   - read: Reads into a buffer; returns the number of bytes, or a negative value on failure.
  static func bytes(
    of path: String, capacity: Int, flags: Int32 = O_NONBLOCK,
    read: (Int32, UnsafeMutableRawBufferPointer) -> Int = {
      unsafe Glibc.read($0, $1.baseAddress, $1.count)
    }
  ) -> ArraySlice<UInt8>? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: capacity)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0) }
    return count < 0 ? nil : bytes.prefix(count)
  }

  /// Content of a small file without trailing newlines and NULs, and with control characters replaced; nil if it is
  /// unreadable.
  ///
  /// - Parameter capacity: Maximum number of bytes to read.
  public static func text(of path: String, capacity: Int = 16_384) -> String? {
    guard var text = unsafe bytes(of: path, capacity: capacity) else { return nil }
    while let last = text.last, last == 0x0A || last == 0 { text = text.dropLast() }
    return KernelText.printable(text)
  }
}
