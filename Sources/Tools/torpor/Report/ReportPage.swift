import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats

/// The HTML report of a simulated run (`torpor simulate --report`): one self-contained page without script.
///
/// All charts are drawn as SVG from ``Chart``; their values are also in the page as a table, and as JSON for programs.
struct ReportPage: ~Copyable {
  /// The file, opened before the run, so that one that cannot be created is reported early.
  var output: Output
  let board: String
  /// File name of the track, or the scenario.
  let routeName: String
  /// The client's request, in one line.
  let request: String
  let service: ScriptedService
  /// All settings of the run, sufficient to repeat it.
  let settings: [(name: String, value: String)]
  /// True positions of the device.
  let track: Track
  /// Battery whose life is reported.
  let battery: Battery?
  /// Charge at the start of the run, percent; nil if the run does not simulate the battery.
  let charge: Double?
  var samples: RunSamples
  /// Totals of the run, and compliance with the accuracy bound, if the client has one.
  var summary = TraceSummary()
  var boundResult: (summary: OptimumComparison, errors: BoundTally)?

  var startCharge: Double { charge ?? 100 }
  var energy: TraceEnergy { summary.energy ?? TraceEnergy() }
  /// Mean power of this run, and with gpsd.
  var used_mW: Double { (energy.receiver_mJ + energy.board_mJ) / seconds }
  var gpsd_mW: Double { (energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ) / seconds }
  private var seconds: Double { max(summary.duration.seconds, 1e-9) }

  /// Writes the report and replaces the file atomically.
  ///
  /// - Throws: As ``Output/finish()``; an existing file then remains unchanged.
  mutating func commit(
    _ summary: TraceSummary, _ boundResult: (summary: OptimumComparison, errors: BoundTally)?
  ) throws {
    self.summary = summary
    self.boundResult = boundResult
    samples.finish(at: .boot + summary.duration)
    try output.write(Array(page.text.utf8))
    try output.finish()
  }

  /// The template of the page. Its icon keeps browsers from requesting favicon.ico.
  private var page: HTML {
    let (charts, rows) = (charts, rows)
    let settings = settings.map { ("\($0.name)" as HTML, [$0.value]) }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head><meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; img-src data:"/>
      <meta name="generator" content="torpor \(Torpor.version)"/>
      <link rel="icon" href="data:,"/>
      <title>\(routeName) on \(board)</title>
      <style>
      \(HTML(markup: ReportPage.style))
      </style></head>
      <body><main>
      <p class="note">Simulated run</p>
      <h1><bdi>\(routeName)</bdi> on <bdi>\(board)</bdi></h1>
      <p class="lead">\(HumanFormat.duration(summary.duration)); \(request). \
      The track starts at \(HumanFormat.dateAndTime(track.firstTime)).</p>
      <dl class="tiles">\(tiles)</dl>
      <section><h2>Track</h2>\(map.html)</section>
      <section><h2>Over time</h2>
      <p class="lead">Time since the start of the run, in \(Axis.timeUnit(summary.duration)).</p>\
      \(charts.map(\.html))\(notices)
      <details><summary>Table of values</summary><div class="scroll">\
      \(Chart.table(charts, rows))</div></details></section>
      <section><h2>Energy</h2>\(energySection)</section>
      <details><summary>Settings</summary>\(HTML.table(["setting", "value"], settings))</details>
      <p class="note">Created by torpor simulate, version \(Torpor.version).</p>
      </main>
      <script type="application/json" id="data">\(data(charts, rows))</script>
      </body>
      </html>

      """
  }

  /// The most important numbers of the summary, the ratio of all energy to the optimum first.
  private var tiles: [HTML] {
    let saved = gpsd_mW > 0 ? HumanFormat.share(gpsd_mW - used_mW, of: gpsd_mW) : "-"
    let lost = summary.lost > 0 ? HumanFormat.count(Int(clamping: summary.lost)) : "none"
    let delivered = SummaryText.delivered(summary, by: service)
    let result = boundResult?.summary ?? OptimumComparison()
    let violation = SummaryText.violation(result).map { "; \($0)" } ?? ""
    func tile(_ name: String, _ value: String, _ note: String) -> HTML {
      """

      <div class="tile"><dt>\(name)</dt><dd class="big">\(value)</dd>\
      <dd class="note">\(note)</dd></div>
      """
    }
    func ratio(_ name: String, _ ratio: Double?, _ used_mJ: Double, _ optimum_mJ: Double) -> HTML? {
      let energies = "\(HumanFormat.energy(used_mJ)); optimum \(HumanFormat.energy(optimum_mJ))"
      return ratio.map { tile(name, SummaryText.ratio($0), energies + violation) }
    }
    return [
      ratio("Energy / optimum", result.totalRatio, result.total_mJ, result.totalOptimum_mJ),
      tile(
        "Mean power", HumanFormat.power(used_mW, places: 1),
        "\(saved) saved; with gpsd \(HumanFormat.power(gpsd_mW, places: 1))"),
      battery.map {
        tile(
          "Battery life", $0.lifeText(at: used_mW, charge: startCharge),
          "\($0.text(startCharge)); with gpsd \($0.lifeText(at: gpsd_mW, charge: startCharge))")
      },
      boundResult.map { _ in
        tile(
          "Error above \(HumanFormat.distance(result.bound_m))",
          HumanFormat.decimal(result.error.exceededShare * 100, places: 2) + " %",
          "of the time; p95 \(HumanFormat.distance(result.error.p95_m)), "
            + "worst \(HumanFormat.distance(result.error.maximum_m))")
      },
      ratio("Receiver energy / optimum", result.ratio, result.receiver_mJ, result.optimum_mJ),
      tile(
        "Fixes", HumanFormat.count(summary.fixes),
        service == .updates
          ? "delivered \(delivered); \(lost) lost" : "service delivered: \(delivered)"),
      tile(
        "Board awake", HumanFormat.duration(summary.awakeTime),
        "woke \(HumanFormat.times(summary.hostWakes))"),
    ].compactMap { $0 }
  }

  /// The notices of services: visits, regions, pauses.
  private var notices: HTML? {
    guard !samples.notices.isEmpty else { return nil }
    let rows = samples.notices.map { moment, notice -> (HTML, [String]) in
      let time = HumanFormat.clock(moment.microseconds / 1_000_000)
      return ("\(time) <b>\(notice.name)</b>", [TraceText.text(notice)])
    }
    let more = summary.notices - (summary.noticesByKind[.report] ?? 0) - rows.count
    let last: HTML? = more > 0 ? "<p class=\"lead\">and \(HumanFormat.count(more)) more</p>" : nil
    return "\n<h3>Notices to the client</h3>\(HTML.table(["time", "notice"], rows))\(last)"
  }

  /// The values of the charts as JSON, without characters that markup needs.
  private func data(_ charts: [Chart], _ rows: [String]) -> HTML {
    var json = JSONOutput()
    json.object { json in
      json.member("duration_s", summary.duration.microseconds, scale: 6)
      json.member("interval_s", samples.rowInterval.microseconds, scale: 6)
      json.list("from") { json in for row in rows { json.element(text: row) } }
      json.list("charts") { json in for chart in charts { json.element(chart.write) } }
    }
    return HTML(
      markup: json.text.string.replacing("&", with: "\\u0026").replacing("<", with: "\\u003c"))
  }
}
