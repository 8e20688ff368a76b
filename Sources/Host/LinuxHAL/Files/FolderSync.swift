import Glibc

/// Makes a directory entry durable: a new or renamed file survives a power failure only after its folder is synced.
enum FolderSync {
  /// Path of the folder that contains `path`.
  static func folder(of path: String) -> String {
    switch path.lastIndex(of: "/") {
    case nil: "."
    case path.startIndex: "/"
    case let slash?: String(path[..<slash])
    }
  }

  /// Syncs the folder that contains `path`; returns 0, or the error number of the call that failed.
  static func sync(folderOf path: String) -> Int32 {
    let descriptor = unsafe open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
  }
}
