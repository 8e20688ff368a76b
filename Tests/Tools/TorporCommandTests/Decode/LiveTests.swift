import GPXFiles
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("What comes as it is made", .tags(.process))
struct LiveTests {
  static func rmc(_ second: Int) -> String { RecordingDecoderTests.rmc(second, "010420") }

  static func time(_ line: String?) -> Substring? {
    line?.firstRange(of: "T12:00:0").map { line![$0.upperBound...].prefix(1) }
  }

  static func append(_ text: String, to path: String) {
    let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    Running.write(text, to: file)
    close(file)
  }

  @Test("an epoch is given when the line falls silent, not only when the next one begins")
  func pipe() {
    let live = Running(["decode", "-"])
    for second in 1...3 {
      live.say(Self.rmc(second))
      #expect(Self.time(live.line()) == "\(second)")
    }
    live.closeInput()
    let end = live.finish()
    #expect(end.status == 0 && end.output.isEmpty)
    #expect(live.errors == "torpor: 3 epochs, 3 with a fix, 3 NMEA sentences\n")
  }

  @Test("a pause inside a sentence, as a slow pipe makes it, does not break it")
  func heldUp() {
    let live = Running(["decode", "-"])
    let sentence = Self.rmc(1)
    live.say(String(sentence.prefix(20)))
    #expect(live.line(within: 0.25) == nil)
    live.say(String(sentence.dropFirst(20)))
    #expect(Self.time(live.line()) == "1")
    live.closeInput()
    #expect(live.finish().status == 0)
    #expect(live.errors == "torpor: 1 epoch, 1 with a fix, 1 NMEA sentence\n")
  }

  @Test("--follow goes on as a file grows, is cut, and is replaced, until an interrupt")
  func follow() {
    let folder = Command.directory()
    let path = "\(folder)/log.nmea"
    Self.append(Self.rmc(1) + Self.rmc(2), to: path)
    let live = Running(["decode", "--follow", path])
    #expect(Self.time(live.line()) == "1")
    #expect(Self.time(live.line()) == "2")
    Self.append(Self.rmc(3), to: path)
    #expect(Self.time(live.line()) == "3")
    // As `logrotate` with copytruncate.
    Command.write([], to: path)
    #expect(live.told("log.nmea was truncated; reading it from its start"))
    Self.append(Self.rmc(4), to: path)
    #expect(Self.time(live.line()) == "4")
    // As `logrotate` without: what still comes under the old name is read as well.
    unsafe rename(path, "\(folder)/log.1")
    Self.append(Self.rmc(5), to: "\(folder)/log.1")
    #expect(Self.time(live.line()) == "5")
    Self.append(Self.rmc(6), to: path)
    #expect(Self.time(live.line()) == "6")
    #expect(live.errors.contains("log.nmea was replaced by another file"))
    Self.append(Self.rmc(7), to: path)
    #expect(Self.time(live.line()) == "7")
    live.signal(SIGTERM)
    let end = live.finish()
    #expect(end.status == -SIGTERM && end.output.isEmpty)
    #expect(live.errors.hasSuffix("torpor: 7 epochs, 7 with a fix, 7 NMEA sentences\n"))
  }

  @Test("an interrupt ends a track as it should be, in a file as on standard output")
  func interrupt() throws {
    let folder = Command.directory()
    for arguments in [[], ["-o", "\(folder)/drive.gpx"]] {
      let live = Running(["decode", "--format", "gpx"] + arguments + ["-"])
      live.say(Self.rmc(1) + Self.rmc(2))
      if arguments.isEmpty {
        for _ in 0..<5 { #expect(live.line() != nil) }
      } else {
        // The first one shows in nothing but its file's being made.
        let end = Running.now + 10
        while TestFolder.names(in: folder).isEmpty, Running.now < end { usleep(2_000) }
        usleep(50_000)
      }
      live.signal(SIGINT)
      let end = live.finish()
      #expect(end.status == -SIGINT)
      guard !arguments.isEmpty else {
        #expect(end.output.hasSuffix("  </trkseg>\n </trk>\n</gpx>\n"))
        continue
      }
      #expect(TestFolder.names(in: folder) == ["drive.gpx"])
      var reader = try GPXReader()
      try reader.add(Array((Command.read("\(folder)/drive.gpx") ?? "").utf8))
      #expect(try reader.finish().points.count == 2)
    }
  }

  @Test("an interrupt before anything was understood leaves no file, and says so")
  func interruptedEarly() {
    let folder = Command.directory()
    let live = Running(["decode", "-o", "\(folder)/a", "-"])
    live.say("garbage\n")
    let end = Running.now + 10
    while TestFolder.names(in: folder).isEmpty, Running.now < end { usleep(2_000) }
    usleep(50_000)
    live.signal(SIGINT)
    #expect(live.finish().status == -SIGINT)
    #expect(TestFolder.names(in: folder).isEmpty)
    #expect(live.errors.contains("standard input contains no NMEA and no UBX"))
  }

  @Test("a followed FIFO does not end with who wrote to it; else it does")
  func fifo() {
    let path = "\(Command.directory())/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    func write(_ second: Int) {
      let end = unsafe open(path, O_WRONLY)
      Running.write(Self.rmc(second), to: end)
      close(end)
    }
    let live = Running(["decode", "--follow", path])
    for second in 1...2 {
      write(second)
      #expect(Self.time(live.line()) == "\(second)")
    }
    live.signal(SIGINT)
    #expect(live.finish().status == -SIGINT)
    let once = Running(["decode", path])
    write(3)
    #expect(once.finish().status == 0)
  }

  @Test("when nobody reads any more a live run ends, also while nothing comes")
  func readerGone() {
    // Nothing is ever written to this file.
    let path = "\(Command.directory())/log"
    Self.append(Self.rmc(1), to: path)
    let result = Command.run(["decode", "--follow", path], nobodyReads: true)
    #expect(result.status == 0)
  }
}

@Suite("Serial lines", .tags(.process))
struct SerialTests {
  /// A pseudo-terminal: its master's end, and the name of the line.
  static func terminal() -> (master: Int32, slave: Int32, path: String) {
    var master: Int32 = -1
    var slave: Int32 = -1
    let made = Command.starting.withLock { _ in
      guard unsafe openpty(&master, &slave, nil, nil, nil) == 0 else { return false }
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return true
    }
    guard made, let name = unsafe ttyname(slave)
    else { return (-1, -1, "") }
    return (master, slave, unsafe String(cString: name))
  }

  /// Waits until the line is raw; whether it became so.
  static func isRaw(_ descriptor: Int32) -> Bool {
    let end = Running.now + 10
    var line = termios()
    repeat {
      unsafe tcgetattr(descriptor, &line)
      if line.c_lflag & tcflag_t(ICANON | ECHO) == 0 { return true }
      usleep(2_000)
    } while Running.now < end
    return false
  }

  @Test("a line is made raw at the speed that is given; when it is gone, that is told")
  func raw() {
    let (master, slave, path) = Self.terminal()
    let live = Running(["decode", "--baud", "38400", path])
    #expect(Self.isRaw(master))
    var line = termios()
    unsafe tcgetattr(master, &line)
    #expect(unsafe cfgetospeed(&line) == speed_t(B38400))
    // Who else has it open is told.
    #expect(live.told("has '\(path)' open too"))
    close(slave)
    Running.write(LiveTests.rmc(1), to: master)
    #expect(LiveTests.time(live.line()) == "1")
    close(master)
    let end = live.finish()
    #expect(end.status == 74)
    #expect(live.errors.contains("1 epoch, 1 with a fix"))
    #expect(live.errors.contains("\(path) was disconnected"))
  }

  @Test("--follow waits for a line that went away, and goes on when its name is there again")
  func comesBack() {
    let folder = Command.directory()
    let name = "\(folder)/by-id/gnss"
    let first = Self.terminal()
    unsafe mkdir("\(folder)/by-id", 0o755)
    unsafe symlink(first.path, name)
    let live = Running(["decode", "--follow", name])
    #expect(Self.isRaw(first.master))
    close(first.slave)
    Running.write(LiveTests.rmc(1), to: first.master)
    #expect(LiveTests.time(live.line()) == "1")
    // As udev does it: the folder goes with the last name in it.
    unsafe unlink(name)
    unsafe rmdir("\(folder)/by-id")
    close(first.master)
    #expect(live.told("gnss was disconnected; waiting for it"))
    let second = Self.terminal()
    unsafe mkdir("\(folder)/by-id", 0o755)
    unsafe symlink(second.path, name)
    #expect(live.told("gnss is connected again"))
    close(second.slave)
    Running.write(LiveTests.rmc(2), to: second.master)
    #expect(LiveTests.time(live.line()) == "2")
    live.signal(SIGINT)
    #expect(live.finish().status == -SIGINT)
    close(second.master)
  }

  @Test("a speed for what is no line, or that no line has, is refused")
  func speeds() {
    let path = "\(Command.directory())/log"
    LiveTests.append(LiveTests.rmc(1), to: path)
    for file in [path, "-", "/dev/null"] {
      let result = Command.run(["decode", "--baud", "9600", file])
      #expect(result.status == 64 && result.errors.contains("--baud sets the speed"), "\(file)")
    }
    let unplugged = Command.run(["decode", "--baud", "9600", "/dev/nonexistent"])
    #expect(unplugged.status == 66 && unplugged.errors.contains("there is no such file"))
    let odd = Command.run(["decode", "--baud", "9601", path])
    #expect(odd.status == 64 && odd.errors.contains("it should be one of"))
    #expect(Command.run(["decode", "/dev/null"]).status == 65)
  }
}
