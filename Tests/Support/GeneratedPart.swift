import Glibc

/// Compares a generated part of a page with its expected text.
///
/// The part is between the lines `<!-- NAME: … -->` and `<!-- end of NAME -->`. With
/// `TORPOR_SNAPSHOTS=write` in the environment (`make snapshots`) the page is rewritten instead.
///
/// - Parameters:
///   - page: The path of the page from the package's root.
///   - name: The part's name.
///   - text: The expected text, with a line feed at its end.
/// - Returns: A description of the difference; nil if both are equal.
public func differenceFromGeneratedPart(
  of page: String, named name: String, _ text: String
) -> String? {
  let path = "\(packageRoot)/\(page)"
  let old = String(decoding: readFile(path), as: UTF8.self)
  let lines = old.split(separator: "\n", omittingEmptySubsequences: false)
  guard let begin = lines.firstIndex(where: { $0.hasPrefix("<!-- \(name): ") }),
    let end = lines.firstIndex(of: "<!-- end of \(name) -->"), begin < end
  else { return "\(page) has no part '\(name)'" }
  let new =
    (lines[...begin] + [""] + text.split(separator: "\n", omittingEmptySubsequences: false)
    + lines[end...]).joined(separator: "\n")
  if isWritingSnapshots { return writeFile(Array(new.utf8), to: path) }
  return old == new ? nil : "\(page): run `make snapshots`, the part '\(name)' is out of date"
}
