import GNSSProtocols
import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import ReceiverDrivers
import Testing

@testable import LocationEngine
@testable import LocationService

@Suite("Suggestions for a receiver that does not answer")
struct ReceiverSuggestionTests {
  @Test("the suggestion identifies a wrong line speed and a silent line")
  func suggestions() throws {
    let log = LogPipe()
    let bench = try ServiceBench(log: log.log) { environment in
      environment.receiver = ReceiverLineSettings(speed_baud: 38_400, device: "/dev/ttyS7")
    }
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let program = bench.program()
    for _ in 0..<8 { bench.send(Array(repeating: 0xF8, count: 40)) }
    let noise = try #require(try status(bench, program).receiver)
    #expect(!noise.isAnswering && noise.lastByte?.acquired == bench.stage.now)
    let suggestion = try #require(noise.suggestion)
    #expect(
      suggestion.hasPrefix(
        "the input contains no valid message at 38400 baud: set line_speed_baud in "))
    #expect(log.text.contains("the receiver does not answer: \(suggestion)\n"))
    bench.fix()
    let found = try #require(try status(bench, program).receiver)
    #expect(found.isAnswering && found.suggestion == nil)
    bench.stage.now = bench.stage.now + .seconds(60)
    let silent = try #require(try status(bench, program).receiver?.suggestion)
    #expect(silent.hasPrefix("no input from /dev/ttyS7: check that it is connected,"))
  }

  @Test("the suggestion depends on the received input and the profile's line settings")
  func lineSettings() {
    func suggestion(_ input: ReceiverInput, _ family: ReceiverFamily) -> String {
      ReceiverLineSettings(family: family, speed_baud: 115_200, defaultSpeed_baud: 9_600)
        .suggestion(input)
    }
    #expect(suggestion(.nothing, .ubloxM10).contains("set to 9600 or 115200 baud"))
    #expect(
      suggestion(.unrecognized, .mtk).contains(
        "9600 and 115200 baud are tried alternately"))
    #expect(
      suggestion(.unrecognized, .mtk).contains("set default_line_speed_baud in [receiver]"))
    #expect(suggestion(.nmea, .ubloxM10).contains("no command of family \"ublox-m10\""))
    #expect(suggestion(.nmea, .ubloxM10).contains("family = \"nmea\" in [receiver]"))
    #expect(suggestion(.ubx, .mtk).contains("family = \"ublox-m8\" or \"ublox-m10\""))
    #expect(suggestion(.ubx, .ubloxM10).contains("family = \"ublox-m8\" in [receiver]"))
    #expect(suggestion(.ubx, .ubloxM8).contains("family = \"ublox-m10\" in [receiver]"))
  }

  @Test("the input is classified by the messages of the last seconds")
  func input() {
    var monitor = ReceiverMonitor()
    func update(
      _ second: Int64, lastByte: Int64, sentences: UInt32, frames: UInt32
    ) -> ReceiverInput {
      let report = ReceiverReport(
        activity: .lost, isAcquiring: false, isResponding: false,
        lastByteTime: .boot + .seconds(lastByte),
        lastFixTime: nil, sentences: sentences, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = monitor.update(report, hasBackup: false, at: now)
      return monitor.input(at: now)
    }
    #expect(update(100, lastByte: 1, sentences: 0, frames: 0) == .nothing)
    #expect(update(101, lastByte: 101, sentences: 0, frames: 0) == .unrecognized)
    #expect(update(102, lastByte: 102, sentences: 3, frames: 0) == .nmea)
    #expect(update(103, lastByte: 103, sentences: 3, frames: 1) == .ubx)
    #expect(update(116, lastByte: 116, sentences: 9, frames: 1) == .ubx)
    #expect(update(118, lastByte: 118, sentences: 10, frames: 1) == .nmea)
    #expect(update(140, lastByte: 140, sentences: 10, frames: 1) == .unrecognized)
  }

  @Test("PWR-12: a receiver that answers no command but sends fixes is reported as streaming, once")
  func streaming() {
    var monitor = ReceiverMonitor()
    func update(_ second: Int64, isStreaming: Bool) -> ReceiverMonitor.Change {
      var report = ReceiverReport(
        activity: .lost, isAcquiring: false, isResponding: false,
        lastByteTime: .boot + .seconds(second),
        lastFixTime: nil, sentences: UInt32(second), frames: 0)
      report.isStreaming = isStreaming
      return monitor.update(report, hasBackup: false, at: .boot + .seconds(second)).1
    }
    #expect(update(1, isStreaming: false) == .lost)
    #expect(update(2, isStreaming: true) == .streaming && monitor.state == .streaming)
    #expect(update(3, isStreaming: true) == .nothing && !monitor.isResponding)
    #expect(update(4, isStreaming: false) == .lost && monitor.state == .lost)
  }

  @Test("input from before the loss of a receiver is not used to explain the loss")
  func unplugged() {
    var monitor = ReceiverMonitor()
    func update(
      _ second: Int64, lastByte: Int64, frames: UInt32, _ activity: ReceiverActivity
    ) -> ReceiverInput {
      let report = ReceiverReport(
        activity: activity, isAcquiring: false, isResponding: activity != .lost,
        lastByteTime: .boot + .seconds(lastByte), lastFixTime: nil, sentences: 0, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = monitor.update(report, hasBackup: false, at: now)
      return monitor.input(at: now)
    }
    _ = update(100, lastByte: 100, frames: 7, .running)
    #expect(update(101, lastByte: 100, frames: 7, .lost) == .nothing)
    #expect(update(105, lastByte: 104, frames: 7, .lost) == .unrecognized)
    #expect(update(106, lastByte: 106, frames: 8, .lost) == .ubx)
    // A receiver that is only being started counts as not working yet.
    #expect(update(107, lastByte: 107, frames: 9, .starting) == .ubx)
  }
}
