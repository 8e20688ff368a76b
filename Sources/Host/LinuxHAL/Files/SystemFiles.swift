import Glibc

/// Folders, links and small files, as the kernel has them in `/dev`, `/proc` and `/sys`.
public enum SystemFiles {
  /// The names in a folder, in order; none where there is no such folder, or it may not be read.
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

  /// Where a symbolic link leads, as it says itself; nil where it is none or may not be read.
  public static func link(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: 4_096)
    let length = unsafe target.withUnsafeMutableBytes { bytes in
      guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
      return unsafe readlink(path, start, bytes.count)
    }
    return length < 0 ? nil : String(decoding: target.prefix(length), as: UTF8.self)
  }

  /// What one read of a file gives, at most `capacity` bytes; nil where it cannot be read.
  ///
  /// - Parameters:
  ///   - flags: To open it with, beside those for reading; a reader is not kept waiting.
  ///   - read: Reads; gives how many bytes, or what is negative.
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

  /// What a small file says, without the line's end or zero bytes behind it, and without what would
  /// command a terminal; nil where it cannot be read.
  ///
  /// - Parameter capacity: The longest text that is read, bytes.
  public static func text(of path: String, capacity: Int = 16_384) -> String? {
    guard var text = unsafe bytes(of: path, capacity: capacity) else { return nil }
    while let last = text.last, last == 0x0A || last == 0 { text = text.dropLast() }
    return KernelText.printable(text)
  }
}
