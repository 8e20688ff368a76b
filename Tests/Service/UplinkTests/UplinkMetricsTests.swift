import LocationTypes
import TestSupport
import Testing
import UplinkPayload

@testable import Uplink

@Suite("Metrics of the uplink") struct UplinkMetricsTests {
  private func status() throws -> UplinkStatus {
    try UplinkStatus(#require(DeviceName("board-1")))
  }

  @Test("Before the first upload, delay and time have no sample")
  func beforeFirst() throws {
    let samples = PrometheusSamples(try status().metrics)
    #expect(samples.problems == [])
    #expect(samples["torpor_uplink_delay_seconds"] == nil)
    #expect(samples["torpor_uplink_uploads_total"] == 0)
  }

  @Test(
    "The age of a fix is that of the boot clock in this boot, of its certain date in an earlier one",
    arguments: [
      // First generation of this boot, date (nil if unknown), whether it is uncertain, expected age in seconds.
      (7, 1_000, false, 100), (7, nil, false, 100), (6, nil, false, 100), (nil, 1_000, false, 30),
      (8, 1_000, false, 30), (8, 1_000, true, nil), (8, nil, false, nil), (8, 1_031, false, nil),
    ] as [(UInt32?, Int64?, Bool, Int64?)])
  func age(boot: UInt32?, date: Int64?, isUncertain: Bool, expected: Int64?) {
    var fix = Fix(
      acquired: .boot + .seconds(50), coordinate: Coordinate(latitude_e9: 1, longitude_e9: 2))
    fix.utc = date.map { UTCTime(microseconds: $0 * 1_000_000) }
    fix.isDateUncertain = isUncertain
    let stored = StoredFix(name: FixName(generation: 7, sequence: 1), fix: fix)
    let age = UplinkController.age(
      of: stored, bootGeneration: boot, at: .boot + .seconds(150),
      utc: UTCTime(microseconds: 1_030_000_000))
    #expect(age == expected.map { .seconds($0) })
  }

  @Test("The file has every value, and replaces an earlier one")
  func file() throws {
    var status = try self.status()
    status.delay = .milliseconds(3_605_250)
    status.lastUpload = UTCTime(microseconds: 1_800_000_000_500_000)
    (status.uploads, status.fixes, status.failures) = (3, 7_200, 2)
    let folder = TestFolder()
    let path = folder.path + "/torpor-uplink.prom"
    #expect(status.writeMetrics(to: path) == 0)
    #expect(status.writeMetrics(to: path) == 0)
    let samples = PrometheusSamples(
      String(decoding: folder.read("torpor-uplink.prom"), as: UTF8.self))
    #expect(samples.problems == [])
    #expect(
      samples.values == [
        "torpor_uplink_delay_seconds": 3_605.25,
        "torpor_uplink_last_upload_timestamp_seconds": 1_800_000_000.5,
        "torpor_uplink_uploads_total": 3, "torpor_uplink_fixes_total": 7_200,
        "torpor_uplink_failures": 2,
      ])
    let page = String(decoding: readFile("\(packageRoot)/Docs/Reference/metrics.md"), as: UTF8.self)
    let rows = page.matches(of: #/\n\| `(torpor_uplink_[a-z_]+)` \| (counter|gauge) \|/#)
    #expect(
      Dictionary(uniqueKeysWithValues: rows.map { (String($0.output.1), String($0.output.2)) })
        == samples.kinds, "the page lists exactly the metrics with their types")
    #expect(status.writeMetrics(to: folder.path + "/missing/torpor-uplink.prom") != 0)
  }
}
