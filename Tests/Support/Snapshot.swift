import Glibc
import LocationTypes

/// Compares the text of an interface with its checked-in copy, `Tests/Snapshots/NAME`.
///
/// With `TORPOR_SNAPSHOTS=write` in the environment (`make snapshots`) the copy is written instead.
/// A changed copy is a changed interface and must be reviewed as such.
///
/// - Returns: The first line that differs, with its number; nil if both are equal.
public func differenceFromSnapshot(_ name: String, _ text: String) -> String? {
  let path = "\(packageRoot)/Tests/Snapshots/\(name)"
  if isWritingSnapshots { return writeFile(Array(text.utf8), to: path) }
  let expected = String(decoding: readFile(path), as: UTF8.self)
  if expected == text { return nil }
  let old = expected.split(separator: "\n", omittingEmptySubsequences: false)
  let new = text.split(separator: "\n", omittingEmptySubsequences: false)
  let line = zip(old, new).prefix { $0 == $1 }.count
  return "line \(line + 1) of Tests/Snapshots/\(name) is \(quoted(old, line)), "
    + "and now \(quoted(new, line))"
}

/// Compares a file with its copy, both as paths from the package's root.
///
/// With `TORPOR_SNAPSHOTS=write` in the environment (`make snapshots`) the copy is written instead.
///
/// - Returns: A description of the difference; nil if both are equal.
public func difference(ofCopy copy: String, from original: String) -> String? {
  let bytes = readFile("\(packageRoot)/\(original)")
  if isWritingSnapshots { return writeFile(bytes, to: "\(packageRoot)/\(copy)") }
  return readFile("\(packageRoot)/\(copy)") == bytes
    ? nil : "\(copy) differs from \(original); run `make snapshots`"
}

/// Whether `make snapshots` runs the tests.
var isWritingSnapshots: Bool {
  guard let mode = unsafe getenv("TORPOR_SNAPSHOTS") else { return false }
  return unsafe String(cString: mode) == "write"
}

/// Replaces a file.
///
/// - Returns: A description of the error; nil on success.
func writeFile(_ bytes: [UInt8], to path: String) -> String? {
  let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  guard file >= 0 else { return "\(path) cannot be written: error \(errno)" }
  defer { close(file) }
  let count = unsafe write(file, bytes, bytes.count)
  return count == bytes.count ? nil : "\(path) was not written whole"
}

private func quoted(_ lines: [Substring], _ index: Int) -> String {
  index < lines.count ? "\"\(lines[index].prefix(400))\"" : "missing"
}

/// FNV-1a, 64 bits, as 16 hexadecimal digits: the same text gives the same digest on every machine.
public func digest(of text: String) -> String {
  var hash = FNV1a()
  for byte in text.utf8 { hash.add(byte) }
  let digits = String(hash.value, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
