import BoardProfiles
import Glibc

/// The folder of a new board.
struct BoardFolder {
  private let parent: String
  private let path: String
  /// Where its profile goes.
  let profile: String
  /// Where the page about its wiring and its figures goes.
  let readme: String

  /// The folder of the board `name` in the folder `parent`.
  init(name: String, in parent: String) {
    self.parent = parent
    path = parent == "." ? name : parent.hasSuffix("/") ? parent + name : "\(parent)/\(name)"
    profile = path + "/profile.toml"
    readme = path + "/README.md"
  }

  /// Looks whether the board can be written there.
  ///
  /// - Throws: ``CommandError`` with what is in the way.
  func check(replacing: Bool) throws(CommandError) {
    guard POSIX.kind(of: parent) == .directory else {
      throw CommandError(
        .cannotCreate, "there is no directory '\(parent)'; make it with `mkdir -p` first")
    }
    if POSIX.kind(of: path) != .missing, POSIX.kind(of: path) != .directory {
      throw CommandError(
        .cannotCreate, "'\(path)' is there and is no directory; choose another name")
    }
    guard !replacing else { return }
    for file in [profile, readme] where POSIX.kind(of: file) != .missing {
      throw CommandError(
        .cannotCreate, "'\(file)' is there already; --force replaces it, or choose another name")
    }
  }

  /// Writes both files, each complete or not at all; when one fails, a folder made for them is taken
  /// away again.
  ///
  /// - Throws: ``CommandError`` or ``ReaderGone``.
  func write(_ new: NewProfile, replacing: Bool) throws {
    try check(replacing: replacing)
    let isNew = unsafe mkdir(path, 0o777) == 0
    if !isNew, errno != EEXIST {
      throw CommandError(.cannotCreate, "cannot make '\(path)': \(POSIX.reason(errno))")
    }
    do {
      var page = try Output(path: readme)
      var text = try Output(path: profile)
      try page.write(Array(BoardPage.text(new).utf8))
      try text.write(Array(ProfileTemplate.text(new).utf8))
      try page.flush()
      try text.flush()
      try page.finish()
      try text.finish()
    } catch {
      if isNew {
        for file in [readme, profile] { unsafe unlink(file) }
        unsafe rmdir(path)
      }
      throw error
    }
  }
}

/// The beginnings of a board's README: what must be told, as far as it is known.
enum BoardPage {
  static func text(_ new: NewProfile) -> String {
    """
    # \(new.name)

    What this board is, what it is good for, and what there is to save on it.

    ## Wiring
    | board | receiver | for |
    |---|---|---|
    \(wiring(new))
    ## Where the figures come from
    Every figure with its source: measured (how, at what temperature and supply), or the page that says it.

    | key | value | source |
    |---|---|---|
    \(figures(new))
    ## Not found
    What is assumed, and why.
    \(assumed(new))
    """
  }

  private static func wiring(_ new: NewProfile) -> String {
    let uses = [
      "device": ("TXD, RXD", "bytes"), "wake_line": ("EXTINT", "wakes it from standby"),
      "supply_line": ("supply switch", "cuts its supply"),
      "pulse_line": ("TIMEPULSE, 1PPS", "when a second begins"),
      "batch line": ("the pin in `pio`", "the batch reached its watermark"),
      "motion line": ("the sensor's interrupt", "it sees motion"),
    ]
    return new.wiring.map { key, name in
      let use = uses[key] ?? ("", "")
      return "| `\(name)` (\(key)) | \(use.0) | \(use.1) |\n"
    }.joined()
  }

  private static func figures(_ new: NewProfile) -> String {
    new.figures.filter(\.isGiven).map { "| `\($0.path)` | \($0.value.cell) | |\n" }.joined()
  }

  private static func assumed(_ new: NewProfile) -> String {
    new.figures.filter { !$0.isGiven }.map {
      "- `\($0.path)`: \($0.value) was proposed by `torpor board new`, nobody measured it.\n"
    }.joined()
  }
}

extension String {
  /// In a cell of a Markdown table.
  fileprivate var cell: String { split(separator: "|").joined(separator: "\\|") }
}
