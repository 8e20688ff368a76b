import ArgumentParser
import BoardProfiles
import LinuxHAL

/// Shell completions that depend on the file system: board names, and paths of board profiles.
enum Completions {
  /// Names of the boards in the catalogue, and paths of profiles and folders.
  static var boards: CompletionKind {
    .custom { _, _, prefix in
      if prefix.contains("/") { return paths(prefix) }
      let names = (try? BoardCatalog.standard().list()) ?? []
      // An empty prefix would match every folder of the working directory.
      return prefix.isEmpty ? names : names + paths(prefix)
    }
  }

  /// Paths of folders and `.toml` files that begin with `prefix`; folders end with a slash.
  ///
  /// Hidden names are included only if the last component of `prefix` begins with a dot.
  static func paths(_ prefix: String) -> [String] {
    let slashEnd = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { prefix.utf8.index(after: $0) }
    let folder = prefix[..<(slashEnd ?? prefix.startIndex)]
    let start = prefix[(slashEnd ?? prefix.startIndex)...]
    let names = SystemFiles.names(in: folder.isEmpty ? "." : String(folder)).filter {
      $0.hasPrefix(start) && (start.hasPrefix(".") || !$0.hasPrefix("."))
    }
    return names.compactMap { name in
      let path = String(folder) + name
      if POSIX.kind(of: path) == .directory { return path + "/" }
      return name.hasSuffix(".toml") ? path : nil
    }
  }
}
