import Glibc

/// Text files that other programs read at any time.
public enum TextFile {
  /// Who may read a file.
  public enum Readers: mode_t, Sendable {
    /// Its owner and root.
    case owner = 0o600
    /// All users, whatever the umask is.
    case all = 0o644
  }

  /// Replaces a file as a whole: writes another file, its name with `.new`, and renames it.
  ///
  /// On a failure the earlier file stays.
  ///
  /// - Returns: The error number; 0 on success.
  public static func replace(
    _ path: String, with bytes: [UInt8], for readers: Readers
  ) -> Int32 {
    let temporary = path + ".new"
    // A file of an interrupted attempt; whatever another user has put there is not opened.
    _ = unsafe unlink(temporary)
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    var failure = fchmod(descriptor, readers.rawValue) == 0 ? 0 : errno
    if failure == 0 { failure = write(bytes, to: descriptor) }
    if close(descriptor) != 0, failure == 0 { failure = errno }
    if failure == 0, unsafe rename(temporary, path) != 0 { failure = errno }
    if failure != 0 { _ = unsafe unlink(temporary) }
    return failure
  }

  /// Writes all bytes. Returns the error number, 0 on success.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
        let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno != EINTR { return errno }
        done += max(count, 0)
      }
      return 0
    }
  }
}
