import TOMLFiles

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One thing wrong with a policy file.
public typealias PolicyError = FileProblem
/// All that is wrong with a policy file, from top to bottom.
public typealias PolicyErrors = FileProblems

extension AccessPolicy {
  /// Reads the policy in the file `path`, which nobody but its owner may be able to write.
  ///
  /// - Throws: ``PolicyErrors`` with everything that is wrong, in the file or on the way to it.
  public static func load(path: String) throws(PolicyErrors) -> AccessPolicy {
    let bytes = try readFile(path, inFolder: "name the clients.toml in it")
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      let name = printable(path, longest: 300)
      if status.st_mode & 0o022 != 0 {
        throw PolicyErrors([
          PolicyError(
            file: name, "can be written by others than its owner",
            suggestion: "run chmod go-w on it")
        ])
      }
      if status.st_uid != 0, status.st_uid != geteuid() {
        throw PolicyErrors([
          PolicyError(
            file: name, "belongs to user \(status.st_uid), who is neither root nor this service's",
            suggestion: "run chown root on it")
        ])
      }
    }
    return try parse(bytes: bytes, file: path, users: systemUser)
  }

  /// Reads a policy from bytes, whatever they are.
  ///
  /// - Parameters:
  ///   - file: What messages call it.
  ///   - users: The number of a user of that name, nil if there is none.
  /// - Throws: ``PolicyErrors`` with everything that is wrong.
  public static func parse(
    bytes: [UInt8], file: String, users: (String) -> UInt32?
  ) throws(PolicyErrors) -> AccessPolicy {
    let text = try TOMLText(bytes, file: file)
    return try withoutActuallyEscaping(users) { users throws(PolicyErrors) in
      var reader = PolicyReader(text: text, file: file, users: users)
      return try reader.read()
    }
  }

  /// The system's number of a user.
  static func systemUser(_ name: String) -> UInt32? {
    guard !name.utf8.contains(0) else { return nil }
    return unsafe getpwnam(name).map { unsafe $0.pointee.pw_uid }
  }
}
