import Foundation
import LocationSimulation
import TestSupport
import Testing

@testable import torpor

@Suite("torpor tune", .tags(.process))
struct TuneTests {
  static let track = OptimumCommandTests.track(300)

  @Test("each setting has a row and each use case a recommendation")
  func rows() {
    let folder = Command.directory()
    for name in ["a.csv", "b.csv"] { Command.write(Self.track, to: "\(folder)/\(name)") }
    let result = Command.run([
      "tune", "--track", "\(folder)/a.csv", "\(folder)/b.csv", "--battery", "1Wh",
    ])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    // A track: its name, headers, 18 settings, and an empty line after name and table.
    // After the last one, the meaning of the columns.
    #expect(lines.count == 2 * 22 + 3 + 1 + 8 + 1)
    #expect(lines[44].hasPrefix("violated: share of the time") && lines[45].hasPrefix("p95: "))
    #expect(
      lines[0] == "board simulated: a.csv, 5 min" && lines[22] == "board simulated: b.csv, 5 min")
    #expect(lines[2].hasSuffix("battery life"))
    #expect(Set(lines[2..<21].map(\.count)).count == 1)
    #expect(lines[3].hasPrefix("standard, best             no "))
    #expect(lines[16].hasPrefix("deferred 10 min            yes"))
    #expect(lines[48].hasPrefix("  Every fix immediately: standard, best, "))
    #expect(lines[49].hasPrefix("  Current location within 50 m: "))
    #expect(lines[49].contains("violated "))
  }

  @Test("--json prints one line per result; a board that cannot batch has two settings fewer")
  func json() throws {
    let arguments = ["tune", "--track", "-", "--json", "--noise", "none"]
    let result = Command.run(arguments, input: Self.track)
    let lines = result.output.split(separator: "\n")
    #expect(result.status == 0 && lines.count == 18 + 8)
    #expect(
      lines[0].hasPrefix(
        #"{"kind":"run","track":"-","board":"simulated","service":"standard","#
          + #""motion_line":false,"duration_s":"#))
    #expect(lines[2].contains(#""accuracy_m":50,"#) && lines[2].contains(#""broken_share":"#))
    #expect(lines[10].contains(#""batching":true"#) && lines[12].contains(#""batching":false"#))
    #expect(lines[18].hasPrefix(#"{"kind":"pick","board":"simulated","question":"every_fix""#))
    #expect(!result.output.contains("battery"))
    #expect(Command.run(arguments, input: Self.track).output == result.output)
    let streaming = Command.run(arguments + ["--board", "zero2w-pa1616s"], input: Self.track)
    #expect(streaming.output.split(separator: "\n").count == 16 + 8, "\(streaming.errors)")
  }

  @Test("--uplink adds radio and hold to the total, and defers for the time between uploads")
  func uplink() throws {
    let folder = Command.directory()
    // 70 min: with the timeout of an hour, a first delivery and one upload after it.
    Command.write(OptimumCommandTests.track(4_200), to: "\(folder)/a.csv")
    let profile = "\(packageRoot)/Boards/imx6ul-max-m10s/profile.toml"
    func runs(_ options: [String]) throws -> [[String: Any]] {
      let result = Command.run(
        ["tune", "--track", "\(folder)/a.csv", "--board", profile, "--json", "--noise", "none"]
          + options)
      #expect(result.status == 0, "\(result.errors)")
      return try result.output.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
    }
    func value(_ run: [String: Any], _ name: String) -> Double { run[name] as? Double ?? -1 }
    let all = try runs(["--uplink", "lte-m", "--every", "1h"])
    let plain = try runs([])
    #expect(all.count == plain.count)
    for (run, without) in zip(all, plain) where run["kind"] as? String == "run" {
      #expect(run["uplink"] as? String == "lte-m" && value(run, "every_s") == 3_600)
      let radio = value(run, "uploads") * 550 / value(run, "duration_s")
      #expect(abs(value(run, "radio_mw") - radio) < 1e-6, "\(run)")
      let parts = value(run, "receiver_mw") + value(run, "board_mw") + value(run, "radio_mw")
      #expect(abs(value(run, "together_mw") - parts) < 1e-6)
      #expect(without["uplink"] == nil && without["radio_mw"] == nil)
      if run["service"] as? String == "deferred" { #expect(value(run, "uploads") >= 2) }
    }
    let nb = try runs(["--uplink", "nb-iot", "--every", "1h"])
    #expect(value(nb[0], "together_mw") < value(all[0], "together_mw"))
    let text = Command.run(
      ["tune", "--track", "\(folder)/a.csv", "--board", profile, "--uplink", "wifi"])
    #expect(text.output.contains("a.csv, 1 h 10 min, uploads by Wi-Fi every 1 h\n"))
    #expect(text.output.contains("deferred 1 h, batching"))
    #expect(text.output.contains("radio mW") && text.output.contains("uploads"))
  }

  /// A sum of one second at `power_mW`.
  static func sum(_ setting: TuneSetting, _ power_mW: Double) -> TuneSum {
    var run = TuneRun(setting: setting, summary: .init(), error: nil)
    run.summary.duration = .seconds(1)
    run.summary.energy = .init()
    run.summary.energy?.board_mJ = power_mW
    var sum = TuneSum()
    sum.add(run)
    return sum
  }

  @Test("the lowest power is best; a motion sensor only if it saves more than 1 %")
  func picks() {
    let settings = TuneSetting.all(hasBatch: true)
    #expect(settings.count == 18)
    func best(sensing: Double, batching: Double) -> [TuneRecommendation] {
      let sums = settings.map {
        let isBatching = $0.batches && $0.useCase == .wholeTrack
        return Self.sum($0, ($0.hasMotionLine ? sensing : 100) + (isBatching ? batching : 0))
      }
      return TuneRecommendation.best(of: settings, sums)
    }
    for pick in best(sensing: 99, batching: 0) { #expect(!pick.setting.hasMotionLine) }
    for pick in best(sensing: 98.9, batching: 0) {
      #expect(pick.setting.hasMotionLine && pick.sum.mean_mW == 98.9)
    }
    let deferred = best(sensing: 100, batching: 1).first { $0.useCase == .wholeTrack }
    #expect(
      deferred?.setting.useCase == .wholeTrack && deferred?.setting.batches == false
        && deferred?.others.count == 3)
  }

  @Test("a setting that exceeds its bound more than 0.5 % of the time is marked and not picked")
  func boundExceeded() throws {
    let settings = TuneSetting.all(hasBatch: false)
    // The 50 m bound: cheap and violated with a motion line, expensive and met without one.
    // The 100 m bound: violated in both cases.
    func run(_ setting: TuneSetting, _ share: Double) -> TuneRun {
      var run = TuneRun(setting: setting, summary: .init(), error: nil)
      run.summary.duration = .seconds(1)
      run.summary.energy = .init()
      run.summary.energy?.board_mJ =
        setting.useCase == .everyFix ? 100 : setting.hasMotionLine ? 10 : 50
      guard setting.useCase.bound_m != nil else { return run }
      run.error = BoundSummary()
      run.error?.seconds = 10_000
      run.error?.exceededSeconds = Int((share * 10_000).rounded())
      return run
    }
    let runs = settings.map { setting in
      switch setting.useCase {
      case .within(50): run(setting, setting.hasMotionLine ? 0.0707 : 0.005)
      case .within(100): run(setting, 0.0051)
      case _: run(setting, 0)
      }
    }
    let picks = TuneRecommendation.best(
      of: settings,
      runs.map {
        var sum = TuneSum()
        sum.add($0)
        return sum
      })
    func pick(_ useCase: TuneUseCase) throws -> TuneRecommendation {
      try #require(picks.first { $0.useCase == useCase })
    }
    let near = try pick(.within(50))
    #expect(near.setting.useCase == .within(50) && !near.setting.hasMotionLine)
    #expect(near.others.map(\.setting.hasMotionLine) == [true])
    #expect(try pick(.within(100)).setting == near.setting)
    #expect(try pick(.within(200)).setting.hasMotionLine)
    // Only immediate delivery of every fix meets the 50 m bound.
    let broken = runs.map { $0.setting.useCase == .within(50) ? run($0.setting, 0.01) : $0 }
    let fallback = TuneRecommendation.best(
      of: settings,
      broken.map {
        var sum = TuneSum()
        sum.add($0)
        return sum
      })
    #expect(fallback.first { $0.useCase == .within(50) }?.setting.useCase == .everyFix)
    var report = TuneReport("b", nil, isJSON: false, style: Style(isColoured: false))
    report.add(runs, "way.csv", .seconds(1))
    report.finish(picks)
    let text = String(decoding: report.takeBytes(), as: UTF8.self)
    #expect(text.contains(" ! 7.07 %") && text.contains("   0.50 %"), "\(text)")
    #expect(text.contains("\n! violated for more than 0.5 % of the time\n"))
    #expect(text.contains("with a motion line 10.00 mW, violated ! 7.07 %"))
    var barely = try #require(runs.first { $0.setting.useCase == .within(100) })
    barely.error?.seconds = 100_000
    barely.error?.exceededSeconds = 502
    report.add([barely], "way.csv", .seconds(1))
    #expect(String(decoding: report.takeBytes(), as: UTF8.self).contains(" ! 0.502 %"))
    var json = TuneReport("b", nil, isJSON: true, style: Style(isColoured: false))
    json.add(runs, "way.csv", .seconds(1))
    let lines = String(decoding: json.takeBytes(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count { $0.contains(#""broken_too_often":true"#) } == 3)
  }

  @Test("PWR-3: a cheaper setting of a more demanding use case is picked, but not the reverse")
  func moreDemanding() {
    let settings = TuneSetting.all(hasBatch: false)
    func picked(_ cheap: TuneUseCase, _ power_mW: Double = 90) -> [TuneUseCase] {
      TuneRecommendation.best(
        of: settings, settings.map { Self.sum($0, $0.useCase == cheap ? power_mW : 100) }
      )
      .filter { $0.setting.useCase == cheap }.map(\.useCase)
    }
    #expect(
      picked(.everyFix) == [
        .everyFix, .within(50), .within(100), .within(200), .within(500), .wholeTrack,
      ])
    #expect(picked(.everyFix, 99.9999) == picked(.everyFix), "PWR-3: however little it saves")
    #expect(picked(.everyFix, 100) == [.everyFix])
    #expect(picked(.within(100)) == [.within(100), .within(200), .within(500)])
    #expect(picked(.wholeTrack) == [.wholeTrack])
    #expect(picked(.significantChange) == [.significantChange])
    #expect(picked(.visits) == [.visits])
  }

  @Test(
    "invalid arguments are rejected with the expected values",
    arguments: [
      ([], 64, "--track"), (["--track"] + Array(repeating: "a", count: 17), 64, "at most 16"),
      (["--track", "-", "--battery", "3Ah"], 64, "a charge needs a voltage"),
      (["--track", "-", "--every", "1h"], 64, "needs --uplink"),
      (["--track", "-", "--uplink", "wifi", "--every", "2d"], 64, "10 s to 24 h"),
      (["--track", "-", "--uplink", "lora"], 64, "lte-m"),
      (["--track", "-"], 65, "standard input is empty"),
      (["--track", "/nonexistent/a.csv"], 66, "there is no such file"),
      (["--track", "-", "--board", "none"], 78, "none"),
    ] as [([String], Int32, String)])
  func refused(arguments: [String], status: Int32, message: String) {
    let result = Command.run(["tune"] + arguments)
    #expect(result.status == status && result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test("its help fits a terminal")
  func help() {
    for line in Tune.helpMessage().split(separator: "\n") { #expect(line.count <= 80) }
  }
}
