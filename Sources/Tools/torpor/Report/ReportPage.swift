import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats

/// The HTML report of a simulated run (`torpor simulate --report`): one self-contained page without network access and
/// scripts.
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
    var page = Markup()
    page.add(markup: "<!DOCTYPE html>\n")
    page.element("html", ["lang": "en"]) { page in
      writeHead(to: &page)
      page.newLine()
      page.element("body") { page in
        page.element("main") { page in
          writeTitle(to: &page)
          writeTiles(to: &page)
          section("Track", to: &page) {
            ReportMap(track, summary.duration, samples, gapLimit: track.effectiveGapLimit).write(
              to: &$0)
          }
          section("Over time", to: &page) {
            ReportCharts(
              summary.duration, samples, boundResult, battery: charge == nil ? nil : battery,
              charge: charge ?? 100
            ).write(to: &$0)
          }
          if let energy = summary.energy {
            section("Energy", to: &page) {
              ReportEnergy(
                summary, energy, samples, boundResult?.summary, battery, charge ?? 100
              ).write(to: &$0)
            }
          }
          writeSettings(to: &page)
        }
      }
      page.newLine()
    }
    page.newLine()
    return page.text.bytes
  }

  private func writeHead(to page: inout Markup) {
    page.newLine()
    page.element("head") { page in
      page.emptyElement("meta", ["charset": "utf-8"])
      page.emptyElement(
        "meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
      page.emptyElement(
        "meta",
        [
          "http-equiv": "Content-Security-Policy",
          "content": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        ])
      page.emptyElement("meta", ["name": "color-scheme", "content": "light dark"])
      page.emptyElement("meta", ["name": "generator", "content": "torpor \(Torpor.version)"])
      // An empty icon: otherwise a browser requests favicon.ico from the server.
      page.emptyElement("link", ["rel": "icon", "href": "data:,"])
      page.element("title", "\(routeName) on \(board)")
      page.element("style") { $0.add(markup: ReportStyle.sheet) }
    }
  }

  private func writeTitle(to page: inout Markup) {
    page.newLine()
    page.element("header") { page in
      page.element("p", ["class": "note"], "Simulated run")
      page.element("h1") { page in
        page.element("bdi", routeName)
        page.addText(" on ")
        page.element("bdi", board)
      }
      page.element("p", ["class": "lead"]) { page in
        page.addText("\(HumanFormat.duration(summary.duration)); \(request). ")
        var start = TextBuffer()
        start.add(day: track.firstTime.date)
        start.add(" ")
        start.add(hoursMinutesSeconds: track.firstTime.microsecondsOfDay / 1_000_000)
        page.addText("The track starts at \(start.string) UTC.")
      }
    }
  }

  private func writeTiles(to page: inout Markup) {
    page.newLine()
    page.element("dl", ["class": boundResult == nil ? "tiles" : "tiles many"]) { page in
      if let energy = summary.energy { writeEnergyTiles(energy, to: &page) }
      if let comparison = boundResult?.summary {
        let share = HumanFormat.decimal(comparison.error.exceededShare * 100, places: 2)
        tile(
          "Error above \(HumanFormat.distance(comparison.bound_m))", "\(share) %",
          "of the time; p95 \(HumanFormat.distance(comparison.error.p95_m)), "
            + "worst \(HumanFormat.distance(comparison.error.maximum_m))", to: &page)
        if let ratio = comparison.ratio {
          tile(
            "Receiver energy / optimum", "\(HumanFormat.decimal(ratio, places: 2)) ×",
            "\(HumanFormat.energy(comparison.receiver_mJ)); optimum "
              + HumanFormat.energy(comparison.optimum_mJ)
              + (SummaryText.violation(comparison).map { "; \($0)" } ?? ""), to: &page)
        }
      }
      let lost =
        summary.lost > 0 ? "\(HumanFormat.count(Int(clamping: summary.lost))) lost" : "none lost"
      let delivered = SummaryText.delivered(summary, by: service)
      tile(
        "Fixes", HumanFormat.count(summary.fixes),
        service == .updates
          ? "delivered \(delivered); \(lost)" : "service delivered: \(delivered)",
        to: &page)
      tile(
        "Board awake", HumanFormat.duration(summary.awakeTime),
        "woke \(HumanFormat.times(summary.hostWakes))",
        to: &page)
    }
  }

  private func writeEnergyTiles(_ energy: TraceEnergy, to page: inout Markup) {
    let seconds = max(summary.duration.seconds, 1e-9)
    let used_mJ = energy.receiver_mJ + energy.board_mJ
    let gpsd_mJ = energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ
    let saved = gpsd_mJ > 0 ? HumanFormat.decimal((1 - used_mJ / gpsd_mJ) * 100, places: 1) : "-"
    tile(
      "Mean power", "\(HumanFormat.decimal(used_mJ / seconds, places: 1)) mW",
      "\(saved) % saved; with gpsd \(HumanFormat.decimal(gpsd_mJ / seconds, places: 1)) mW",
      isFirst: true, to: &page)
    guard let battery else { return }
    let charge = charge ?? 100
    tile(
      "Battery life", ReportEnergy.life(battery, charge, used_mJ / seconds),
      "\(battery.text(charge)); with gpsd \(ReportEnergy.life(battery, charge, gpsd_mJ / seconds))",
      isFirst: true, to: &page)
  }

  private func tile(
    _ name: String, _ value: String, _ more: String, isFirst: Bool = false, to page: inout Markup
  ) {
    page.element("div", ["class": isFirst ? "tile first" : "tile"]) { page in
      page.element("dt", name)
      page.element("dd", ["class": "big"], value)
      page.element("dd", ["class": "note"], more)
    }
  }

  private func section(
    _ title: String, to page: inout Markup, _ body: (inout Markup) -> Void
  ) {
    page.newLine()
    page.element("section") { page in
      page.element("h2", title)
      body(&page)
    }
  }

  private func writeSettings(to page: inout Markup) {
    page.newLine()
    page.element("footer") { page in
      page.element("details") { page in
        page.element("summary", "Settings")
        page.element("dl", ["class": "settings"]) { page in
          for (name, value) in settings {
            page.element("dt", name)
            page.element("dd") { $0.element("bdi", value) }
          }
        }
      }
      page.element("p", ["class": "note"], "Created by torpor simulate, version \(Torpor.version).")
    }
  }
}
