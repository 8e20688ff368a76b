import Glibc

/// Checks that no output replaces another output or an input of the same command.
enum OutputPaths {
  /// Compares the resolved paths of all given outputs with each other and with the inputs.
  ///
  /// - Parameters:
  ///   - outputs: Options and their paths.
  ///   - inputs: Descriptions of the inputs and their paths; `-` is standard input.
  /// - Throws: ``CommandError`` with code 64 if two are the same file.
  static func check(
    _ outputs: [(option: String, path: String?)], inputs: [(what: String, path: String?)]
  ) throws(CommandError) {
    var used: [(what: String, path: String)] = []
    for input in inputs {
      guard let path = input.path, let resolved = Self.path(ofInput: path) else { continue }
      used.append((input.what, resolved))
    }
    for output in outputs {
      guard let path = output.path, let resolved = Self.path(ofOutput: path) else { continue }
      if let other = used.first(where: { $0.path == resolved }) {
        throw CommandError(
          .usage,
          "\(output.option) '\(path)' is the same file as \(other.what); give it another name")
      }
      used.append((output.option, resolved))
    }
  }

  private static func path(ofInput path: String) -> String? {
    // /proc resolves standard input to the file that the shell has redirected to it.
    let resolved = PendingFile.resolved(path == "-" ? "/proc/self/fd/\(STDIN_FILENO)" : path)
    return POSIX.kind(of: resolved) == .regular ? resolved : nil
  }

  /// The resolved path of an output; nil for devices and pipes, which can have several writers.
  private static func path(ofOutput path: String) -> String? {
    switch POSIX.kind(of: path) {
    case .device, .fifo, .other, .directory: return nil
    case .regular: return PendingFile.resolved(path)
    case .missing:
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
        return "\(PendingFile.resolved("."))/\(path)"
      }
      let folder = path[...slash]
      return "\(PendingFile.resolved(String(folder)))/\(path[path.utf8.index(after: slash)...])"
    }
  }
}
