/// Writes the bytes of a simulated receiver to a file (`torpor simulate --bytes`).
///
/// The simulation passes bytes to a closure that cannot throw, so the first error is stored, later bytes are ignored,
/// and ``commit()`` throws the error.
final class ByteRecording {
  private var output: Output
  private var failure: (any Error)?

  /// Creates the temporary file.
  ///
  /// - Throws: ``CommandError`` with code 73 if the file cannot be created.
  init(path: String) throws { output = try Output(path: path) }

  /// Appends bytes, unless an earlier write has failed.
  func add(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    do { try output.write(bytes) } catch { failure = error }
  }

  /// Renames the complete file to its path.
  ///
  /// - Throws: The first error of a write, or that of the rename.
  func commit() throws {
    if let failure { throw failure }
    try output.finish()
  }
}
