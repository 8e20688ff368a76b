import BoardHardware
import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import TestSupport
import Testing
import TextFormats

@testable import LocationService

@Suite("The file with the metrics")
struct MetricsFileTests {
  private let folder = TestFolder()

  private func bench(_ path: String? = nil, log: SystemLog = SystemLog(threshold: .critical))
    throws -> ServiceBench
  {
    let bench = try ServiceBench(canIdle: true, log: log) {
      $0.metricsFolder = path ?? folder.path
    }
    // As in the service: a receiver that cannot sleep is not read while no client needs it.
    bench.loop.ignoresUnneededReceiver = true
    return bench
  }

  private var samples: PrometheusSamples {
    PrometheusSamples(String(decoding: folder.read(MetricsFile.name), as: UTF8.self))
  }

  @Test(
    "PWR-15: written in the last turn of a wake, and once a minute while turns follow each other")
  func schedule() {
    func time(_ second: Int64) -> Instant { .boot + .seconds(1_000 + second) }
    var file = MetricsFile(folder: folder.path)
    let first = file.isDue(isLast: false, at: time(0))
    #expect(first, "the first turn")
    _ = file.write("a", at: time(0))
    var due: [Int64] = []
    func turn(_ second: Int64, isLast: Bool, _ file: inout MetricsFile) {
      guard file.isDue(isLast: isLast, at: time(second)) else { return }
      due.append(second)
      _ = file.write("a", at: time(second))
    }
    turn(14, isLast: true, &file)  // too soon
    // A wake with an alarm, some bytes and an acknowledgement.
    for second in 3_600..<3_605 as Range<Int64> { turn(second, isLast: second == 3_604, &file) }
    #expect(due == [3_604])
    due = []
    // Turns that are far apart, and none of them before a sleep.
    for second in [5_000, 5_100, 5_200, 5_300] as [Int64] { turn(second, isLast: false, &file) }
    #expect(due == [5_200])
    due = []
    _ = file.write("a", at: time(8_000))
    for second in 8_001..<8_200 as Range<Int64> { turn(second, isLast: false, &file) }
    #expect(due == [8_061, 8_122, 8_183])
    due = []
    for second in stride(from: 9_000, to: 9_100, by: 1) { turn(Int64(second), isLast: true, &file) }
    #expect(due == [9_000, 9_015, 9_030, 9_045, 9_060, 9_075, 9_090])
  }

  @Test(
    "PWR-15: the file has the present values, other users can read it, and no timer runs for it")
  func values() throws {
    let bench = try bench()
    #expect(bench.deadline == .distantFuture)
    #expect(folder.names == [MetricsFile.name], "the temporary file is renamed")
    var status = stat()
    #expect(unsafe stat(folder.file(MetricsFile.name), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o644)
    #expect(samples["torpor_fixes_total"] == 0 && samples["torpor_clients"] == 0)
    #expect(samples["torpor_newest_fix_age_seconds"] == nil)
    let (control, watch, _) = bench.clientWithFix("tracker")
    #expect(samples["torpor_fixes_total"] == 0, "turns follow, and no minute has passed")
    for _ in 0..<70 {
      bench.fix()
      if let newest = watch.fixes().last { _ = bench.call(.acknowledge(newest.name), control) }
    }
    #expect(samples["torpor_clients"] == 1)
    _ = bench.call(.stopUpdating, control)
    bench.pass(20)
    let last = samples
    #expect(last.problems == [])
    #expect(last["torpor_info{version=\"1.2\",board=\"a board\"}"] == 1)
    #expect(last["torpor_fixes_total"] == 71)
    #expect(last["torpor_ring_fixes"] == 64 && last["torpor_ring_capacity_fixes"] == 64)
    let age = try #require(last["torpor_newest_fix_age_seconds"])
    #expect(age >= 15 && age <= 20)
    #expect(last["torpor_ring_age_seconds"] == age + 63)
    #expect(last["torpor_newest_fix_timestamp_seconds"] == 1_750_000_071)
    #expect((last["torpor_wakes_total{reason=\"bytes\"}"] ?? -1) >= 0)
    #expect((last["torpor_receiver_seconds_total{state=\"tracking\"}"] ?? 0) >= 69)
    #expect(bench.deadline == .distantFuture)
  }

  @Test("PWR-15: with and without the file the service wakes at the same times")
  func wakes() throws {
    func deadlines(_ path: String?) throws -> [Instant] {
      let bench = try ServiceBench(canIdle: true) { $0.metricsFolder = path }
      var all: [Instant] = []
      func note() { all += [min(bench.stage.deadline, bench.deadline)] }
      let (control, _, _) = bench.clientWithFix("tracker")
      _ = bench.call(.setExecution(.background), control)
      _ = bench.call(.allowDeferred(distance: 1e9, timeout: 300), control)
      for second in 0..<400 {
        if second % 3 == 0 { bench.fix() } else { bench.pass(1) }
        note()
      }
      _ = bench.call(.stopUpdating, control)
      for _ in 0..<20 {
        bench.pass(30)
        note()
      }
      return all
    }
    #expect(try deadlines(folder.path) == deadlines(nil))
    #expect(samples["torpor_fixes_total"] == 135)
  }

  @Test("gaps are counted when they are sent")
  func gaps() throws {
    let tracker = try Tracker(.startUpdating)
    tracker.call(.openBackgroundSession)
    tracker.call(.setExecution(.suspended))
    #expect(tracker.run(200) == 200)
    func metrics() -> PrometheusSamples {
      guard case .metrics(let text)? = tracker.call(.getMetrics) else { return .init("") }
      return PrometheusSamples(text)
    }
    #expect(metrics()["torpor_gaps_total"] == 0)
    tracker.call(.setExecution(.background))
    #expect(tracker.words() == ["gap 136", "fixes 64"])
    let counted = metrics()
    #expect(counted.problems == [])
    #expect(counted["torpor_gaps_total"] == 1 && counted["torpor_gap_fixes_total"] == 136)
  }

  @Test(
    "the age of a fix from an earlier boot is that of its UTC, and unknown before the first fix")
  func earlierBoot() throws {
    let before = try bench()
    _ = before.clientWithFix("tracker")
    let next = try ServiceBench(after: before.killed(), boot: .init(id: [2])) {
      $0.metricsFolder = folder.path
    }
    #expect(samples["torpor_ring_fixes"] == 1)
    #expect(samples["torpor_ring_age_seconds"] == nil)
    #expect(samples["torpor_newest_fix_timestamp_seconds"] == 1_750_000_001)
    let (control, _, _) = next.client("tracker")
    _ = next.call(.startUpdating, control)
    next.fix(at: 5, after: 100)
    guard case .metrics(let text)? = next.call(.getMetrics, control) else {
      Issue.record("no metrics")
      return
    }
    #expect(PrometheusSamples(text)["torpor_ring_age_seconds"] == 100)
  }

  @Test("the page lists exactly the metrics with their types, and the dashboard uses only these")
  func page() {
    var metrics = ServiceMetrics(version: "1", board: "a")
    (metrics.oldestAge, metrics.newestAge) = (.seconds(2), .seconds(1))
    (metrics.newestTime, metrics.charge) = (UTCTime(microseconds: 1), 57)
    let boot = FixTime(acquired: .boot, utc: nil)
    metrics.energy = WireEnergy(since: boot, until: boot)
    let samples = PrometheusSamples(metrics.text)
    #expect(samples.problems == [])
    #expect(samples["torpor_battery_charge_ratio"] == 0.57)
    func text(_ name: String) -> String {
      String(decoding: readFile("\(packageRoot)/Docs/Reference/\(name)"), as: UTF8.self)
    }
    let rows = text("metrics.md").matches(of: #/\n\| `(torpor_[a-z_]+)` \| (counter|gauge) \|/#)
    // Those of torpor-uplink are in a file of its own.
    let listed = rows.map { (String($0.output.1), String($0.output.2)) }
      .filter { !$0.0.hasPrefix("torpor_uplink_") }
    #expect(Dictionary(listed) { first, _ in first } == samples.kinds)
    let dashboard = text("metrics-dashboard.json")
    let used = Set(dashboard.matches(of: #/torpor_[a-z_]+/#).map { String($0.output) })
    #expect(used.count > 5 && used.isSubset(of: samples.kinds.keys), "\(used)")
    let limits = JSONLimits(depth: 16, members: 64, nodes: 4_096, nameLength: 64)
    #expect((try? JSONDocument(Array(dashboard.utf8), limits: limits))?.root.isObject == true)
  }

  @Test("a folder that cannot be written is logged once, and the file appears when it can be")
  func unwritable() throws {
    let log = LogPipe()
    let bench = try bench(folder.file("absent"), log: log.log)
    for _ in 0..<3 { bench.pass(20) }
    let lines = log.text.split(separator: "\n").filter { $0.contains("torpor.prom") }
    #expect(
      lines.count == 1
        && lines[0].contains(
          "cannot be written: No such file or directory; create the folder, or name another one"),
      "\(lines)")
    folder.makeFolders("absent")
    bench.pass(20)
    #expect(!folder.read("absent/\(MetricsFile.name)").isEmpty)
  }

  @Test("a failure is one of the file only, and the previous file stays")
  func failure() throws {
    var file = MetricsFile(folder: folder.path)
    #expect(file.write("old\n", at: .boot) == nil)
    // A folder in the place of the temporary file fails like a full disk: before the rename.
    folder.makeFolders(MetricsFile.name + ".new/inner")
    let line = file.write("new\n", at: .boot + .seconds(15))
    #expect(line?.contains("torpor.prom' cannot be written: ") == true, "\(line ?? "")")
    #expect(file.write("new\n", at: .boot + .seconds(30)) == nil, "logged once")
    #expect(folder.read(MetricsFile.name) == Array("old\n".utf8))
    folder.remove(MetricsFile.name + ".new")
    #expect(file.write("new\n", at: .boot + .seconds(45)) == nil)
    #expect(folder.read(MetricsFile.name) == Array("new\n".utf8))
  }
}
