import Glibc
import TestSupport
import Testing

@testable import TextFormats

@Suite("Text files for other programs")
struct TextFileTests {
  private let folder = TestFolder()

  @Test("a file is replaced, also after an interrupted attempt")
  func replaced() {
    folder.write(Array("interrupted".utf8), to: "a.new")
    for text in ["first, longer", "second"] {
      #expect(TextFile.replace(folder.file("a"), with: Array(text.utf8), for: .all) == 0)
      #expect(folder.read("a") == Array(text.utf8))
    }
    #expect(folder.names == ["a"])
  }

  @Test(
    "the readers of a file are its owner or all users", arguments: [TextFile.Readers.owner, .all])
  func readers(_ readers: TextFile.Readers) {
    #expect(TextFile.replace(folder.file("a"), with: [1], for: readers) == 0)
    var status = stat()
    #expect(unsafe stat(folder.file("a"), &status) == 0)
    #expect(status.st_mode & 0o777 == readers.rawValue)
  }

  @Test("a symbolic link in the place of the temporary file is not followed")
  func symbolicLink() {
    folder.write([1], to: "victim")
    #expect(unsafe symlink(folder.file("victim"), folder.file("a.new")) == 0)
    #expect(TextFile.replace(folder.file("a"), with: [2], for: .all) == 0)
    #expect(folder.read("victim") == [1] && folder.read("a") == [2])
  }

  @Test("on a failure the earlier file stays, and no other one remains")
  func failure() {
    #expect(TextFile.replace(folder.file("absent/a"), with: [1], for: .all) == ENOENT)
    folder.makeFolders("a/inner")
    #expect(
      TextFile.replace(folder.file("a"), with: [1], for: .all) != 0, "a folder is not replaced")
    #expect(folder.names == ["a"])
  }

  @Test("after a partial write, the rest is written, and its error is returned")
  func partialWrite() {
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    defer { for end in ends { close(end) } }
    #expect(TextFile.write(Array(repeating: 1, count: 1_000_000), to: ends[1]) == EAGAIN)
    var byte: UInt8 = 0
    #expect(unsafe read(ends[0], &byte, 1) == 1, "the first part was written")
  }

  @Test("a full disk is an error")
  func fullDisk() {
    let full = unsafe open("/dev/full", O_WRONLY)
    defer { close(full) }
    #expect(TextFile.write([1], to: full) == ENOSPC)
  }
}
