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
      facts.receiver = ReceiverTerms(speed_baud: 38_400, device: "/dev/ttyS7")
    }
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let asking = bench.program()
    for _ in 0..<8 { bench.talk(Array(repeating: 0xF8, count: 40)) }
    let noise = try #require(try status(bench, asking).receiver)
    #expect(!noise.answers && noise.heard?.acquired == bench.stage.now)
    let remedy = try #require(noise.remedy)
    #expect(
      remedy.hasPrefix("the input contains no valid message at 38400 baud: set line_speed_baud in ")
    )
    #expect(log.text.contains("the receiver does not answer: \(remedy)\n"))
    bench.fix()
    let found = try #require(try status(bench, asking).receiver)
    #expect(found.answers && found.remedy == nil)
    bench.stage.now = bench.stage.now + .seconds(60)
    let silent = try #require(try status(bench, asking).receiver?.remedy)
    #expect(silent.hasPrefix("no input from /dev/ttyS7: check that it is connected,"))
  }

  @Test("what to put into the profile is told by what is heard and what the profile has")
  func terms() {
    func remedy(
      _ speech: ReceiverSpeech, _ family: String, _ takes: ReceiverTerms.Commands
    ) -> String {
      ReceiverTerms(family: family, takes: takes, speed_baud: 115_200, firstSpeed_baud: 9_600)
        .remedy(speech)
    }
    #expect(remedy(.silence, "ublox-m10", .frames).contains("set to 9600 or 115200 baud"))
    #expect(
      remedy(.noise, "mtk", .sentences).contains(
        "9600 and 115200 baud are tried "
          + "alternately"))
    #expect(
      remedy(.noise, "mtk", .sentences).contains("set default_line_speed_baud in [receiver]"))
    #expect(remedy(.sentences, "ublox-m10", .frames).contains("no command of family \"ublox-m10\""))
    #expect(remedy(.sentences, "ublox-m10", .frames).contains("family = \"nmea\" in [receiver]"))
    #expect(remedy(.frames, "mtk", .sentences).contains("family = \"ublox-m8\" or \"ublox-m10\""))
    #expect(remedy(.frames, "ublox-m10", .frames).contains("family = \"ublox-m8\" in [receiver]"))
    #expect(remedy(.frames, "ublox-m8", .frames).contains("family = \"ublox-m10\" in [receiver]"))
  }

  @Test("what was heard is told by what came in the last seconds")
  func speech() {
    var watch = ReceiverWatch()
    func see(_ second: Int64, heard: Int64, sentences: UInt32, frames: UInt32) -> ReceiverSpeech {
      let report = ReceiverReport(
        activity: .lost, isSearching: false, answers: false, heard: .boot + .seconds(heard),
        fixed: nil, sentences: sentences, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = watch.take(report, hasBackup: false, at: now)
      return watch.speech(at: now)
    }
    #expect(see(100, heard: 1, sentences: 0, frames: 0) == .silence)
    #expect(see(101, heard: 101, sentences: 0, frames: 0) == .noise)
    #expect(see(102, heard: 102, sentences: 3, frames: 0) == .sentences)
    #expect(see(103, heard: 103, sentences: 3, frames: 1) == .frames)
    #expect(see(116, heard: 116, sentences: 9, frames: 1) == .frames)
    #expect(see(118, heard: 118, sentences: 10, frames: 1) == .sentences)
    #expect(see(140, heard: 140, sentences: 10, frames: 1) == .noise)
  }

  @Test("PWR-12: one that answers no command and sends fixes is reported so, once")
  func streaming() {
    var watch = ReceiverWatch()
    func see(_ second: Int64, isStreaming: Bool) -> ReceiverWatch.Change {
      var report = ReceiverReport(
        activity: .lost, isSearching: false, answers: false, heard: .boot + .seconds(second),
        fixed: nil, sentences: UInt32(second), frames: 0)
      report.isStreaming = isStreaming
      return watch.take(report, hasBackup: false, at: .boot + .seconds(second)).1
    }
    #expect(see(1, isStreaming: false) == .lost)
    #expect(see(2, isStreaming: true) == .streaming && watch.state == .streaming)
    #expect(see(3, isStreaming: true) == .nothing && !watch.answers)
    #expect(see(4, isStreaming: false) == .lost && watch.state == .lost)
  }

  @Test("what a receiver said while it worked tells nothing of why it is gone")
  func unplugged() {
    var watch = ReceiverWatch()
    func see(
      _ second: Int64, heard: Int64, frames: UInt32, _ activity: ReceiverActivity
    ) -> ReceiverSpeech {
      let report = ReceiverReport(
        activity: activity, isSearching: false, answers: activity != .lost,
        heard: .boot + .seconds(heard), fixed: nil, sentences: 0, frames: frames)
      let now = Instant.boot + .seconds(second)
      _ = watch.take(report, hasBackup: false, at: now)
      return watch.speech(at: now)
    }
    _ = see(100, heard: 100, frames: 7, .running)
    #expect(see(101, heard: 100, frames: 7, .lost) == .silence)
    #expect(see(105, heard: 104, frames: 7, .lost) == .noise)
    #expect(see(106, heard: 106, frames: 8, .lost) == .frames)
    // One that is only tried has not worked.
    #expect(see(107, heard: 107, frames: 9, .starting) == .frames)
  }
}
