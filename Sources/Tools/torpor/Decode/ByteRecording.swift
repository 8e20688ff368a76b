/// The bytes of a simulated receiver on their way to a file.
///
/// A run hands them to a closure that cannot fail; what fails is kept and thrown at the end.
final class ByteRecording {
  private var output: Output
  private var failure: (any Error)?

  /// Begins; a file that cannot be made is refused before anything runs.
  init(path: String) throws { output = try Output(path: path) }

  /// Adds bytes.
  func add(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    do { try output.write(bytes) } catch { failure = error }
  }

  /// Puts the file in its place.
  ///
  /// - Throws: What went wrong on the way, or now.
  func commit() throws {
    if let failure { throw failure }
    try output.finish()
  }
}
