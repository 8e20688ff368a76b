import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@Suite("Reference clock of chronyd: message and socket")
struct RefclockTests {
  private let folder = TestFolder()
  private var path: String { folder.file("sock") }
  private let sample = RefclockSample(
    wallTime_ns: 1_750_000_000_123_456_789, offset_ns: -1_500_000_000)

  private func integer<Value: FixedWidthInteger>(
    _ bytes: [UInt8], at offset: Int, _: Value.Type
  ) -> Value {
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
  }

  @Test("a message has the 40 bytes of chrony's struct sock_sample")
  func layout() {
    let bytes = sample.message
    #expect(bytes.count == RefclockSample.size && bytes.count == 40)
    #expect(MemoryLayout<timeval>.size == 16, "the layout of a 64-bit machine")
    #expect(integer(bytes, at: 0, Int64.self) == 1_750_000_000)
    #expect(integer(bytes, at: 8, Int64.self) == 123_456)
    #expect(Double(bitPattern: integer(bytes, at: 16, UInt64.self)) == -1.5)
    #expect(integer(bytes, at: 24, Int32.self) == 0, "whole seconds are in the offset")
    #expect(integer(bytes, at: 28, Int32.self) == 0)
    #expect(integer(bytes, at: 36, Int32.self) == 0x534f_434b)
  }

  @Test("a leap second is 1 or 2", arguments: [RefclockSample.Leap.inserted, .deleted])
  func leap(_ leap: RefclockSample.Leap) {
    let value: Int32 = leap == .inserted ? 1 : 2
    let bytes = RefclockSample(wallTime_ns: 0, offset_ns: 0, leap: leap).message
    #expect(integer(bytes, at: 28, Int32.self) == value)
  }

  @Test("a system clock before 1970 has no negative microseconds")
  func beforeEpoch() {
    let bytes = RefclockSample(wallTime_ns: -1, offset_ns: 0).message
    #expect(integer(bytes, at: 0, Int64.self) == -1)
    #expect(integer(bytes, at: 8, Int64.self) == 999_999)
  }

  @Test("samples arrive one by one")
  func delivery() throws {
    let chrony = FakeChrony(path)
    let socket = RefclockSocket(path: path)
    for _ in 0..<3 { try socket.send(sample, at: .boot) }
    #expect(chrony.messages == [[UInt8]](repeating: sample.message, count: 3))
  }

  @Test("after chronyd was restarted, the next sample goes to its new socket")
  func restart() throws {
    var chrony = FakeChrony(path)
    let socket = RefclockSocket(path: path)
    try socket.send(sample, at: .boot)
    chrony = FakeChrony(path)
    try socket.send(sample, at: Instant(seconds: 1))
    #expect(chrony.messages.count == 1)
  }

  @Test("while chronyd is down, samples are lost and attempts are at most 16 s apart")
  func down() throws {
    let socket = RefclockSocket(path: path)
    #expect(throws: RefclockSocket.Failure.missing) { try socket.send(sample, at: .boot) }
    var chrony = FakeChrony(path)
    #expect(throws: RefclockSocket.Failure.missing) {
      try socket.send(sample, at: Instant(seconds: 0.9))
    }
    try socket.send(sample, at: Instant(seconds: 1))
    chrony.kill()
    var now = Instant(seconds: 2)
    for _ in 0..<100 {
      #expect(throws: RefclockSocket.Failure.abandoned) { try socket.send(sample, at: now) }
      now = now + .seconds(1)
    }
    chrony = FakeChrony(path)
    var lost = 0
    while chrony.messages.isEmpty {
      do { try socket.send(sample, at: now) } catch { lost += 1 }
      now = now + .seconds(1)
    }
    #expect(lost <= 16, "lost \(lost)")
  }

  @Test("a chronyd that does not read blocks nothing")
  func full() throws {
    let chrony = FakeChrony(path)
    let socket = RefclockSocket(path: path)
    var failure: RefclockSocket.Failure?
    for _ in 0..<10_000 where failure == nil {
      do { try socket.send(sample, at: .boot) } catch { failure = error }
    }
    #expect(failure == .full)
    #expect(!chrony.messages.isEmpty)
    try socket.send(sample, at: .boot)
  }

  @Test("a path that is no address of a socket is refused")
  func invalidPath() {
    for path in ["", "relative", "/" + String(repeating: "a", count: 200)] {
      let socket = RefclockSocket(path: path)
      #expect(throws: RefclockSocket.Failure.invalidPath) { try socket.send(sample, at: .boot) }
    }
  }

  @Test("each reason says what to do")
  func reasons() {
    let all: [RefclockSocket.Failure] = [.missing, .abandoned, .forbidden, .full, .invalidPath]
    for failure in all { #expect(failure.description.contains(":"), "\(failure)") }
    #expect(RefclockSocket.Failure.other(EIO).description == "Input/output error")
  }

  @Test("the wall clock at boot plus the boot clock is the wall clock")
  func wallClock() {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    let clock = SystemClock()
    let wall_ns = clock.wallTimeAtBoot_ns + clock.now.microseconds * 1_000
    let difference_ns = wall_ns - (Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    #expect(difference_ns.magnitude < 50_000_000, "\(difference_ns) ns")
    #expect(clock.wallTime.microseconds % 1_000_000 == 0)
  }
}
