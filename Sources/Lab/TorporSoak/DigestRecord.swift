import Glibc

/// A file of digests, one seed a line: what each run of the checked-in version did.
struct DigestRecord: Sendable {
  /// Seeds that the file has; later seeds are not compared.
  static let seeds: UInt64 = 200

  let path: String
  /// Whether the file is written, and not compared.
  let writes: Bool

  /// Compares the digests with the file, or writes it. Prints what failed.
  func compareOrWrite(_ digests: [UInt64: BehaviourDigest]) -> Bool {
    let lines = digests.filter { $0.key <= DigestRecord.seeds }.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.text)" }
    if writes { return write(lines.joined(separator: "\n") + "\n") }
    guard let text = read() else {
      print("FAILED: \(path) cannot be read")
      return false
    }
    let expected = Set(text.split(separator: "\n").map(String.init))
    let changed = lines.filter { !expected.contains($0) }
    if changed.isEmpty, !lines.isEmpty { return true }
    print(
      "FAILED: the behaviour of \(changed.count) of \(lines.count) seeds is not that of \(path), "
        + "first: \(changed.first ?? "none was run")")
    print("If the change is meant, say so in a commit of its own, with `make digests`.")
    return false
  }

  private func write(_ text: String) -> Bool {
    guard let file = unsafe fopen(path, "w") else {
      print("FAILED: \(path) cannot be written")
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
