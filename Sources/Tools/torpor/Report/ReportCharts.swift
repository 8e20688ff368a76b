import LocationSimulation
import LocationTypes
import TextFormats

/// The section "Over time" of the report: strip charts of power, battery charge, fixes and position error with one time
/// axis, the notices to the client, and a table of the values.
struct ReportCharts {
  private let samples: RunSamples
  private let time: TimeAxis
  private let bound_m: Double?
  /// The simulated battery, and the charge of the battery at the start, percent.
  private let battery: Battery?
  private let charge: Double
  /// Distance of the last report from the true position, metres: in narrow buckets for the chart, and in intervals of
  /// the table.
  private var error: StepCurve
  private var errorRows: StepCurve

  /// Creates the charts of a run.
  ///
  /// - Parameters:
  ///   - length: Duration of the run.
  ///   - samples: Downsampled data of the run.
  ///   - boundResult: Accuracy bound and error of each second, if the client has a bound.
  ///   - battery: The simulated battery, if any.
  ///   - charge: Charge of the battery at the start, percent.
  init(
    _ length: Interval, _ samples: RunSamples, _ boundResult: (OptimumComparison, BoundTally)?,
    battery: Battery? = nil, charge: Double = 100
  ) {
    self.samples = samples
    self.battery = battery
    self.charge = charge
    time = TimeAxis(length, atMost: 8)
    bound_m = boundResult?.0.bound_m
    error = StepCurve(length)
    errorRows = StepCurve(buckets: samples.rowInterval, capacity: 64)
    guard let tally = boundResult?.1, let first = tally.firstSecond else { return }
    for (index, error_m) in tally.errors.enumerated() {
      let from = Instant.boot + .seconds(first + Int64(index))
      for keyPath in [\ReportCharts.error, \.errorRows] {
        self[keyPath: keyPath].set(error_m.isNaN ? nil : error_m, at: from)
        self[keyPath: keyPath].close(at: from + .seconds(1))
        self[keyPath: keyPath].set(nil, at: from + .seconds(1))
      }
    }
  }

  /// Adds the charts.
  func write(to page: inout Markup) {
    page.element(
      "p", ["class": "lead"],
      "Time since the start of the run, in \(time.unit). "
        + "A line is the mean over \(HumanFormat.duration(samples.rowInterval)); a band spans the minimum and "
        + "maximum.")
    writePower("Receiver", samples.receiver, to: &page)
    writePower("Board", samples.board, to: &page)
    if let battery { writeCharge(of: battery, to: &page) }
    writeFixes(to: &page)
    if let bound_m { writeError(bound_m, to: &page) }
    writeNotices(to: &page)
    writeTable(to: &page)
  }

  private func writePower(_ name: String, _ power: RunSamples.Power, to page: inout Markup) {
    let buckets = power.curve.buckets
    let high = buckets.map(\.high).max() ?? 0
    let low = buckets.map(\.low).min() ?? 0
    let area = buckets.reduce(0) { $0 + $1.area }
    let mean = area / Double(max(buckets.reduce(0) { $0 + $1.time }, 1))
    let note = "mean \(milliwatts(mean)), \(milliwatts(low)) to \(milliwatts(high))"
    let strip = StripChart(
      title: "\(name) power, mW", note: note, label: "\(name) power over time: \(note)",
      time: time, value: ValueAxis(to: high),
      tips: power.rows.buckets.enumerated().map { index, bucket in
        "\(span(index)): mean \(milliwatts(bucket.mean)), "
          + "\(milliwatts(bucket.low)) to \(milliwatts(bucket.high))"
      }, rowInterval: samples.rowInterval)
    strip.write(to: &page) { page in
      page.element("g", ["transform": strip.scale(power.curve.width)]) { page in
        page.emptyElement(
          "path",
          ["class": "band", "d": strip.band(power.curve, from: \.low, to: \.high).string])
      }
      page.emptyElement(
        "path",
        [
          "class": "curve", "transform": strip.scale(power.rows.width),
          "d": strip.line(power.rows.withoutPartialLast, \.mean).string,
        ])
    }
  }

  /// Charge of the battery, percent, at the start of the run and at the end of each bucket of the power curves.
  ///
  /// Computed from the energy of receiver and board, because the trace has the gauge's value only when the board wakes.
  private func charges(of battery: Battery) -> [Double] {
    let (receiver, board) = (samples.receiver.curve.buckets, samples.board.curve.buckets)
    var stored_mJ = charge * battery.energy_J * 10
    return [charge]
      + board.indices.map { index in
        let area = board[index].area + (index < receiver.count ? receiver[index].area : 0)
        stored_mJ = max(0, stored_mJ - area / 1e6)
        return stored_mJ / battery.energy_J / 10
      }
  }

  private func writeCharge(of battery: Battery, to page: inout Markup) {
    let charges = charges(of: battery)
    let last = charges[charges.count - 1]
    let note = "from \(HumanFormat.percent(charge)) to \(HumanFormat.decimal(last, places: 0)) %"
    let strip = StripChart(
      title: "Battery, %", note: note, label: "Charge of the battery over time: \(note)",
      time: time, value: ValueAxis(to: 100), tips: [], rowInterval: samples.rowInterval)
    strip.write(to: &page) { page in
      var line = PathData()
      line.move(0, strip.y(charges[0]))
      for (index, charge) in charges.enumerated().dropFirst() { line.line(index, strip.y(charge)) }
      page.emptyElement(
        "path",
        [
          "class": "curve", "transform": strip.scale(samples.board.curve.width), "d": line.string,
        ])
    }
  }

  private func writeFixes(to page: inout Markup) {
    let maximum = samples.undelivered.buckets.map(\.high).max() ?? 0
    let total = samples.positions.count
    let batches = samples.deliveries.counts.reduce(0, +)
    // If each fix is delivered immediately, none is undelivered: the chart then shows the number of fixes.
    let defers = samples.isDeferred
    let counts = samples.fixes.counts
    let note =
      "\(HumanFormat.count(total)) fixes, \(HumanFormat.count(batches)) deliveries"
      + (defers ? "; up to \(HumanFormat.count(Int(maximum))) undelivered" : "")
    let strip = StripChart(
      title: defers ? "Undelivered fixes" : "Fixes in \(HumanFormat.duration(samples.rowInterval))",
      note: note, label: "Fixes and deliveries over time: \(note)", time: time,
      value: ValueAxis(to: defers ? maximum : Double(counts.max() ?? 0)),
      tips: rows.map { index in
        "\(span(index)): \(HumanFormat.count(count(index, counts))) fixes, "
          + "\(HumanFormat.count(count(index, samples.delivered.counts))) delivered"
      }, rowInterval: samples.rowInterval)
    strip.write(to: &page) { page in
      if defers {
        page.element("g", ["transform": strip.scale(samples.undelivered.width)]) { page in
          page.emptyElement(
            "path",
            [
              "class": "band",
              "d": strip.band(samples.undelivered, from: { _ in 0 }, to: \.high).string,
            ])
          page.emptyElement(
            "path", ["class": "curve", "d": strip.line(samples.undelivered, \.high).string])
        }
        writeDeliveries(strip, to: &page)
      } else {
        page.emptyElement(
          "path",
          [
            "class": "columns", "transform": strip.scale(samples.fixes.width / 100),
            "d": bars(counts, strip).string,
          ])
      }
    }
    if defers, batches > 0 {
      page.element("p", ["class": "key"]) {
        $0.element("span", ["class": "k drop"], "delivered to the client")
      }
    }
  }

  /// Bars with gaps between them; a bucket is 100 units wide.
  private func bars(_ counts: [Int], _ strip: StripChart) -> PathData {
    var path = PathData()
    for (index, count) in counts.enumerated() where count > 0 {
      path.move(index * 100 + 8, StripChart.height)
      path.verticalLine(to: strip.y(Double(count)))
      path.horizontalLine(to: index * 100 + 92)
      path.verticalLine(to: StripChart.height)
      path.close()
    }
    return path
  }

  private func writeDeliveries(_ strip: StripChart, to page: inout Markup) {
    var dots = PathData()
    for (index, count) in samples.deliveries.counts.enumerated() where count > 0 {
      dots.dot(index * 2 + 1, StripChart.height)
    }
    guard !dots.isEmpty else { return }
    page.element("g", ["transform": strip.scale(samples.deliveries.width / 2)]) { page in
      page.element("path", ["class": "deliveries", "d": dots.string]) {
        $0.element("title", "deliveries")
      }
    }
  }

  private func writeError(_ bound_m: Double, to page: inout Markup) {
    let worst = error.buckets.map(\.high).max() ?? 0
    let note = "worst \(HumanFormat.distance(worst)), bound \(HumanFormat.distance(bound_m))"
    let strip = StripChart(
      title: "Error of the last report, m", note: note,
      label: "Distance of the last report from the truth over time: \(note)", time: time,
      value: ValueAxis(to: max(worst, bound_m * 1.2)),
      tips: rows.map { index in
        "\(span(index)): \(worstText(index))"
      }, rowInterval: samples.rowInterval)
    // Only areas that are drawn are in the legend.
    let areas = [
      ("area", strip.band(error, from: { _ in 0 }, to: { min($0.high, bound_m) }).string, "k box"),
      ("over", strip.band(error, from: { _ in bound_m }, to: \.high).string, "k bad"),
      ("blank", blanks.string, "k none"),
    ].filter { !$0.1.isEmpty }
    strip.write(to: &page) { page in
      page.element("g", ["transform": strip.scale(error.width)]) { page in
        for (name, path, _) in areas {
          page.emptyElement("path", ["class": name, "d": path])
        }
      }
      var line = PathData()
      line.move(0, strip.y(bound_m))
      line.horizontalLine(to: StripChart.width)
      page.emptyElement("path", ["class": "bound", "d": line.string])
    }
    page.element("p", ["class": "key"]) { page in
      let words = [
        "k box": "within the bound", "k bad": "above the bound",
        "k none": "not counted: before the first report, or a gap",
      ]
      for (_, _, kind) in areas { page.element("span", ["class": kind], words[kind] ?? "") }
      page.element("span", ["class": "k rule"], "bound, \(HumanFormat.distance(bound_m))")
    }
  }

  /// Intervals without a known error.
  private var blanks: PathData {
    var path = PathData()
    let end = Int((time.length.microseconds + error.width - 1) / error.width)
    var begin: Int?
    for index in 0...end {
      let isKnown =
        index == end || (index < error.buckets.count && !error.buckets[index].isEmpty)
      if let from = begin, isKnown {
        path.move(from, 0)
        path.horizontalLine(to: index)
        path.verticalLine(to: StripChart.height)
        path.horizontalLine(to: from)
        path.close()
        begin = nil
      } else if begin == nil, !isKnown {
        begin = index
      }
    }
    return path
  }

  /// Adds the notices of services: visits, regions, pauses.
  private func writeNotices(to page: inout Markup) {
    guard !samples.notices.isEmpty else { return }
    page.newLine()
    page.element("h3", "Notices to the client")
    page.element("table") { page in
      page.element("tbody") { page in
        for (moment, notice) in samples.notices {
          page.element("tr") { page in
            page.element("th", ["scope": "row"]) { page in
              var text = TextBuffer()
              text.add(hoursMinutesSeconds: moment.microseconds / 1_000_000)
              page.addText("\(text.string) ")
              page.element("b", notice.name)
            }
            page.element("td", ["class": "wide"], TraceText.text(notice))
          }
        }
      }
    }
    let more = samples.noticeCount - samples.notices.count
    if more > 0 { page.element("p", ["class": "lead"], "and \(HumanFormat.count(more)) more") }
  }

  private func writeTable(to page: inout Markup) {
    page.newLine()
    page.element("details") { page in
      page.element("summary", "Table of values")
      page.element("table") { page in
        page.element("thead") { page in
          page.element("tr") { page in
            for head in ["from", "receiver mW", "board mW", "fixes", "delivered"] {
              page.element("th", ["scope": "col"], head)
            }
            if bound_m != nil { page.element("th", ["scope": "col"], "worst m") }
          }
        }
        page.element("tbody") { page in
          for index in rows { writeRow(index, to: &page) }
        }
      }
    }
  }

  private func writeRow(_ index: Int, to page: inout Markup) {
    page.element("tr") { page in
      page.element("th", ["scope": "row"], clock(index))
      for power in [samples.receiver, samples.board] {
        let bucket = index < power.rows.buckets.count ? power.rows.buckets[index] : .init()
        page.element("td", HumanFormat.decimal(bucket.mean, places: bucket.mean < 100 ? 2 : 0))
      }
      page.element("td", HumanFormat.count(count(index, samples.fixes.counts)))
      page.element("td", HumanFormat.count(count(index, samples.delivered.counts)))
      guard bound_m != nil else { return }
      page.element("td", worst(index).map { HumanFormat.decimal($0, places: 1) } ?? "–")
    }
  }

  /// Rows of the table; an interval that would start at the end of the run is excluded.
  private var rows: Range<Int> {
    let step = samples.rowInterval.microseconds
    return 0..<max(1, Int((time.length.microseconds - 1) / step + 1))
  }

  private func worst(_ index: Int) -> Double? {
    guard index < errorRows.buckets.count, !errorRows.buckets[index].isEmpty else { return nil }
    return errorRows.buckets[index].high
  }

  private func worstText(_ index: Int) -> String {
    worst(index).map { "error at most \(HumanFormat.distance($0))" } ?? "not counted"
  }

  private func count(_ index: Int, _ counts: [Int]) -> Int {
    index < counts.count ? counts[index] : 0
  }

  private func clock(_ index: Int) -> String {
    TimeAxis(time.length, atMost: 48).label(
      Int64(index) * samples.rowInterval.microseconds / 1_000_000)
  }

  private func span(_ index: Int) -> String { "\(clock(index)) – \(clock(index + 1))" }

  private func milliwatts(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    if value >= 100 { return HumanFormat.count(Int(value.rounded())) + " mW" }
    return HumanFormat.decimal(value, places: value < 1 ? 3 : 1) + " mW"
  }
}
