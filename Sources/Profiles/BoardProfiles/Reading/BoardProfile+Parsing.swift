import TOMLFiles

/// One problem in a profile, or in opening it.
public typealias ProfileError = FileProblem
/// All problems of a profile, from top to bottom.
public typealias ProfileErrors = FileProblems

extension BoardProfile {
  /// Reads the profile in the file `path`.
  ///
  /// - Throws: ``ProfileErrors`` with all problems of the file, or with the reason why it cannot be read.
  public static func load(path: String) throws(ProfileErrors) -> BoardProfile {
    try parse(
      bytes: readFile(path, folderHint: "give the path of the profile.toml in it"), file: path)
  }

  /// Reads a profile from a text; error messages name it `file`.
  ///
  /// - Throws: ``ProfileErrors`` with all problems.
  public static func parse(_ text: String, file: String) throws(ProfileErrors) -> BoardProfile {
    try parse(bytes: Array(text.utf8), file: file)
  }

  /// Reads a profile from bytes, which may be anything; error messages name them `file`.
  ///
  /// - Throws: ``ProfileErrors`` with all problems.
  public static func parse(
    bytes: [UInt8], file: String
  ) throws(ProfileErrors) -> BoardProfile {
    let text = try TOMLText(bytes, file: file)
    guard !text.nodes.isEmpty else {
      throw ProfileErrors([
        ProfileError(
          file: file, at: .start, "the profile is empty",
          suggestion: "create one with `torpor board new`, which writes all keys with explanations")
      ])
    }
    var reader = ProfileReader(text, file: file)
    return try reader.read()
  }
}
