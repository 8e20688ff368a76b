import LinuxHAL
import LocationTypes
import Testing

@testable import LocationService

@Suite("A requested flush, and the energy ledger, without a server")
struct ServicePowerTests {
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
}
