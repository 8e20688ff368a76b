import Glibc

/// Sees to it that no output takes the place of another one or of what is read.
enum OutputPlaces {
  /// Compares the places of all outputs that are given with each other and with the inputs.
  ///
  /// - Parameters:
  ///   - outputs: Options and the paths given with them.
  ///   - inputs: What is read, in words, and its path; `-` is standard input.
  /// - Throws: ``CommandError`` with code 64 where two are the same file.
  static func check(
    _ outputs: [(option: String, path: String?)], inputs: [(what: String, path: String?)]
  ) throws(CommandError) {
    var taken: [(what: String, place: String)] = []
    for input in inputs {
      guard let path = input.path, let place = place(ofInput: path) else { continue }
      taken.append((input.what, place))
    }
    for output in outputs {
      guard let path = output.path, let place = place(ofOutput: path) else { continue }
      if let other = taken.first(where: { $0.place == place }) {
        throw CommandError(
          .usage,
          "\(output.option) '\(path)' is the same file as \(other.what); give it another name")
      }
      taken.append((output.option, place))
    }
  }

  private static func place(ofInput path: String) -> String? {
    // Where a shell has put a file on standard input, the kernel knows which.
    let place = PendingFile.resolved(path == "-" ? "/proc/self/fd/\(STDIN_FILENO)" : path)
    return POSIX.kind(of: place) == .regular ? place : nil
  }

  /// Devices and pipes can be written to by as many as like.
  private static func place(ofOutput path: String) -> String? {
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
