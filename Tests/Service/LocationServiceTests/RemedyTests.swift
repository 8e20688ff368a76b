import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import ReceiverDrivers
import Testing

@testable import LocationEngine
@testable import LocationService

@Suite("What is told of a receiver that does not answer")
struct RemedyTests {
  @Test("a receiver at another speed, or of another family, is told as what it is")
  func remedies() throws {
    let log = LogPipe()
    let bench = try ServiceBench(log: log.log) { facts in
      facts.receiver = ReceiverLineSettings(speed_baud: 38_400, device: "/dev/ttyS7")
    }
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let asking = bench.program()
    for _ in 0..<8 { bench.talk(Array(repeating: 0xF8, count: 40)) }
    let noise = try #require(try status(bench, asking).receiver)
    #expect(!noise.isAnswering && noise.lastByte?.acquired == bench.stage.now)
    let remedy = try #require(noise.suggestion)
    #expect(
      remedy.hasPrefix("the input contains no valid message at 38400 baud: set line_speed_baud in ")
    )
    #expect(log.text.contains("the receiver does not answer: \(remedy)\n"))
    bench.fix()
    let found = try #require(try status(bench, asking).receiver)
    #expect(found.isAnswering && found.suggestion == nil)
    bench.stage.now = bench.stage.now + .seconds(60)
    let silent = try #require(try status(bench, asking).receiver?.suggestion)
    #expect(silent.hasPrefix("no input from /dev/ttyS7: check that it is connected,"))
  }

  @Test("what to put into the profile is told by what is heard and what the profile has")
  func terms() {
    func remedy(
      _ speech: ReceiverInput, _ family: String, _ takes: ReceiverLineSettings.CommandProtocol
    ) -> String {
      ReceiverLineSettings(
        family: family, commandProtocol: takes, speed_baud: 115_200, defaultSpeed_baud: 9_600
      )
      .suggestion(speech)
    }
    #expect(remedy(.nothing, "ublox-m10", .ubx).contains("set to 9600 or 115200 baud"))
    #expect(
      remedy(.unrecognized, "mtk", .nmea).contains(
        "9600 and 115200 baud are tried "
          + "alternately"))
    #expect(
      remedy(.unrecognized, "mtk", .nmea).contains("set default_line_speed_baud in [receiver]"))
    #expect(remedy(.nmea, "ublox-m10", .ubx).contains("no command of family \"ublox-m10\""))
    #expect(remedy(.nmea, "ublox-m10", .ubx).contains("family = \"nmea\" in [receiver]"))
    #expect(remedy(.ubx, "mtk", .nmea).contains("family = \"ublox-m8\" or \"ublox-m10\""))
    #expect(remedy(.ubx, "ublox-m10", .ubx).contains("family = \"ublox-m8\" in [receiver]"))
    #expect(remedy(.ubx, "ublox-m8", .ubx).contains("family = \"ublox-m10\" in [receiver]"))
  }

  @Test("what was heard is told by what came in the last seconds")
  func speech() {
    var watch = ReceiverMonitor()
    func see(_ second: Int64, heard: Int64, sentences: UInt32, frames: UInt32) -> ReceiverInput {
      let report = ReceiverReport(
        activity: .lost, isAcquiring: false, isResponding: false,
        lastByteTime: .boot + .seconds(heard),
        lastFixTime: nil, sentences: sentences, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = watch.update(report, hasBackup: false, at: now)
      return watch.input(at: now)
    }
    #expect(see(100, heard: 1, sentences: 0, frames: 0) == .nothing)
    #expect(see(101, heard: 101, sentences: 0, frames: 0) == .unrecognized)
    #expect(see(102, heard: 102, sentences: 3, frames: 0) == .nmea)
    #expect(see(103, heard: 103, sentences: 3, frames: 1) == .ubx)
    #expect(see(116, heard: 116, sentences: 9, frames: 1) == .ubx)
    #expect(see(118, heard: 118, sentences: 10, frames: 1) == .nmea)
    #expect(see(140, heard: 140, sentences: 10, frames: 1) == .unrecognized)
  }

  @Test("PWR-12: one that answers no command and sends fixes is reported so, once")
  func streaming() {
    var watch = ReceiverMonitor()
    func see(_ second: Int64, isStreaming: Bool) -> ReceiverMonitor.Change {
      var report = ReceiverReport(
        activity: .lost, isAcquiring: false, isResponding: false,
        lastByteTime: .boot + .seconds(second),
        lastFixTime: nil, sentences: UInt32(second), frames: 0)
      report.isStreaming = isStreaming
      return watch.update(report, hasBackup: false, at: .boot + .seconds(second)).1
    }
    #expect(see(1, isStreaming: false) == .lost)
    #expect(see(2, isStreaming: true) == .streaming && watch.state == .streaming)
    #expect(see(3, isStreaming: true) == .nothing && !watch.isResponding)
    #expect(see(4, isStreaming: false) == .lost && watch.state == .lost)
  }

  @Test("what a receiver said while it worked tells nothing of why it is gone")
  func unplugged() {
    var watch = ReceiverMonitor()
    func see(
      _ second: Int64, heard: Int64, frames: UInt32, _ activity: ReceiverActivity
    ) -> ReceiverInput {
      let report = ReceiverReport(
        activity: activity, isAcquiring: false, isResponding: activity != .lost,
        lastByteTime: .boot + .seconds(heard), lastFixTime: nil, sentences: 0, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = watch.update(report, hasBackup: false, at: now)
      return watch.input(at: now)
    }
    _ = see(100, heard: 100, frames: 7, .running)
    #expect(see(101, heard: 100, frames: 7, .lost) == .nothing)
    #expect(see(105, heard: 104, frames: 7, .lost) == .unrecognized)
    #expect(see(106, heard: 106, frames: 8, .lost) == .ubx)
    // One that is only tried has not worked.
    #expect(see(107, heard: 107, frames: 9, .starting) == .ubx)
  }
}
