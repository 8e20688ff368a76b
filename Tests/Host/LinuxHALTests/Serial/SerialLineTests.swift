import CLinux
import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Serial line", .tags(.realTime)) struct SerialLineTests {
  private let terminal = Terminal()
  private let events: EventWait

  init() throws { events = try EventWait() }

  private func write(_ bytes: [UInt8], to line: inout SerialLine) throws(LineFault) {
    try line.write(bytes.span)
  }

  @Test("all 256 byte values are received and sent unchanged")
  func raw() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    let all = (0...255).map { UInt8($0) } + [3, 4, 10, 13, 17, 19, 26, 28]
    terminal.send(all)
    #expect(try read(all.count, from: &line, events) == all)
    try write(all, to: &line)
    #expect(terminal.receive(all.count) == all)
    #expect(terminal.speed == 9_600)
  }

  @Test("received bytes are read in order, in chunks of up to 256")
  func chunks() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    let sent = (0..<600).map { UInt8($0 % 251) }
    terminal.send(sent)
    usleep(20_000)
    #expect(events.wait(until: soon(1_000)))
    let counts = try [line.read().count, line.read().count, line.read().count, line.read().count]
    #expect(counts == [256, 256, 88, 0])
  }

  @Test("input that the kernel holds in several pieces is read completely")
  func severalPieces() throws {
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

  @Test("`discardInput` discards bytes in both input buffers")
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

  @Test("bytes received before the device disappeared can still be read")
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

  @Test("any speed can be set; bytes queued before are sent first")
  func speeds() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    for speed in [4_800, 115_200, 460_800, 921_600, 123_456] as [UInt32] {
      try write([1, 2, 3], to: &line)
      try line.setSpeed(speed)
      #expect(terminal.receive(3) == [1, 2, 3])
      #expect(terminal.speed == Int64(speed) && line.speed == speed)
    }
  }

  @Test("bytes received at the old speed are discarded")
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

  @Test("a write is queued completely or refused; queued bytes arrive in order")
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
    #expect(refusal == .full && line.outputCount > SerialLine.outputCapacity - 100)
    var received: [UInt8] = []
    while received.count < sent.count {
      received += terminal.receive()
      guard events.wait(until: soon(1_000)) else { break }
      if events.conditions(of: .line).contains(.writable) { line.flush() }
    }
    received += terminal.receive(sent.count - received.count)
    #expect(received == sent && line.outputCount == 0)
    // An empty queue ends no wait.
    #expect(!events.wait(until: soon(5), wakesOnInput: true))
    #expect(!events.wait(until: soon(5), wakesOnInput: false))
  }

  @Test("free space in the queue ends a wait with `wakesOnInput` false")
  func flushingWithoutInput() throws {
    var line = try SerialLine(opening: terminal.path, speed: 115_200, in: events)
    // The kernel transfers bytes with a delay: the queue is full if it stays full.
    var rounds = 0
    repeat {
      line.flush()
      while line.outputCount == 0 { try write([UInt8](repeating: 7, count: 500), to: &line) }
      rounds += 1
    } while rounds < 100 && events.wait(until: soon(20), wakesOnInput: false)
    #expect(rounds < 100)
    _ = terminal.receive()
    #expect(events.wait(until: soon(1_000), wakesOnInput: false))
    #expect(events.conditions(of: .line) == .writable)
    line.flush()
    #expect(line.outputCount == 0)
  }

  @Test("a missing device is reported once, retried after a delay and reopened")
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
    // A missing device causes no wake.
    #expect(!events.wait(until: soon(5)))
    let other = Terminal()
    #expect(unsafe unlink(link) == 0 && symlink(other.path, link) == 0)
    // Before the retry delay has passed, unless the machine is busy.
    let isBack = (try? line.read()) != nil
    #expect(isBack == false || SystemClock().now >= lost + SerialLine.initialRetryDelay)
    #expect(!events.wait(until: soon(SerialLine.initialRetryDelay.microseconds / 1_000 + 5)))
    #expect(try line.read().count == 0)
    #expect(line.isOpen == true && other.speed == 38_400)
    other.send("back")
    #expect(try read(4, from: &line, events) == Array("back".utf8))
  }

  @Test("conditions reported for the lost device do not apply to the reopened one")
  func staleConditions() throws {
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

  @Test("a device that disappears before a write is reported")
  func vanishWhileWriting() throws {
    var line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    terminal.unplug()
    #expect(throws: LineFault.gone) { try line.write([1].span) }
    #expect(throws: LineFault.gone) { try line.setSpeed(4_800) }
  }

  @Test("`lookingFor` accepts a missing device and opens it later")
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

  @Test("a line without a receiver reads nothing and cannot be written")
  func none() throws {
    var line = SerialLine(noneIn: events)
    #expect(try line.read().count == 0)
    #expect(throws: LineFault.gone) { try line.write([1].span) }
    #expect(throws: LineFault.gone) { try line.setSpeed(4_800) }
    #expect(try line.read().count == 0)
  }

  @Test("an open error contains a suggestion")
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
    // The suggestion names the device's group only if the group has access.
    let closed = LineOpenError(EACCES, path: file, baud: 9_600)
    #expect(closed == .notPermitted(path: file, group: nil))
    #expect(closed.description.contains("ls -l") && !closed.description.contains("usermod"))
    _ = unsafe chmod(file, 0o660)
    guard case .notPermitted(_, let group?) = LineOpenError(EACCES, path: file, baud: 9_600) else {
      Issue.record("the group has access")
      return
    }
    #expect(closed.description != LineOpenError.notPermitted(path: file, group: group).description)
    let dialout = LineOpenError.notPermitted(path: file, group: "dialout").description
    #expect(dialout.contains("usermod -aG dialout USER"))
    #expect(LineOpenError(EPERM, path: file, baud: 9_600) == .forbidden(path: file))
  }

  @Test("a second open fails as busy, even for root, until the line is closed")
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
