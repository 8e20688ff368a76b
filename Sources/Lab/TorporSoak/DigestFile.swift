import Glibc

/// A file of digests, one seed per line: the behaviour of the checked-in version.
struct DigestFile: Sendable {
  /// Number of seeds in the file; later seeds are not compared.
  static let seedCount: UInt64 = 200

  let path: String
  /// Whether the file is written instead of compared.
  let writes: Bool

  /// Compares the digests with the file, or writes it. Prints the failure and returns false on a difference.
  func compareOrWrite(_ digests: [UInt64: BehaviourDigest]) -> Bool {
    let lines = digests.filter { $0.key <= DigestFile.seedCount }.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.text)" }
    if writes { return write(lines.joined(separator: "\n") + "\n") }
    guard let text = read() else {
      print("FAILED: cannot read \(path)")
      return false
    }
    let expected = Set(text.split(separator: "\n").map(String.init))
    let changed = lines.filter { !expected.contains($0) }
    if changed.isEmpty, !lines.isEmpty { return true }
    print(
      "FAILED: the behaviour of \(changed.count) of \(lines.count) seeds differs from \(path), "
        + "first: \(changed.first ?? "no seed was run")")
    print("If the change is intended, run `make digests` and commit the file separately.")
    return false
  }

  private func write(_ text: String) -> Bool {
    guard let file = unsafe fopen(path, "w") else {
      print("FAILED: cannot write \(path)")
      return false
    }
    let isWritten = unsafe fputs(text, file) >= 0
    return unsafe fclose(file) == 0 && isWritten
  }

  private func read() -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var text: [UInt8] = []
    while case let byte = unsafe getc(file), byte != EOF { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self)
  }
}
