import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("The board on Linux", .tags(.realTime)) struct LinuxBoardTests {
  private let terminal = Terminal()
  private let events: EventWait
  private let request = EventWait.Token.firstFree

  init() throws { events = try EventWait() }

  private func board() throws -> LinuxBoard<NoPins> {
    LinuxBoard(
      events, line: try SerialLine(opening: terminal.path, speed: 9_600, in: events), pins: NoPins()
    )
  }

  private func read(_ board: inout LinuxBoard<NoPins>) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let chunk = try board.read()
      for index in 0..<chunk.count { all.append(chunk[index]) }
      if !chunk.isFull { return all }
    }
  }

  @Test("a deadline, bytes and a request end a wait and say so")
  func reasons() throws {
    var board = try board()
    let end = soon(10)
    #expect(board.wait(in: .idle, until: end, wakesOnInput: true).reason == .alarm)
    #expect(board.now >= end)
    terminal.send("x")
    #expect(board.wait(in: .idle, until: .distantFuture, wakesOnInput: true).reason == .bytes)
    #expect(try read(&board) == [120])
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    try events.add(ends[0], as: request, for: .readable)
    _ = unsafe write(ends[1], [1], 1)
    let waking = board.wait(in: .suspended, until: .distantFuture, wakesOnInput: true)
    #expect(waking == WakeReport(reason: .request, batchPinRose: false))
    #expect(events.conditions(of: request) == .readable)
    for descriptor in ends { close(descriptor) }
  }

  @Test("a request is not kept waiting for the rest of an epoch")
  func requestBesideBytes() throws {
    var board = try board()
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    try events.add(ends[0], as: request, for: .readable)
    _ = unsafe write(ends[1], [1], 1)
    terminal.send("x")
    usleep(5_000)
    #expect(board.wait(in: .idle, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(events.conditions(of: request) == .readable && events.wakeCount == 1)
    for descriptor in ends { close(descriptor) }
  }

  @Test("a deadline that has passed returns at once, and finds what is there")
  func passed() throws {
    var board = try board()
    #expect(board.wait(in: .awake, until: .boot, wakesOnInput: true).reason == .alarm)
    terminal.send("x")
    usleep(5_000)
    #expect(board.wait(in: .awake, until: .boot, wakesOnInput: true).reason == .bytes)
    #expect(events.wakeCount == 0)
  }

  @Test("bytes do not end a wait that does not listen; they gather, 4,096 at least")
  func deaf() throws {
    var board = try board()
    let sent = (0..<4_095).map { UInt8($0 % 253) }
    terminal.send(sent)
    #expect(board.wait(in: .idle, until: soon(50), wakesOnInput: false).reason == .alarm)
    #expect(events.wakeCount <= 1)
    #expect(try read(&board) == sent)
  }

  @Test("a device that vanishes ends a wait that listens, once; then nothing does")
  func vanish() throws {
    var board = try board()
    terminal.unplug()
    #expect(board.wait(in: .idle, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(throws: LineFault.gone) { try board.read() }
    #expect(board.wait(in: .idle, until: soon(10), wakesOnInput: true).reason == .alarm)
  }

  @Test("what is queued leaves while the board waits, and ends no wait")
  func flushes() throws {
    var board = try board()
    var sent = 0
    while board.line.queuedCount == 0 {
      try board.write([UInt8](repeating: 9, count: 1_000).span)
      sent += 1_000
    }
    var received = terminal.receive().count
    #expect(board.wait(in: .idle, until: soon(20), wakesOnInput: false).reason == .alarm)
    received += terminal.receive(sent - received).count
    #expect(received == sent && board.line.queuedCount == 0)
  }

  @Test("no pin is wired")
  func pins() throws {
    var board = try board()
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverWake, .active)) }
  }

  /// Wakes for each of the last three epochs, of `pieces` pieces 5 ms apart, one every 150 ms; nil if
  /// one was not read as a whole.
  private func wakes(pieces: Int) throws -> [UInt64]? {
    let terminal = Terminal()
    let events = try EventWait()
    let line = try SerialLine(opening: terminal.path, speed: 9_600, in: events)
    var board = LinuxBoard(events, line: line, pins: NoPins())
    let count = BurstTiming.measurementCount + 3
    let sender = Sender(
      terminal.descriptor,
      (0..<count).flatMap { epoch in
        (0..<pieces).map { piece in
          (piece == 0 ? 150 : 5, [UInt8](repeating: UInt8(65 + epoch), count: 16))
        }
      })
    defer { sender.join() }
    var wakes: [UInt64] = []
    for epoch in 0..<count {
      let before = events.wakeCount
      guard board.wait(in: .idle, until: soon(3_000), wakesOnInput: true).reason == .bytes else {
        return nil
      }
      let whole = [UInt8](repeating: UInt8(65 + epoch), count: 16 * pieces)
      guard try read(&board) == whole else { return nil }
      wakes.append(events.wakeCount - before)
    }
    return wakes.suffix(3)
  }

  /// A busy machine may send late: one of ten runs must be as it should.
  private func once(_ run: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<10 where try run() { return true }
    return false
  }

  @Test("an epoch in 16-byte pieces is read as a whole, with two wakes once its length is known")
  func pieces() throws {
    #expect(try once { try wakes(pieces: 10) == [2, 2, 2] })
  }

  @Test("an epoch that comes at once is handed on at once, with one wake")
  func whole() throws {
    #expect(try once { try wakes(pieces: 1) == [1, 1, 1] })
  }
}
