import LocationTypes
import Testing

@testable import LocationService

@Suite("The service's log")
struct ServiceLogTests {
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
}
