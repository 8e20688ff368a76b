import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Event wait", .tags(.realTime)) struct EventWaitTests {
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

  @Test("a wait ends at its deadline, not before")
  func deadline() {
    let end = soon(20)
    #expect(!events.wait(until: end))
    #expect(SystemClock().now >= end && events.wakeCount <= 1)
    close()
  }

  @Test("a passed deadline causes no sleep, but ready descriptors are reported")
  func passed() throws {
    try events.add(pair.0, as: token, for: .readable)
    #expect(!events.wait(until: .boot) && events.wakeCount == 0)
    put()
    #expect(events.wait(until: .boot) && events.wakeCount == 0)
    #expect(events.readyCount == 1)
    #expect(events.ready(at: 0) == .init(token: token, conditions: .readable))
    close()
  }

  @Test("a descriptor is reported while it is ready; it can be changed and removed")
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

  @Test("receiver input does not end a wait with `wakesOnInput` false")
  func receiverInput() throws {
    try events.add(pair.0, as: token, for: .readable, isReceiverInput: true)
    put()
    #expect(!events.wait(until: soon(5), wakesOnInput: false))
    #expect(events.wait(until: soon(5), wakesOnInput: true))
    close()
  }

  @Test("a far deadline causes no extra wake, also after the wait")
  func far() throws {
    try events.add(pair.0, as: token, for: .readable)
    let sender = Sender(pair.1, [(20, [1])])
    #expect(events.wait(until: SystemClock().now + .seconds(100_000)) && events.wakeCount == 1)
    sender.join()
    var byte: UInt8 = 0
    _ = unsafe read(pair.0, &byte, 1)
    #expect(!events.wait(until: soon(5)) && events.wakeCount <= 2)
    // A deadline near the end of time does not overflow.
    put()
    let never = Instant(microseconds: Instant.distantFuture.microseconds - 1)
    #expect(events.wait(until: never) && events.wakeCount <= 3)
    close()
  }

  @Test(
    "after a resume from suspend the wait continues until its deadline",
    arguments: [true, false])
  func clockChange(_ wakesOnInput: Bool) throws {
    var wall = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &wall)
    let real_us = Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1_000
    events.watchClock(changingAt: real_us + 50_000)
    let end = soon(200)
    #expect(!events.wait(until: end, wakesOnInput: wakesOnInput))
    #expect(SystemClock().now >= end && events.wakeCount <= 2 && events.readyCount == 0)
    #expect(!events.wait(until: soon(5), wakesOnInput: !wakesOnInput))
    #expect(events.wakeCount <= 3)
    close()
  }

  @Test("a closed peer is reported without a requested condition")
  func closedPeer() throws {
    try events.add(pair.0, as: token, for: [])
    Glibc.close(pair.1)
    #expect(events.wait(until: soon(100)))
    #expect(events.conditions(of: token).contains(.gone))
    Glibc.close(pair.0)
  }

  @Test("two seconds without events cause no wake")
  func idle() throws {
    try events.add(pair.0, as: token, for: .readable)
    let sender = Sender(pair.1, [(2_000, [1])])
    #expect(events.wait(until: nil))
    #expect(events.wakeCount == 1)
    sender.join()
    close()
  }
}
