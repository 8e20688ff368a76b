import Glibc
import TestSupport
import Testing

@testable import torpor

@Suite("A receiver that is played in real time")
struct ReceiverTests {
  @Test("its line is named first, opens as a receiver's, and goes with the command")
  func line() throws {
    let link = Command.directory() + "/gnss"
    let running = Running(["receiver", "--board", "pi4-l76k-hat", "--link", link, "--quiet"])
    let path = try #require(running.line())
    #expect(path.hasPrefix("/dev/pts/") && System.link(link) == path)
    let descriptor = unsafe open(link, O_RDONLY | O_NOCTTY)
    defer { close(descriptor) }
    var heard: [UInt8] = []
    while !heard.contains(UInt8(ascii: "\n")) {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, 10_000) == 1 else { break }
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      heard += bytes[..<max(count, 0)]
    }
    #expect(String(decoding: heard, as: UTF8.self).contains("$GN"))
    running.signal(SIGTERM)
    #expect(running.finish().status == 0)
    #expect(System.link(link) == nil)
  }

  @Test("a file is not overwritten by a link, and a board without a receiver has none to play")
  func refused() {
    let folder = Command.directory()
    Command.write([1], to: folder + "/file")
    let result = Command.run(["receiver", "--link", folder + "/file"])
    #expect(result.status == 73 && Command.read(folder + "/file") == "\u{1}")
    _ = unsafe symlink("/dev/null", folder + "/mine")
    #expect(Command.run(["receiver", "--link", folder + "/mine"]).status == 73)
    #expect(System.link(folder + "/mine") == "/dev/null", "it is somebody else's")
    #expect(Command.run(["receiver", "--track", "a", "--scenario", "walk"]).status == 64)
  }
}
