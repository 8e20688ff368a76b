import TestSupport
import Testing

@Suite("Documents agree with programs and scripts", .tags(.process))
struct PageTests {
  static func text(_ path: String) -> String {
    String(decoding: readFile("\(packageRoot)/\(path)"), as: UTF8.self)
  }

  /// The lines of the first fenced block of a page whose first line starts with `start`.
  static func block(_ start: String, in page: String) -> [Substring] {
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { $0.hasPrefix(start) }) else { return [] }
    return Array(lines[first...].prefix { !$0.hasPrefix("```") })
  }

  /// Whether `excerpt` is `whole` with runs of lines omitted, each marked by a line `…`.
  static func isExcerpt(_ excerpt: [Substring], of whole: [Substring]) -> Bool {
    guard let first = excerpt.first else { return whole.isEmpty }
    guard first == "…" else {
      return whole.first == first
        && isExcerpt(Array(excerpt.dropFirst()), of: Array(whole.dropFirst()))
    }
    let remaining = Array(excerpt.dropFirst())
    return whole.indices.dropFirst().contains { isExcerpt(remaining, of: Array(whole[$0...])) }
      || remaining.isEmpty && !whole.isEmpty
  }

  @Test(
    "an excerpt has the lines of the whole in order, and marks omitted lines",
    arguments: [
      ("a b c", true), ("a … c", true), ("… c", true), ("a …", true), ("a c", false),
      ("a b", false),
      ("a … x", false), ("… a b c", false), ("a b … c", false), ("", false),
    ])
  func excerpts(_ excerpt: String, _ holds: Bool) {
    #expect(PageTests.isExcerpt(excerpt.split(separator: " "), of: ["a", "b", "c"]) == holds)
  }

  @Test("the sample in the README is the output of `make run`")
  func sample() throws {
    let makefile = PageTests.text("Makefile")
    let options = try #require(makefile.firstMatch(of: /\nRUN \?= (.*)/)).output.1
      .split(separator: " ").map(String.init)
    let run = Command.run(["simulate"] + options)
    #expect(run.status == 0)
    let printed = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(printed.first)
    let sample = PageTests.block(String(first), in: PageTests.text("README.md"))
    #expect(sample.count > 20)
    let isExcerpt = PageTests.isExcerpt(sample + [""], of: printed)
    #expect(isExcerpt, "make run prints:\n\(run.output)")
  }

  @Test(
    "the README lists exactly the packages that the script installs",
    arguments: [("run", "build"), ("test", "firmware")])
  func packages(_ target: String, _ use: String) throws {
    let script = PageTests.text(".ci/install-missing")
    let parts = script.split(separator: "missing_of_\(use)() {\n")
    let body = try #require(parts.dropFirst().first?.split(separator: "\n}\n").first)
    let installed = Set(
      body.matches(of: /(?m)echo ([a-z0-9+-]+)$/).map { String($0.output.1) })
    #expect(!installed.isEmpty)
    let rows = PageTests.text("README.md").split(separator: "\n")
    let row = try #require(rows.first { $0.hasPrefix("| `make \(target)` |") })
    let listed = Set(
      row.dropFirst("| `make \(target)`".count).matches(of: /`([a-z0-9+-]+)`/)
        .map { String($0.output.1) })
    #expect(listed == installed)
  }

  @Test("the manual page of torpord has exactly the options of its --help")
  func service() throws {
    let help = Command.run(["--help"], program: builtProgram("torpord")).output
    let options = Set(help.matches(of: /--([a-z-]+)/).map { String($0.output.1) })
    #expect(options.count >= 7)
    let page = PageTests.text("packaging/torpord.8")
    let synopsis = try #require(page.firstMatch(of: /(?s)\.Sh SYNOPSIS\n(.*?)\.Sh/)).output.1
    func flags(_ text: Substring) -> Set<String> {
      Set(text.matches(of: /Fl -([a-z-]+)/).map { String($0.output.1) })
    }
    #expect(flags(synopsis) == options)
    let described = Set(page.matches(of: /(?m)^\.It Fl -([a-z-]+)/).map { String($0.output.1) })
    #expect(described == options.subtracting(["help", "version"]))
  }
}
