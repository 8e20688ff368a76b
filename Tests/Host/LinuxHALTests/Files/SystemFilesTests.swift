import Glibc
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Directories, links and small system files")
struct SystemFilesTests {
  @Test("names are sorted, without `.` and `..`")
  func names() {
    let folder = TestFolder()
    for name in ["/b", "/.c", "/a"] { folder.write([], to: name) }
    #expect(SystemFiles.names(in: folder.path) == [".c", "a", "b"])
    #expect(SystemFiles.names(in: folder.path + "/a").isEmpty)
    #expect(SystemFiles.names(in: folder.path + "/none").isEmpty)
  }

  @Test("the folder of a path is found without a slash, in the root, and below it")
  func folders() {
    #expect(FolderSync.folder(of: "intent") == ".")
    #expect(FolderSync.folder(of: "/intent") == "/")
    #expect(FolderSync.folder(of: "/var/lib/intent") == "/var/lib")
    #expect(FolderSync.sync(folderOf: "/intent") == 0)
    #expect(FolderSync.sync(folderOf: TestFolder().path + "/none/intent") == ENOENT)
  }

  @Test("a link's target is returned even if it is missing; a file is no link")
  func links() {
    let folder = TestFolder()
    folder.write([], to: "/file")
    #expect(unsafe symlink("../nowhere", folder.path + "/link") == 0)
    #expect(SystemFiles.linkTarget(folder.path + "/link") == "../nowhere")
    #expect(SystemFiles.linkTarget(folder.path + "/file") == nil)
  }

  @Test("text lacks final newline and NUL bytes, is bounded and has no control characters")
  func texts() {
    let folder = TestFolder()
    folder.write(Array("Some Board\0\n".utf8), to: "/model")
    folder.write(Array("a\u{1B}[2Jb\nc\n".utf8), to: "/bad")
    folder.write([], to: "/empty")
    #expect(SystemFiles.text(of: folder.path + "/model") == "Some Board")
    #expect(SystemFiles.text(of: folder.path + "/model", capacity: 4) == "Some")
    #expect(SystemFiles.text(of: folder.path + "/bad") == "a?[2Jb\nc")
    #expect(SystemFiles.text(of: folder.path + "/empty") == "")
    #expect(SystemFiles.text(of: folder.path + "/none") == nil)
    #expect(SystemFiles.text(of: folder.path) == nil, "a folder has no text")
  }

  @Test("a pipe without a writer does not block the reader")
  func pipes() {
    let folder = TestFolder()
    #expect(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
    #expect(SystemFiles.text(of: folder.path + "/pipe") == "")
  }
}
