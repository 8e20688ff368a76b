import LinuxHAL
import LocationTypes
import Testing

@testable import LocationService

@Suite("A requested flush, and the service's log and power without a server")
struct FlushRequestTests {
  @Test("a flush is started once per request and reported once, also if requested again meanwhile")
  func requests() throws {
    var power = ServicePower(
      LocationServer.Environment(version: "1", board: "b", clients: 1), try EventWait())
    var results = [power.startFlush(), power.finishFlush()]
    #expect(results == [false, false])
    power.requestFlush()
    power.requestFlush()
    #expect(power.flush == .requested)
    results = [power.finishFlush(), power.startFlush(), power.startFlush()]
    #expect(results == [false, true, false])
    power.requestFlush()
    results = [power.startFlush(), power.finishFlush(), power.finishFlush()]
    #expect(results == [true, true, false] && power.flush == .idle)
  }

  @Test("the energy ledger begins with the first turn")
  func ledger() throws {
    var power = ServicePower(
      LocationServer.Environment(version: "1", board: "b", clients: 1), try EventWait())
    let start = Instant.boot + .seconds(5)
    #expect(power.ledger(at: start) == nil)
    power.openLedger(at: start)
    power.openLedger(at: start + .seconds(60))
    let ledger = power.ledger(at: start + .seconds(90))
    #expect(ledger?.begin == start && ledger?.end == start + .seconds(90))
  }

  @Test("RES-7: lines over a rate are counted, and the count is written when the rate permits it")
  func log() {
    let pipe = LogPipe()
    let log = ServiceLog(pipe.log)
    let now = Instant.boot + .seconds(1)
    for number in 0..<6 { log.write(.notice, of: 4_711, at: now, "line \(number)") }
    #expect(log.hasSuppressedLines)
    log.writeSuppressedCount(at: now)
    #expect(pipe.text.split(separator: "\n").count == 4, "the count waits as well")
    let due = log.deadline(at: now)
    #expect(due > now && due < .distantFuture)
    log.writeSuppressedCount(at: due)
    #expect(pipe.text.contains("2 lines about clients were omitted"))
    #expect(!log.hasSuppressedLines && log.deadline(at: due) == .distantFuture)
    log.write(.error, "a line of the service is not limited")
    #expect(pipe.text.contains("is not limited"))
  }

  @Test("the UTC offset follows only fixes with a certain date")
  func utcOffset() {
    var offset = UTCOffset()
    var fix = Fix(
      acquired: .boot + .seconds(10), coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
    offset.update(from: fix)
    #expect(offset.utc(.boot) == nil)
    fix.utc = UTCTime(microseconds: 1_750_000_010_000_000)
    offset.update(from: fix)
    #expect(offset.utc(.boot) == UTCTime(microseconds: 1_750_000_000_000_000))
    fix.isDateUncertain = true
    fix.utc = UTCTime(microseconds: 0)
    offset.update(from: fix)
    #expect(offset.utc(.boot) == UTCTime(microseconds: 1_750_000_000_000_000))
  }
}
