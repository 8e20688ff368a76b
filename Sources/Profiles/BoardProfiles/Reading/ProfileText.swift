import TOMLFiles

/// One thing wrong with a profile, or with the way to it.
public typealias ProfileError = FileProblem
/// All that is wrong with a profile, from top to bottom.
public typealias ProfileErrors = FileProblems

extension BoardProfile {
  /// Reads the profile in the file `path`.
  ///
  /// - Throws: ``ProfileErrors`` with everything that is wrong, in the file or on the way to it.
  public static func load(path: String) throws(ProfileErrors) -> BoardProfile {
    try parse(
      bytes: readFile(path, inFolder: "name the profile.toml in it"), file: path)
  }

  /// Reads a profile from a text; `file` is what messages call it.
  ///
  /// - Throws: ``ProfileErrors`` with everything that is wrong.
  public static func parse(_ text: String, file: String) throws(ProfileErrors) -> BoardProfile {
    try parse(bytes: Array(text.utf8), file: file)
  }

  /// Reads a profile from bytes, whatever they are; `file` is what messages call it.
  ///
  /// - Throws: ``ProfileErrors`` with everything that is wrong.
  public static func parse(
    bytes: [UInt8], file: String
  ) throws(ProfileErrors) -> BoardProfile {
    let text = try TOMLText(bytes, file: file)
    guard !text.nodes.isEmpty else {
      throw ProfileErrors([
        ProfileError(
          file: file, at: .start, "the profile is empty",
          suggestion: "`torpor board new` writes one with all keys and what belongs in them")
      ])
    }
    var reader = ProfileReader(text, file: file)
    return try reader.read()
  }
}
