import CLinux
import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Pulse per second on Linux", .tags(.realTime)) struct PulseTests {
  private let terminal = Terminal()
  private let events: EventWait
  private let count = PulsingPins.Count()
  private let senders = Senders()

  /// Threads that send; their end is awaited at the end of a test.
  private final class Senders {
    var all: [Sender] = []
    deinit { for sender in all { sender.join() } }
  }

  init() throws { events = try EventWait() }

  /// Pins with only a pulse line, which count their calls.
  private struct PulsingPins: LinuxPins {
    final class Count {
      var releases = 0
      var reads = 0
      var pulse_ns: Int64?
    }
    let count: Count
    mutating func consumePulses() -> Int64? {
      count.reads += 1
      defer { count.pulse_ns = nil }
      return count.pulse_ns
    }
    mutating func prepareForSuspend() { count.releases += 1 }
    mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }
    mutating func consumeChanges(from events: EventWait) -> PinChanges { PinChanges() }
    mutating func setSessionLight(_ isOn: Bool) -> Bool { true }
    mutating func rearm() {}
  }

  /// Sends bytes after 40 ms, while the board waits.
  private func send(_ text: String) {
    senders.all.append(Sender(terminal.descriptor, [(40, Array(text.utf8))]))
  }

  @Test("STD-7: a pulse is reported once, with its epoch's first bytes and its timestamp")
  func pulse() throws {
    var board = LinuxBoard(
      events, line: try SerialLine(opening: terminal.path, speed: 9_600, in: events),
      pins: PulsingPins(count: count))
    usleep(40_000)
    let before = board.now
    count.pulse_ns = clinux_monotonic_us() * 1_000
    let after = board.now
    send("x")
    let first = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    let pulse = try #require(first.pulse)
    #expect(first.reason == .bytes && count.reads == 1)
    // Stamp and conversion are exact to a few microseconds.
    let tolerance = Interval(microseconds: 100)
    #expect(pulse + tolerance >= before && pulse <= after + tolerance)
    _ = try board.read()
    send("y")
    let second = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    #expect(second.reason == .bytes && second.pulse == nil && count.reads == 2)
    _ = try board.read()
    #expect(board.wait(in: .idle, until: soon(10), wakesOnInput: true).reason == .alarm)
    #expect(count.reads == 2, "a wait that ends without bytes reads no pulse")
  }

  @Test("STD-7: a pulse over a second before an epoch's first bytes is not reported")
  func oldPulse() throws {
    var board = LinuxBoard(
      events, line: try SerialLine(opening: terminal.path, speed: 9_600, in: events),
      pins: PulsingPins(count: count))
    for (age_ms, isReported) in [(1_100, false), (800, true)] as [(Int64, Bool)] {
      count.pulse_ns = (clinux_monotonic_us() - age_ms * 1_000) * 1_000
      send("x")
      let report = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
      #expect(report.reason == .bytes && (report.pulse != nil) == isReported, "\(age_ms) ms")
      _ = try board.read()
    }
  }

  @Test("STD-7: a pulse before bytes that came while the service was busy is not reported")
  func busy() throws {
    var board = LinuxBoard(
      events, line: try SerialLine(opening: terminal.path, speed: 9_600, in: events),
      pins: PulsingPins(count: count))
    usleep(40_000)
    terminal.send("x")
    usleep(5_000)
    // The pulse of the next second, which came before the service was ready.
    count.pulse_ns = clinux_monotonic_us() * 1_000
    let report = board.wait(in: .idle, until: soon(1_000), wakesOnInput: true)
    #expect(report.reason == .bytes && report.pulse == nil && count.pulse_ns == nil)
  }

  @Test("no pulse is read within an epoch: it was reported with the first byte")
  func withinEpoch() {
    var burst = BurstTiming()
    let begin = Instant(seconds: 10)
    #expect(burst.isEpochStart(at: begin))
    _ = burst.didWake(at: begin)
    #expect(!burst.isEpochStart(at: begin + .milliseconds(29)))
    _ = burst.didWake(at: begin + .milliseconds(29))
    #expect(!burst.isEpochStart(at: begin + .milliseconds(58)))
    #expect(burst.isEpochStart(at: begin + .milliseconds(59)))
  }

  @Test("the pulse line is released before a suspend, and only then")
  func released() throws {
    let kernel = FakeKernel()
    func board(_ suspender: BoardSuspender) -> LinuxBoard<PulsingPins> {
      LinuxBoard(
        events, line: SerialLine(noneIn: events), pins: PulsingPins(count: count),
        suspender: suspender)
    }
    var sleeper = board(.quick(kernel))
    #expect(sleeper.wait(in: .idle, until: soon(10), wakesOnInput: false).reason == .alarm)
    #expect(count.releases == 0)
    kernel.whileSuspended = { usleep(1_000) }
    _ = sleeper.wait(in: .suspended, until: soon(200), wakesOnInput: false)
    #expect(kernel.suspends >= 1 && count.releases >= kernel.suspends)
    let releases = count.releases
    kernel.remove("/sys/power/state")
    let awake = BoardSuspender.quick(kernel)
    var other = board(awake)
    #expect(other.wait(in: .suspended, until: soon(10), wakesOnInput: false).reason == .alarm)
    #expect(count.releases == releases && awake.blocker == .suspendUnsupported)
  }
}
