import ArgumentParser
import BoardProfiles
import LinuxHAL

/// What a shell offers where there is more to say than a list of words.
enum Completions {
  /// The boards there are, and profiles by their paths.
  static var boards: CompletionKind {
    .custom { _, _, prefix in
      if prefix.contains("/") { return paths(prefix) }
      let names = (try? BoardCatalog.standard().list()) ?? []
      // Every folder there is would be too much to begin with.
      return prefix.isEmpty ? names : names + paths(prefix)
    }
  }

  /// Folders and profiles that begin as `prefix` does.
  static func paths(_ prefix: String) -> [String] {
    let cut = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { prefix.utf8.index(after: $0) }
    let folder = prefix[..<(cut ?? prefix.startIndex)]
    let start = prefix[(cut ?? prefix.startIndex)...]
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
