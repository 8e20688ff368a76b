import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats

/// The HTML report of a simulated run (`torpor simulate --report`): one self-contained page without network access.
///
/// All charts are drawn as SVG from ``Chart``; their values are also in the page as a table and as JSON, from which a
/// small script shows the values below the pointer.
struct ReportPage {
  /// Name of the board.
  var board: String
  /// File name of the track, or the scenario.
  var routeName: String
  /// The client's request, in one line.
  var request: String
  /// Service that the client used.
  var service = ScriptedService.updates
  /// All settings of the run, sufficient to repeat it.
  var settings: [(name: String, value: String)] = []
  /// True positions of the device.
  var track: Track
  /// Battery whose life is reported.
  var battery: Battery?
  /// Charge at the start of the run, percent; nil if the run does not simulate the battery.
  var charge: Double?
  /// Totals of the run.
  var summary = TraceSummary()
  /// Downsampled data of the run, for map and charts.
  var samples: RunSamples
  /// Compliance with the accuracy bound, if the client has one.
  var boundResult: (summary: OptimumComparison, errors: BoundTally)?

  /// The page, UTF-8.
  var bytes: [UInt8] {
    let overTime = ReportCharts(
      summary.duration, samples, boundResult, battery: charge == nil ? nil : battery,
      charge: charge ?? 100)
    let (charts, rows) = (overTime.charts, overTime.rows)
    let map = ReportMap(track, summary.duration, samples, gapLimit: track.effectiveGapLimit)
    let page = ReportTemplate.page(
      title: "\(routeName) on \(board)",
      heading: "<bdi>\(routeName)</bdi> on <bdi>\(board)</bdi>", lead: lead, tiles: tiles,
      map: map.chart.html(), timeUnit: Axis.timeUnit(summary.duration),
      charts: charts.enumerated().map { $0.element.html($0.offset) }, notices: notices,
      table: table(charts, rows), energy: energy, settings: settings, data: data(charts, rows))
    return Array(page.text.utf8)
  }

  private var lead: String {
    var start = TextBuffer()
    start.add(day: track.firstTime.date)
    start.add(" ")
    start.add(hoursMinutesSeconds: track.firstTime.microsecondsOfDay / 1_000_000)
    return "\(HumanFormat.duration(summary.duration)); \(request). "
      + "The track starts at \(start.string) UTC."
  }

  // MARK: Tiles

  /// The most important numbers of the summary.
  private var tiles: [HTML] {
    var tiles = summary.energy.map(energyTiles) ?? []
    if let comparison = boundResult?.summary {
      let share = HumanFormat.decimal(comparison.error.exceededShare * 100, places: 2)
      tiles.append(
        tile(
          "Error above \(HumanFormat.distance(comparison.bound_m))", "\(share) %",
          "of the time; p95 \(HumanFormat.distance(comparison.error.p95_m)), "
            + "worst \(HumanFormat.distance(comparison.error.maximum_m))"))
      let violation = SummaryText.violation(comparison).map { "; \($0)" } ?? ""
      for (name, used_mJ, optimum_mJ, ratio) in [
        (
          "Energy / optimum", comparison.total_mJ, comparison.totalOptimum_mJ, comparison.totalRatio
        ),
        (
          "Receiver energy / optimum", comparison.receiver_mJ, comparison.optimum_mJ,
          comparison.ratio
        ),
      ] where ratio != nil {
        tiles.append(
          tile(
            name, SummaryText.ratio(ratio),
            "\(HumanFormat.energy(used_mJ)); optimum \(HumanFormat.energy(optimum_mJ))\(violation)")
        )
      }
    }
    let lost =
      summary.lost > 0 ? "\(HumanFormat.count(Int(clamping: summary.lost))) lost" : "none lost"
    let delivered = SummaryText.delivered(summary, by: service)
    return tiles + [
      tile(
        "Fixes", HumanFormat.count(summary.fixes),
        service == .updates
          ? "delivered \(delivered); \(lost)" : "service delivered: \(delivered)"),
      tile(
        "Board awake", HumanFormat.duration(summary.awakeTime),
        "woke \(HumanFormat.times(summary.hostWakes))"),
    ]
  }

  private func energyTiles(_ energy: TraceEnergy) -> [HTML] {
    let seconds = max(summary.duration.seconds, 1e-9)
    let used_mJ = energy.receiver_mJ + energy.board_mJ
    let gpsd_mJ = energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ
    let saved = gpsd_mJ > 0 ? HumanFormat.decimal((1 - used_mJ / gpsd_mJ) * 100, places: 1) : "-"
    let power = tile(
      "Mean power", "\(HumanFormat.decimal(used_mJ / seconds, places: 1)) mW",
      "\(saved) % saved; with gpsd \(HumanFormat.decimal(gpsd_mJ / seconds, places: 1)) mW",
      isFirst: true)
    guard let battery else { return [power] }
    let charge = charge ?? 100
    let life = ReportEnergy.life(battery, charge, used_mJ / seconds)
    let gpsdLife = ReportEnergy.life(battery, charge, gpsd_mJ / seconds)
    return [
      power,
      tile("Battery life", life, "\(battery.text(charge)); with gpsd \(gpsdLife)", isFirst: true),
    ]
  }

  private func tile(
    _ name: String, _ value: String, _ more: String, isFirst: Bool = false
  ) -> HTML {
    """
    <div class="\(isFirst ? "tile first" : "tile")"><dt>\(name)</dt><dd class="big">\(value)</dd>\
    <dd class="note">\(more)</dd></div>
    """
  }

  // MARK: Sections

  /// The notices of services: visits, regions, pauses.
  private var notices: HTML? {
    guard !samples.notices.isEmpty else { return nil }
    let rows = samples.notices.map { moment, notice -> HTML in
      var time = TextBuffer()
      time.add(hoursMinutesSeconds: moment.microseconds / 1_000_000)
      return """
        <tr><th scope="row">\(time.string) <b>\(notice.name)</b></th>\
        <td class="wide">\(TraceText.text(notice))</td></tr>
        """
    }
    let count = samples.noticeCount - samples.notices.count
    let more: HTML? = count > 0 ? "<p class=\"lead\">and \(HumanFormat.count(count)) more</p>" : nil
    return "\n<h3>Notices to the client</h3><table><tbody>\(rows)</tbody></table>\(more)"
  }

  private func table(_ charts: [Chart], _ rows: [String]) -> HTML {
    let columns = charts.flatMap(\.columns)
    let cells = rows.enumerated().map { index, start -> [HTML] in
      ["\(start)"]
        + columns.map { column in
          "\(column.values[index].map { HumanFormat.decimal($0, places: column.places) } ?? "–")"
        }
    }
    return HTML.table(["from"] + columns.map(\.heading), cells)
  }

  private var energy: HTML? {
    summary.energy.map {
      ReportEnergy(
        summary: summary, energy: $0, samples: samples, boundResult: boundResult?.summary,
        battery: battery, charge: charge ?? 100
      ).html
    }
  }

  /// The values of the charts as JSON, without characters that markup needs.
  private func data(_ charts: [Chart], _ rows: [String]) -> HTML {
    var json = JSONOutput()
    json.object { json in
      json.member("duration_s", summary.duration.microseconds, scale: 6)
      json.member("interval_s", samples.rowInterval.microseconds, scale: 6)
      json.list("from") { json in for row in rows { json.element(text: row) } }
      json.list("charts") { json in
        for chart in charts { json.element { ReportPage.write(chart, to: &$0) } }
      }
    }
    return HTML(
      markup: json.text.string.replacing("&", with: "\\u0026").replacing("<", with: "\\u003c"))
  }

  private static func write(_ chart: Chart, to json: inout JSONOutput) {
    json.member("title", chart.title ?? "")
    json.list("columns") { json in
      for column in chart.columns {
        json.element { json in
          json.member("name", column.name)
          json.member("unit", column.unit)
          json.list("values") { json in
            let scale = ([1, 10, 100] as [Double])[column.places]
            for value in column.values {
              if let value {
                json.element(Int64((value * scale).rounded()), scale: column.places)
              } else {
                json.element(json: "null")
              }
            }
          }
        }
      }
    }
  }
}
