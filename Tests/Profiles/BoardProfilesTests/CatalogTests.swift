import BoardHardware
import Foundation
import GNSSProtocols
import LocationTypes
import TOMLFiles
import TestSupport
import Testing

@testable import BoardProfiles

@Suite("Boards and their folders")
struct CatalogTests {
  static let boards = BoardCatalog(directory: PackageBoards.folder)

  @Test("every board of Boards/ loads and has a README with its sections")
  func every() throws {
    let names = PackageBoards.names
    #expect(names.contains(BoardCatalog.defaultBoard) && names.count >= 2)
    for name in names {
      let profile = try CatalogTests.boards.find(name)
      #expect(profile.name == name)
      let readme = try text("Boards/\(name)/README.md")
      #expect(readme.contains("## Wiring"), "\(name)")
      #expect(readme.contains("## Where the figures come from"), "\(name)")
      #expect(readme.contains("## Not found"), "\(name)")
    }
  }

  @Test("the default board batches, wakes by pin and can be suspended")
  func defaultBoard() throws {
    let board = try CatalogTests.boards.find(BoardCatalog.defaultBoard)
    let receiver = try #require(board.receiver), batch = try #require(receiver.batch)
    #expect(receiver.family == .ubloxM10 && receiver.hasWakePin && batch.isPinWired)
    #expect(board.board.sleep(.suspended)?.wakeSources == [.alarm, .bytes, .batchPin])
    #expect(board.board.sleep(.awake) == nil && board.board.sleep(.off) == nil)
    #expect(board.board.sleep(.idle)?.power_mw == 100)
  }

  @Test("every setting is listed, and defaults are marked")
  func settings() throws {
    let board = try CatalogTests.boards.find(BoardCatalog.defaultBoard)
    let settings = board.settings
    let sync = try #require(settings.first { $0.key.path == "cache.sync_s" })
    #expect(sync.value == "60" && sync.isDefault)
    let limit = try #require(settings.first { $0.key.path == "cache.deferral_limit_fixes" })
    #expect(limit.value == "3600" && !limit.isDefault)
    #expect(!settings.contains { $0.key.table == "board.off" })
  }

  @Test("an unknown board is reported with a suggestion and the known boards")
  func unknown() {
    func message(_ name: String) -> String {
      do throws(ProfileErrors) {
        _ = try BoardCatalog(directory: CatalogTests.boards.directory).find(name)
        return ""
      } catch { return error.description }
    }
    let boards = CatalogTests.boards.list().joined(separator: ", ")
    let folder = CatalogTests.boards.directory
    #expect(
      message("simulatd")
        == "\(folder): no board is named \"simulatd\"; did you mean \"simulated\"? known boards: \(boards)"
    )
    #expect(
      message("toaster") == "\(folder): no board is named \"toaster\"; known boards: \(boards)")
    #expect(message("pi5").contains("; did you mean \"pi5-max-m10s\"? known boards: "))
    #expect(message("").contains("no board is named \"\""))
    #expect(message("./nowhere/profile.toml").contains("cannot be read: No such file or directory"))
    #expect(message("..").contains("no board is named"))
  }

  @Test("a board is found by the path of its file or of its folder")
  func byPath() throws {
    let folder = CatalogTests.boards.directory + "/simulated"
    let empty = BoardCatalog(directory: "/nonexistent")
    #expect(empty.list().isEmpty)
    #expect(try empty.find(folder).name == "simulated")
    #expect(try empty.find(folder + "/profile.toml").name == "simulated")
  }

  @Test("unreadable files: missing, a folder, endless, without permission, invalid names")
  func unreadable() {
    func message(_ path: String) -> String {
      do throws(ProfileErrors) {
        _ = try BoardProfile.load(path: path)
        return ""
      } catch { return error.description }
    }
    #expect(message("/nonexistent") == "/nonexistent: cannot be read: No such file or directory")
    #expect(message("/") == "/: is a folder; give the path of the profile.toml in it")
    #expect(message("") == ": this is not a valid file name")
    #expect(message("a\u{0}b") == "a�b: this is not a valid file name")
    #expect(message("/proc/self/mem") == "/proc/self/mem: cannot be read: Input/output error")
    #expect(message("/dev/zero").contains("longer than 64 KiB"))
    #expect(message("/dev/null").contains("the profile is empty"))
  }

  @Test("the folder of boards is searched for in the documented order")
  func order() throws {
    try withFolder { folder in
      for path in ["env", "app/Boards", "app/share/torpor/Boards", "work/Boards", "src/Boards"] {
        try board("one", in: folder + "/" + path)
      }
      func found(
        _ environment: String?, _ executable: String?, _ working: String?, _ source: String?
      ) throws -> String {
        let catalog = try BoardCatalog.find(
          environment: environment, executable: executable, working: working, source: source)
        return String(catalog.directory.dropFirst(folder.count + 1))
      }
      let executable = folder + "/app/bin/debug/torpor", working = folder + "/work/a/b"
      #expect(try found(folder + "/env", executable, working, folder + "/src") == "env")
      #expect(try found("", executable, working, folder + "/src") == "app/Boards")
      #expect(try found(nil, "/torpor", working, folder + "/src") == "work/Boards")
      #expect(try found(nil, nil, nil, folder + "/src") == "src/Boards")
      try FileManager.default.removeItem(atPath: folder + "/app/Boards")
      #expect(try found(nil, executable, working, nil) == "app/share/torpor/Boards")
      // A folder `Boards` without a profile is not a folder of boards.
      try FileManager.default.removeItem(atPath: folder + "/work/Boards/one/profile.toml")
      #expect(try found(nil, "/torpor", working, folder + "/src") == "src/Boards")
      #expect(throws: ProfileErrors.self) { try found(folder + "/none", nil, nil, folder) }
      #expect(throws: ProfileErrors.self) { try found(nil, nil, nil, nil) }
    }
  }

  @Test("a board is a folder with a profile whose name is that of the folder")
  func listing() throws {
    try withFolder { folder in
      try board("two", in: folder)
      try board("one", in: folder)
      try FileManager.default.createDirectory(
        atPath: folder + "/empty", withIntermediateDirectories: true)
      #expect(BoardCatalog(directory: folder).list() == ["one", "two"])
      do throws(ProfileErrors) {
        _ = try BoardCatalog(directory: folder).find("two")
        Issue.record("a board under another name was accepted")
      } catch {
        #expect(
          error.description
            == "\(folder)/two/profile.toml:1:1: name: is \"sample\" in a folder named "
            + "\"two\"; expected the name of the folder")
      }
    }
  }

  @Test("a folder without a board is reported with a suggestion")
  func empty() throws {
    try withFolder { folder in
      do throws(ProfileErrors) {
        _ = try BoardCatalog(directory: folder).names()
        Issue.record("a folder without a board was accepted")
      } catch {
        #expect(
          error.description
            == "\(folder): contains no board, that is, no folder with a profile.toml; create one with "
            + "`torpor board new`, or set TORPOR_BOARDS to the folder that contains a folder per board"
        )
      }
      try board("one", in: folder)
      #expect(try BoardCatalog(directory: folder).names() == ["one"])
    }
  }

  @Test("the list of boards has each board with its description")
  func list() throws {
    let rows = try text("Boards/README.md").split(separator: "\n")
      .filter { $0.hasPrefix("| [") }
    let expected = try PackageBoards.names.sorted().map { name in
      "| [`\(name)`](\(name)/README.md) | \(try CatalogTests.boards.find(name).summary) |"
    }
    #expect(rows.map(String.init) == expected)
  }

  @Test("the ancestors of a path are computed from its text")
  func above() {
    #expect(BoardCatalog.ancestors(of: "/a/b") == ["/a/b", "/a", "/"])
    #expect(BoardCatalog.ancestors(of: "a/b") == ["a/b", "a"])
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: packageRoot + "/" + path, encoding: .utf8)
  }

  private func board(_ name: String, in folder: String) throws {
    let path = folder + "/" + name
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Sample.profile.text.write(
      toFile: path + "/profile.toml", atomically: false, encoding: .utf8)
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "torpor-boards-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }
}

@Suite("Text helpers and median time to fix")
struct HelperTests {
  @Test(
    "the edit distance is exact up to its limit",
    arguments: [
      ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("track", "trakc", 1), ("abc", "abc", 0),
      ("ab", "ba", 1), ("abcd", "zzzz", 3),
    ])
  func distance(_ a: String, _ b: String, _ letters: Int) {
    #expect(editDistance(a, b, limit: 3) == min(letters, 4) || letters == 3)
    #expect(editDistance(a, b, limit: 2) == min(letters, 3))
    #expect(editDistance(b, a, limit: 2) == min(letters, 3))
  }

  @Test("only a close match is suggested, the closest first")
  func near() {
    #expect(closestMatch(to: "idel", among: ["idle", "ideal"]) == "idle")
    #expect(closestMatch(to: "xyz", among: ["abc"]) == nil)
    #expect(closestMatch(to: "", among: ["abc"]) == nil)
    #expect(closestMatch(to: "IDLE", among: ["idle"]) == "idle")
  }

  @Test("numbers are written in decimal notation")
  func numbers() {
    #expect(
      [24.6, 600, 0, -0.5, 0.000001, 1.5e-7, 1e5].map(decimalText)
        == ["24.6", "600", "0", "-0.5", "0.000001", "0.00000015", "100000"])
    #expect(decimalText(1e308) == "1e+308" && decimalText(-1e300).hasPrefix("-1"))
  }

  @Test("text is made printable for a terminal")
  func terminal() {
    #expect(printable("a\u{1B}[2Jb\n") == "a�[2Jb�")
    #expect(printable(String(repeating: "x", count: 90)) == String(repeating: "x", count: 80) + "…")
    #expect(printable("é\u{202E}") == "é�")
  }
}

@Suite("Limits of a receiver family's commands")
struct FamilyRuleTests {
  private static func problem(
    _ family: ReceiverFamily, interval_ms: Int64 = 1_000, speed: Int = 9_600
  ) -> String? {
    var draft = ProfileDraft()
    draft.receiver.family = family
    draft.receiver.fixInterval = .milliseconds(interval_ms)
    draft.receiver.lineSpeed_baud = speed
    return (ProfileRules.intervalOfFamily.check(draft) ?? ProfileRules.speedOfFamily.check(draft))
      .map { $0.key + ": " + $0.expected }
  }

  @Test("intervals and speeds that a family does not support are rejected")
  func bounds() {
    let interval = "receiver.fix_interval_ms: "
    #expect(Self.problem(.mtk, interval_ms: 10_000) == nil)
    #expect(Self.problem(.mtk, interval_ms: 10_001) == interval + "at most 10000")
    #expect(Self.problem(.airoha) == nil)
    #expect(Self.problem(.airoha, interval_ms: 1_001) == interval + "at most 1000")
    for good: Int64 in [100, 200, 250, 500, 1_000] {
      #expect(Self.problem(.casic, interval_ms: good) == nil)
    }
    #expect(Self.problem(.casic, interval_ms: 300) == interval + "100, 200, 250, 500 or 1000")
    #expect(Self.problem(.teseo, interval_ms: 200, speed: 921_600) == nil)
    #expect(Self.problem(.teseo, interval_ms: 250) == interval + "100, 200, 500 or 1000")
    #expect(Self.problem(.ubloxM8, interval_ms: 60_000, speed: 921_600) == nil)
    #expect(Self.problem(.passive, interval_ms: 60_000, speed: 921_600) == nil)
    #expect(Self.problem(.airoha, speed: 921_600) == nil)
    for family in [ReceiverFamily.mtk, .casic] {
      #expect(Self.problem(family, speed: 115_200) == nil)
      #expect(Self.problem(family, speed: 230_400) == "receiver.line_speed_baud: at most 115200")
    }
  }

  @Test(
    "the sentences that a driver enables must fit the line: RMC, GGA and GSA; of a plain receiver RMC and GGA"
  )
  func epochs() {
    func problem(_ family: ReceiverFamily, _ output: ReceiverOutput, _ interval_ms: Int64)
      -> String?
    {
      var draft = ProfileDraft()
      draft.receiver.family = family
      draft.receiver.output = output
      draft.receiver.fixInterval = .milliseconds(interval_ms)
      return ProfileRules.epochFitsLine.check(draft)?.problem
    }
    for family in [ReceiverFamily.mtk, .airoha, .casic, .teseo] {
      #expect(problem(family, .nmea, 257) == nil)
      #expect(
        problem(family, .nmea, 256) == "transmission of a fix lasts 257 ms at 9600 baud")
    }
    #expect(problem(.passive, .nmea, 171) == nil)
    #expect(problem(.passive, .nmea, 170) == "transmission of a fix lasts 171 ms at 9600 baud")
    #expect(problem(.ubloxM10, .ubx, 105) == nil && problem(.ubloxM10, .ubx, 104) != nil)
  }
}
