import BoardProfiles
import Glibc

/// The folder that `torpor board new` creates: `profile.toml` and `README.md`.
struct BoardFolder {
  private let parent: String
  private let path: String
  /// Path of the profile.
  let profile: String
  /// Path of the page about wiring and sources.
  let readme: String

  /// Creates the description of the folder `name` in `parent`; the file system is not changed.
  init(name: String, in parent: String) {
    self.parent = parent
    path = parent == "." ? name : parent.hasSuffix("/") ? parent + name : "\(parent)/\(name)"
    profile = path + "/profile.toml"
    readme = path + "/README.md"
  }

  /// Checks whether the folder can be written.
  ///
  /// - Parameter replacing: Whether existing files may be replaced.
  /// - Throws: ``CommandError`` with code 73.
  func check(replacing: Bool) throws(CommandError) {
    guard POSIX.kind(of: parent) == .directory else {
      throw CommandError(
        .cannotCreate, "there is no directory '\(parent)'; create it with `mkdir -p` first")
    }
    if POSIX.kind(of: path) != .missing, POSIX.kind(of: path) != .directory {
      throw CommandError(
        .cannotCreate, "'\(path)' exists and is not a directory; choose another name")
    }
    guard !replacing else { return }
    for file in [profile, readme] where POSIX.kind(of: file) != .missing {
      throw CommandError(
        .cannotCreate, "'\(file)' exists already; replace it with --force, or choose another name")
    }
  }

  /// Writes both files, each completely or not at all; after an error, removes the folder if this call created it.
  ///
  /// - Throws: ``CommandError`` or ``BrokenPipe``.
  func write(_ new: NewProfile, replacing: Bool) throws {
    try check(replacing: replacing)
    let isNew = unsafe mkdir(path, 0o777) == 0
    if !isNew, errno != EEXIST {
      throw CommandError(.cannotCreate, "cannot create '\(path)': \(POSIX.reason(errno))")
    }
    do {
      var page = try Output(path: readme)
      var text = try Output(path: profile)
      try page.write(Array(BoardReadme.text(new).utf8))
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

/// Template of a board's README, filled in with the values of the new profile.
enum BoardReadme {
  static func text(_ new: NewProfile) -> String {
    """
    # \(new.name)

    What this board is, what it is used for, and how much energy it can save.

    ## Wiring
    | board | receiver | for |
    |---|---|---|
    \(wiring(new))
    ## Where the figures come from
    Every figure with its source: measured (how, at what temperature and supply), or the page of the datasheet.

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
      "supply_line": ("supply switch", "switches its supply"),
      "pulse_line": ("TIMEPULSE, 1PPS", "marks the start of each second"),
      "batch line": ("the pin in `pio`", "signals that the batch reached its watermark"),
      "motion line": ("the sensor's interrupt", "signals motion"),
    ]
    return new.wiring.map { key, name in
      let use = uses[key] ?? ("", "")
      return "| `\(name)` (\(key)) | \(use.0) | \(use.1) |\n"
    }.joined()
  }

  private static func figures(_ new: NewProfile) -> String {
    new.values.filter(\.isGiven).map { "| `\($0.path)` | \($0.value.cell) | |\n" }.joined()
  }

  private static func assumed(_ new: NewProfile) -> String {
    new.values.filter { !$0.isGiven }.map {
      "- `\($0.path)`: \($0.value) was proposed by `torpor board new` and is not measured.\n"
    }.joined()
  }
}

extension String {
  /// The text with `|` escaped for a cell of a Markdown table.
  fileprivate var cell: String { split(separator: "|").joined(separator: "\\|") }
}
