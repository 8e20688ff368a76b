import CLinux
import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("The serial line", .tags(.realTime)) struct SerialLineTests {
  private let terminal = Terminal()
  private let events: EventWait

  init() throws { events = try EventWait() }

  private func write(_ bytes: [UInt8], to line: inout SerialLine) throws(LineFault) {
    try line.write(bytes.span)
  }

  @Test("bytes come and go as they are, all 256 of them")
  func raw() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    let all = (0...255).map { UInt8($0) } + [3, 4, 10, 13, 17, 19, 26, 28]
    terminal.send(all)
    #expect(try read(all.count, from: &line, events) == all)
    try write(all, to: &line)
    #expect(terminal.receive(all.count) == all)
    #expect(terminal.speed == 9_600)
  }

  @Test("what has arrived is handed out in chunks of 256, in order")
  func chunks() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    let sent = (0..<600).map { UInt8($0 % 251) }
    terminal.send(sent)
    usleep(20_000)
    #expect(events.wait(until: soon(1_000)))
    let counts = try [line.read().count, line.read().count, line.read().count, line.read().count]
    #expect(counts == [256, 256, 88, 0])
  }

  @Test("what the kernel holds in pieces of less than a buffer is read to its end")
  func much() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    let sent = (0..<6_000).map { UInt8($0 % 251) }
    terminal.send(sent)
    #expect(!events.wait(until: soon(50), wakesOnInput: false))
    var received: [UInt8] = []
    while true {
      let chunk = try line.read()
      for index in 0..<chunk.count { received.append(chunk[index]) }
      if !chunk.isFull { break }
    }
    #expect(received.count >= 4_096 && received[...] == sent.prefix(received.count))
    #expect(try received + read(sent.count - received.count, from: &line, events) == sent)
  }

  @Test("what came and was not wanted is thrown away, fetched or not")
  func discarded() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    terminal.send([UInt8](repeating: 7, count: 300))
    #expect(events.wait(until: soon(1_000)))
    #expect(try line.read().count == 256)
    terminal.send("old")
    usleep(20_000)
    line.discardInput()
    #expect(!events.wait(until: soon(20)))
    terminal.send("new")
    #expect(try read(3, from: &line, events) == Array("new".utf8))
  }

  @Test("bytes that came before the device went away are read first")
  func lastBytes() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    terminal.send("last")
    #expect(events.wait(until: soon(1_000)))
    #expect(line.gather() == 4)
    terminal.unplug()
    #expect(events.wait(until: soon(1_000)))
    let chunk = try line.read()
    #expect(chunk.count == 4)
    #expect(throws: LineFault.gone) { try line.read() }
  }

  @Test("any speed is set, and the bytes queued before leave first")
  func speeds() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    for speed in [4_800, 115_200, 460_800, 921_600, 123_456] as [UInt32] {
      try write([1, 2, 3], to: &line)
      try line.setSpeed(speed)
      #expect(terminal.receive(3) == [1, 2, 3])
      #expect(terminal.speed == Int64(speed) && line.speed == speed)
    }
  }

  @Test("what came at the old speed is thrown away")
  func oldBytes() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    terminal.send("at the old speed")
    #expect(events.wait(until: soon(1_000)))
    _ = try line.read()
    terminal.send("this too")
    #expect(events.wait(until: soon(1_000)))
    try line.setSpeed(38_400)
    terminal.send("new")
    #expect(try read(3, from: &line, events) == Array("new".utf8))
  }

  @Test("a write is queued as a whole or refused; what is queued arrives in order")
  func fullQueue() throws {
    var line = try SerialLine(opening: terminal.path, speed: 115_200, in: events)
    var sent: [UInt8] = []
    var refusal: LineFault?
    for round in 0..<10_000 {
      let bytes = [UInt8](repeating: UInt8(round % 256), count: 100)
      do {
        try write(bytes, to: &line)
        sent += bytes
      } catch {
        refusal = error
        break
      }
    }
    #expect(refusal == .full && line.queuedCount > SerialLine.outputCapacity - 100)
    var received: [UInt8] = []
    while received.count < sent.count {
      received += terminal.receive()
      guard events.wait(until: soon(1_000)) else { break }
      if events.conditions(of: .line).contains(.writable) { line.flush() }
    }
    received += terminal.receive(sent.count - received.count)
    #expect(received == sent && line.queuedCount == 0)
    // Nothing is left that would end a wait.
    #expect(!events.wait(until: soon(5), wakesOnInput: true))
    #expect(!events.wait(until: soon(5), wakesOnInput: false))
  }

  @Test("room in the queue ends a wait that does not listen, too")
  func flushingDeaf() throws {
    var line = try SerialLine(opening: terminal.path, speed: 115_200, in: events)
    // The kernel carries bytes from one end to the other in its own time: full is what stays full.
    var rounds = 0
    repeat {
      line.flush()
      while line.queuedCount == 0 { try write([UInt8](repeating: 7, count: 500), to: &line) }
      rounds += 1
    } while rounds < 100 && events.wait(until: soon(20), wakesOnInput: false)
    #expect(rounds < 100)
    _ = terminal.receive()
    #expect(events.wait(until: soon(1_000), wakesOnInput: false))
    #expect(events.conditions(of: .line) == .writable)
    line.flush()
    #expect(line.queuedCount == 0)
  }

  @Test("a device that vanishes is told once, looked for after a pause, and used when it is back")
  func vanishAndReturn() throws {
    let folder = TestFolder()
    let link = folder.file("receiver")
    #expect(unsafe symlink(terminal.path, link) == 0)
    var line = try SerialLine(opening: link, speed: 9_600, in: events)
    try line.setSpeed(38_400)
    terminal.unplug()
    #expect(events.wait(until: soon(1_000)))
    let lost = SystemClock().now
    #expect(throws: LineFault.gone) { try line.read() }
    #expect(line.isOpen == false)
    #expect(throws: LineFault.gone) { try line.read() }
    // Nothing wakes for it while it is away.
    #expect(!events.wait(until: soon(5)))
    let other = Terminal()
    #expect(unsafe unlink(link) == 0 && symlink(other.path, link) == 0)
    // Too early; on a busy machine the pause may be over.
    let isBack = (try? line.read()) != nil
    #expect(isBack == false || SystemClock().now >= lost + SerialLine.initialRetryDelay)
    #expect(!events.wait(until: soon(SerialLine.initialRetryDelay.microseconds / 1_000 + 5)))
    #expect(try line.read().count == 0)
    #expect(line.isOpen == true && other.speed == 38_400)
    other.send("back")
    #expect(try read(4, from: &line, events) == Array("back".utf8))
  }

  @Test("what a wait said of the device that went away does not count for the one that is back")
  func oldNews() throws {
    let folder = TestFolder()
    let link = folder.file("receiver")
    #expect(unsafe symlink(terminal.path, link) == 0)
    var line = try SerialLine(opening: link, speed: 9_600, in: events)
    terminal.unplug()
    #expect(events.wait(until: soon(1_000)))
    #expect(throws: LineFault.gone) { try line.read() }
    let other = Terminal()
    #expect(unsafe unlink(link) == 0 && symlink(other.path, link) == 0)
    usleep(UInt32(SerialLine.initialRetryDelay.microseconds) + 5_000)
    #expect(try line.read().count == 0)
    #expect(try line.read().count == 0)
    #expect(line.isOpen == true)
  }

  @Test("a device that vanishes while bytes are written to it is told")
  func vanishWhileWriting() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    terminal.unplug()
    #expect(throws: LineFault.gone) { try line.write([1].span) }
    #expect(throws: LineFault.gone) { try line.setSpeed(4_800) }
  }

  @Test("a device that is not there yet is no error where it is only looked for")
  func lookingFor() throws {
    let folder = TestFolder()
    let link = folder.file("receiver")
    var line = SerialLine(lookingFor: link, speed: 9_600, in: events)
    #expect(throws: LineFault.gone) { try line.read() }
    #expect(unsafe symlink(terminal.path, link) == 0)
    #expect(!events.wait(until: soon(SerialLine.initialRetryDelay.microseconds / 1_000 + 5)))
    try line.write([5].span)
    #expect(terminal.receive(1) == [5])
  }

  @Test("where there is no receiver nothing comes, and nothing can be written")
  func none() throws {
    var line = SerialLine(noneIn: events)
    #expect(try line.read().count == 0)
    #expect(throws: LineFault.gone) { try line.write([1].span) }
    #expect(throws: LineFault.gone) { try line.setSpeed(4_800) }
    #expect(try line.read().count == 0)
  }

  @Test("what cannot be opened is told with what to do about it")
  func openErrors() throws {
    let folder = TestFolder()
    #expect(throws: LineOpenError.missing(path: folder.file("none"))) {
      _ = try SerialLine(opening: folder.file("none"), speed: 9_600, in: events)
    }
    let file = folder.file("file")
    close(unsafe open(file, O_CREAT | O_RDWR, 0o600))
    #expect(throws: LineOpenError.notATerminal(path: file)) {
      _ = try SerialLine(opening: file, speed: 9_600, in: events)
    }
    // The advice is of the line's own group, and of no group where none is let in.
    let closed = LineOpenError(EACCES, path: file, baud: 9_600)
    #expect(closed == .notPermitted(path: file, group: nil))
    #expect(closed.description.contains("ls -l") && !closed.description.contains("usermod"))
    _ = unsafe chmod(file, 0o660)
    guard case .notPermitted(_, let group?) = LineOpenError(EACCES, path: file, baud: 9_600) else {
      Issue.record("its group may")
      return
    }
    #expect(closed.description != LineOpenError.notPermitted(path: file, group: group).description)
    let dialout = LineOpenError.notPermitted(path: file, group: "dialout").description
    #expect(dialout.contains("usermod -aG dialout USER"))
    #expect(LineOpenError(EPERM, path: file, baud: 9_600) == .forbidden(path: file))
  }

  @Test("a second process, and root too, finds the line in use; it is free when it is closed")
  func exclusive() throws {
    do {
      let line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
      let others = try EventWait()
      #expect(throws: LineOpenError.busy(path: terminal.path)) {
        _ = try SerialLine(opening: terminal.path, speed: 9_600, in: others)
      }
      #expect(line.isOpen == true)
    }
    let again = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    #expect(again.isOpen == true)
  }
}
