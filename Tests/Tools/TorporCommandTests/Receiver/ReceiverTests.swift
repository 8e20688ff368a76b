import CLinux
import Glibc
import LinuxHAL
import TestSupport
import Testing

@testable import torpor

@Suite("torpor receiver: emulation in real time", .tags(.process))
struct ReceiverTests {
  @Test("the line is printed first, opens as a serial line, and is removed with the command")
  func line() throws {
    let link = Command.directory() + "/gnss"
    let running = Running(["receiver", "--board", "pi4-l76k-hat", "--link", link, "--quiet"])
    let path = try #require(running.line())
    #expect(path.hasPrefix("/dev/pts/") && SystemFiles.linkTarget(link) == path)
    let descriptor = unsafe open(link, O_RDONLY | O_NOCTTY)
    defer { close(descriptor) }
    var received: [UInt8] = []
    // The receiver first sends its start message.
    while !String(decoding: received, as: UTF8.self).contains("$GN") {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, 10_000) == 1 else { break }
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      received += bytes[..<max(count, 0)]
    }
    #expect(String(decoding: received, as: UTF8.self).contains("$GN"))
    running.signal(SIGTERM)
    #expect(running.finish().status == 0)
    #expect(SystemFiles.linkTarget(link) == nil)
  }

  @Test("a receiver put into standby before any acquisition does a cold start afterwards")
  func coldStart() throws {
    let folder = Command.directory()
    // A profile in which each start is a cold start of two seconds.
    let text = try #require(Command.read("Boards/zero2w-pa1616s/profile.toml"))
    let lines = text.split(separator: "\n")
      .filter { !$0.contains("{ off_s") && $0 != "]" }
      .map { $0 == "after_off = [" ? "after_off = [{ off_s = 0, fix_s = 1 }]" : String($0) }
      .map { $0.hasPrefix("cold_s") ? "cold_s = 2" : $0 }
    Command.write(Array(lines.joined(separator: "\n").utf8), to: folder + "/quick.toml")
    let running = Running(["receiver", "--board", folder + "/quick.toml"])
    let path = try #require(running.line())
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY)
    defer { close(descriptor) }
    // The receiver ignores commands while it starts.
    usleep(400_000)
    Running.write("$PMTK161,0*28\r\n", to: descriptor)
    #expect(running.reports("receiver standby") && !running.errors.contains("tracking"))
    // Longer than the acquisition.
    usleep(3_000_000)
    let begin = Running.now
    Running.write("\r", to: descriptor)
    #expect(running.reports("receiver tracking"))
    let duration = Running.now - begin
    #expect(duration >= 1.9, "the first fix came after \(duration) s")
    running.signal(SIGTERM)
    #expect(running.finish().status == 0)
  }

  @Test("the emulator reads the line speed that the service set as a number")
  func speed() throws {
    let terminal = try PseudoTerminal(link: nil, baud: 9_600)
    #expect(terminal.speed == 9_600)
    let descriptor = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
    defer { close(descriptor) }
    #expect(clinux_line_set_speed(descriptor, 115_200, 9_600) == 0)
    #expect(terminal.speed == 115_200)
  }

  @Test("a stale link of a killed emulator is replaced, also if its terminal number is reused")
  func staleLink() throws {
    let link = Command.directory() + "/gnss"
    let arguments = ["receiver", "--board", "pi4-l76k-hat", "--link", link, "--quiet"]
    let first = Running(arguments)
    let path = try #require(first.line())
    let second = Command.run(arguments)
    #expect(
      second.status == 73
        && second.errors.contains(
          "is used by the emulated receiver of process")
    )
    #expect(SystemFiles.linkTarget(link) == path)
    first.signal(SIGKILL)
    _ = first.finish()
    #expect(SystemFiles.linkTarget(link) == path, "a killed process cannot remove it")
    // Reuse its terminal number for another terminal.
    var others: [PseudoTerminal] = []
    for _ in 0..<64 where !others.contains(where: { $0.path == path }) {
      others.append(try PseudoTerminal(link: nil, baud: 9_600))
    }
    let third = Running(arguments)
    let next = try #require(third.line(), "\(third.errors)")
    #expect(SystemFiles.linkTarget(link) == next)
    third.signal(SIGTERM)
    #expect(third.finish().status != 73 && SystemFiles.linkTarget(link) == nil)
  }

  @Test("a link does not overwrite a file; a board without a receiver cannot be emulated")
  func refused() {
    let folder = Command.directory()
    Command.write([1], to: folder + "/file")
    let result = Command.run(["receiver", "--link", folder + "/file"])
    #expect(result.status == 73 && Command.read(folder + "/file") == "\u{1}")
    #expect(result.errors.contains("exists already and is not a link to a pseudo-terminal"))
    _ = unsafe symlink("/dev/null", folder + "/mine")
    #expect(Command.run(["receiver", "--link", folder + "/mine"]).status == 73)
    #expect(SystemFiles.linkTarget(folder + "/mine") == "/dev/null", "another link is kept")
    #expect(Command.run(["receiver", "--track", "a", "--scenario", "walk"]).status == 64)
    let bare = """
      name = "bare"
      description = "a board alone"
      [board]
      delivery_hold_s = 1
      [board.awake]
      power_mw = 1000
      [board.idle]
      power_mw = 100
      resume_s = 0
      alarm_resolution_s = 0.001
      [cache]
      capacity_fixes = 8192
      deferral_limit_fixes = 4096
      """
    Command.write(Array(bare.utf8), to: folder + "/bare.toml")
    let none = Command.run(["receiver", "--board", folder + "/bare.toml"])
    #expect(none.status == 78 && none.errors.contains("its profile needs [receiver]"))
  }
}
