import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Board on Linux", .tags(.realTime)) struct LinuxBoardTests {
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

  @Test("a deadline, bytes and a request end a wait and are reported as its reason")
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
    let report = board.wait(in: .suspended, until: .distantFuture, wakesOnInput: true)
    #expect(report == WakeReport(reason: .request, batchPinRose: false))
    #expect(events.conditions(of: request) == .readable)
    for descriptor in ends { close(descriptor) }
  }

  @Test("bytes after a silence are reported with the arrival of the first one, others without")
  func inputStart() throws {
    var board = try board()
    let before = board.now
    let sender = Sender(terminal.descriptor, [(40, [120])])
    defer { sender.join() }
    let first = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    // The wait measures the epoch, until 30 ms of silence.
    let start = try #require(first.inputStart)
    #expect(start >= before + .milliseconds(35) && start + BurstTiming.epochGap <= board.now)
    _ = try read(&board)
    terminal.send("y")
    usleep(5_000)
    // Buffered while the board slept: the arrival is unknown.
    #expect(board.wait(in: .idle, until: soon(10), wakesOnInput: false).reason == .alarm)
    let second = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    #expect(second.reason == .bytes && second.inputStart == nil)
  }

  @Test("the arrival of bytes that came before the wait, while the service was busy, is unknown")
  func busy() throws {
    var board = try board()
    usleep(40_000)
    terminal.send("x")
    usleep(5_000)
    let report = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    #expect(report.reason == .bytes && report.inputStart == nil)
  }

  @Test("a request is not delayed until the rest of an epoch has arrived")
  func requestDuringEpoch() throws {
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

  @Test("a passed deadline returns immediately and reports pending bytes")
  func passed() throws {
    var board = try board()
    #expect(board.wait(in: .awake, until: .boot, wakesOnInput: true).reason == .alarm)
    terminal.send("x")
    usleep(5_000)
    #expect(board.wait(in: .awake, until: .boot, wakesOnInput: true).reason == .bytes)
    #expect(events.wakeCount == 0)
  }

  @Test("with `wakesOnInput` false, at least 4,096 bytes are buffered without a wake")
  func bufferedInput() throws {
    var board = try board()
    let sent = (0..<4_095).map { UInt8($0 % 253) }
    terminal.send(sent)
    #expect(board.wait(in: .idle, until: soon(50), wakesOnInput: false).reason == .alarm)
    #expect(events.wakeCount <= 1)
    #expect(try read(&board) == sent)
  }

  @Test("a disappearing device ends a wait with `wakesOnInput` once")
  func vanish() throws {
    var board = try board()
    terminal.unplug()
    #expect(board.wait(in: .idle, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(throws: LineFault.gone) { try board.read() }
    #expect(board.wait(in: .idle, until: soon(10), wakesOnInput: true).reason == .alarm)
  }

  @Test("queued output is sent during a wait without ending it")
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

  @Test("setting a pin that is not wired fails")
  func pins() throws {
    var board = try board()
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverWake, .active)) }
  }

  /// Number of wakes for each of the last three epochs. An epoch has `pieces` pieces 5 ms apart;
  /// the epochs are 150 ms apart. Nil if one was not read completely.
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

  /// A busy machine may send late, so one of ten runs must succeed.
  private func once(_ run: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<10 where try run() { return true }
    return false
  }

  @Test("an epoch in 16-byte pieces is read with two wakes after its length was measured")
  func pieces() throws {
    #expect(try once { try wakes(pieces: 10) == [2, 2, 2] })
  }

  @Test("an epoch that arrives in one piece is delivered immediately, with one wake")
  func whole() throws {
    #expect(try once { try wakes(pieces: 1) == [1, 1, 1] })
  }
}
