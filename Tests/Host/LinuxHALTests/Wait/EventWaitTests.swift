import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("The one wait", .tags(.realTime)) struct EventWaitTests {
  private let events: EventWait
  private let pair: (Int32, Int32)
  private let token = EventWait.Token(rawValue: 20)

  init() throws {
    events = try EventWait()
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    pair = (ends[0], ends[1])
  }

  private func close() {
    Glibc.close(pair.0)
    Glibc.close(pair.1)
  }

  private func put() { _ = unsafe write(pair.1, [1], 1) }

  @Test("a moment ends it, not before")
  func deadline() {
    let end = soon(20)
    #expect(!events.wait(until: end))
    #expect(SystemClock().now >= end && events.wakeCount <= 1)
    close()
  }

  @Test("a moment that has passed is no sleep, but what is there is found")
  func passed() throws {
    try events.add(pair.0, as: token, for: .readable)
    #expect(!events.wait(until: .boot) && events.wakeCount == 0)
    put()
    #expect(events.wait(until: .boot) && events.wakeCount == 0)
    #expect(events.readyCount == 1)
    #expect(events.ready(at: 0) == .init(token: token, conditions: .readable))
    close()
  }

  @Test("a descriptor is told for as long as it has something, changed and removed")
  func descriptors() throws {
    try events.add(pair.0, as: token, for: .readable)
    put()
    #expect(events.wait(until: nil) && events.wait(until: nil))
    try events.change(pair.0, as: token, to: [])
    #expect(!events.wait(until: .boot))
    try events.change(pair.0, as: token, to: .readable)
    #expect(events.wait(until: .boot))
    events.remove(pair.0)
    #expect(!events.wait(until: .boot) && events.conditions(of: token) == [])
    #expect(throws: SystemError.self) { try events.change(pair.0, as: token, to: .readable) }
    close()
  }

  @Test("what is only listened to does not end a wait that does not listen")
  func listening() throws {
    try events.add(pair.0, as: token, for: .readable, isReceiverInput: true)
    put()
    #expect(!events.wait(until: soon(5), wakesOnInput: false))
    #expect(events.wait(until: soon(5), wakesOnInput: true))
    close()
  }

  @Test("a far moment costs nothing, and leaves nothing behind")
  func far() throws {
    try events.add(pair.0, as: token, for: .readable)
    let sender = Sender(pair.1, [(20, [1])])
    #expect(events.wait(until: SystemClock().now + .seconds(100_000)) && events.wakeCount == 1)
    sender.join()
    var byte: UInt8 = 0
    _ = unsafe read(pair.0, &byte, 1)
    #expect(!events.wait(until: soon(5)) && events.wakeCount <= 2)
    // A moment that no machine lives to see is no overflow.
    put()
    let never = Instant(microseconds: Instant.distantFuture.microseconds - 1)
    #expect(events.wait(until: never) && events.wakeCount <= 3)
    close()
  }

  @Test(
    "when the machine comes back from suspend, the rest is waited for anew",
    arguments: [true, false])
  func clockChange(_ listening: Bool) throws {
    var wall = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &wall)
    let real_us = Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1_000
    events.watchClock(changingAt: real_us + 50_000)
    let end = soon(200)
    #expect(!events.wait(until: end, wakesOnInput: listening))
    #expect(SystemClock().now >= end && events.wakeCount <= 2 && events.readyCount == 0)
    #expect(!events.wait(until: soon(5), wakesOnInput: !listening))
    #expect(events.wakeCount <= 3)
    close()
  }

  @Test("the end of the other side is told without being asked for")
  func gone() throws {
    try events.add(pair.0, as: token, for: [])
    Glibc.close(pair.1)
    #expect(events.wait(until: soon(100)))
    #expect(events.conditions(of: token).contains(.gone))
    Glibc.close(pair.0)
  }

  @Test("two seconds without cause are no wake")
  func idle() throws {
    try events.add(pair.0, as: token, for: .readable)
    let sender = Sender(pair.1, [(2_000, [1])])
    #expect(events.wait(until: nil))
    #expect(events.wakeCount == 1)
    sender.join()
    close()
  }
}
