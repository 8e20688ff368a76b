import CLinux
import GPXFiles
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("Live input", .tags(.process))
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

  @Test("an epoch is emitted when the input pauses, not only when the next one starts")
  func pipe() {
    let live = Running(["decode", "-"])
    for second in 1...3 {
      live.send(Self.rmc(second))
      #expect(Self.time(live.line()) == "\(second)")
    }
    live.closeInput()
    let end = live.finish()
    #expect(end.status == 0 && end.output.isEmpty)
    #expect(live.errors == "torpor: 3 epochs, 3 with a fix, 3 NMEA sentences\n")
  }

  @Test("a pause inside a sentence, as in a slow pipe, does not break the sentence")
  func pauseInSentence() {
    let live = Running(["decode", "-"])
    let sentence = Self.rmc(1)
    live.send(String(sentence.prefix(20)))
    #expect(live.line(within: 0.25) == nil)
    live.send(String(sentence.dropFirst(20)))
    #expect(Self.time(live.line()) == "1")
    live.closeInput()
    #expect(live.finish().status == 0)
    #expect(live.errors == "torpor: 1 epoch, 1 with a fix, 1 NMEA sentence\n")
  }

  @Test("--follow continues as a file grows, is truncated and is replaced, until an interrupt")
  func follow() {
    let folder = Command.directory()
    let path = "\(folder)/log.nmea"
    Self.append(Self.rmc(1) + Self.rmc(2), to: path)
    let live = Running(["decode", "--follow", path])
    #expect(Self.time(live.line()) == "1")
    #expect(Self.time(live.line()) == "2")
    Self.append(Self.rmc(3), to: path)
    #expect(Self.time(live.line()) == "3")
    // As logrotate with `copytruncate`.
    Command.write([], to: path)
    #expect(live.reports("log.nmea was truncated; reading it from its start"))
    Self.append(Self.rmc(4), to: path)
    #expect(Self.time(live.line()) == "4")
    // As logrotate without it: data appended to the renamed file is read as well.
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

  @Test("an interrupt completes a GPX track, in a file and on standard output")
  func interrupt() throws {
    let folder = Command.directory()
    for arguments in [[], ["-o", "\(folder)/drive.gpx"]] {
      let live = Running(["decode", "--format", "gpx"] + arguments + ["-"])
      live.send(Self.rmc(1) + Self.rmc(2))
      if arguments.isEmpty {
        for _ in 0..<5 { #expect(live.line() != nil) }
      } else {
        // Creation of the file is the only sign of the first epoch.
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

  @Test("an interrupt before any valid input leaves no file, with a message")
  func interruptedEarly() {
    let folder = Command.directory()
    let live = Running(["decode", "-o", "\(folder)/a", "-"])
    live.send("garbage\n")
    let end = Running.now + 10
    while TestFolder.names(in: folder).isEmpty, Running.now < end { usleep(2_000) }
    usleep(50_000)
    live.signal(SIGINT)
    #expect(live.finish().status == -SIGINT)
    #expect(TestFolder.names(in: folder).isEmpty)
    #expect(live.errors.contains("standard input contains no NMEA and no UBX"))
  }

  @Test("with --follow a FIFO stays open after its writer closes it; without, input ends")
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

  @Test("a live run ends when its output is closed, also without input")
  func closedOutput() {
    // No further data is written to this file.
    let path = "\(Command.directory())/log"
    Self.append(Self.rmc(1), to: path)
    let result = Command.run(["decode", "--follow", path], closesOutput: true)
    #expect(result.status == 0)
  }
}

@Suite("Serial lines", .tags(.process))
struct SerialTests {
  /// A pseudo-terminal: both ends, and the path of the slave end.
  static func terminal() -> (master: Int32, slave: Int32, path: String) {
    var master: Int32 = -1
    var slave: Int32 = -1
    let isOpen = Command.starting.withLock { _ in
      guard unsafe openpty(&master, &slave, nil, nil, nil) == 0 else { return false }
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return true
    }
    guard isOpen, let name = unsafe ttyname(slave)
    else { return (-1, -1, "") }
    return (master, slave, unsafe String(cString: name))
  }

  /// Waits up to 10 s until the line is in raw mode; whether it is.
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

  @Test("a line is set to raw mode at the given speed; its disconnection is reported")
  func raw() {
    let (master, slave, path) = Self.terminal()
    let live = Running(["decode", "--baud", "38400", path])
    #expect(Self.isRaw(master))
    #expect(clinux_line_speed(master) == 38_400)
    // Another process that has the line open is reported.
    #expect(live.reports("has '\(path)' open, too"))
    close(slave)
    Running.write(LiveTests.rmc(1), to: master)
    #expect(LiveTests.time(live.line()) == "1")
    close(master)
    let end = live.finish()
    #expect(end.status == 74)
    #expect(live.errors.contains("1 epoch, 1 with a fix"))
    #expect(live.errors.contains("\(path) was disconnected"))
  }

  @Test("--follow waits for a disconnected line and continues when its name exists again")
  func reconnected() {
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
    // As udev does: the folder is removed with the last name in it.
    unsafe unlink(name)
    unsafe rmdir("\(folder)/by-id")
    close(first.master)
    #expect(live.reports("gnss was disconnected; waiting for it"))
    let second = Self.terminal()
    unsafe mkdir("\(folder)/by-id", 0o755)
    unsafe symlink(second.path, name)
    #expect(live.reports("gnss is connected again"))
    close(second.slave)
    Running.write(LiveTests.rmc(2), to: second.master)
    #expect(LiveTests.time(live.line()) == "2")
    live.signal(SIGINT)
    #expect(live.finish().status == -SIGINT)
    close(second.master)
  }

  @Test("--baud is rejected for other files than serial lines, and so is an invalid speed")
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
