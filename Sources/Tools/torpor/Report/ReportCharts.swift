import LocationSimulation
import LocationTypes

/// The charts over the time of the run: power, battery charge, fixes and position error.
extension ReportPage {
  /// The charts in the order of the page.
  var charts: [Chart] {
    [
      power("Receiver", samples.receiver), power("Board", samples.board),
      charge == nil ? nil : battery.map { charge(of: $0) }, fixes,
      boundResult.map { error($0.summary.bound_m, $0.errors) },
    ].compactMap { $0 }
  }

  /// Starts of the table's rows; an interval that would start at the end of the run is excluded.
  var rows: [String] {
    let (length, step) = (summary.duration.microseconds, samples.rowInterval.microseconds)
    return (0...max(0, (length - 1) / step)).map {
      Axis.timeLabel($0 * step / 1_000_000, step / 1_000_000)
    }
  }

  /// A column of the table with the value that `value` returns for each row.
  private func column(
    _ name: String, _ unit: String = "", places: Int = 0, _ value: (Int) -> Double?
  ) -> Chart.Column {
    let values = rows.indices.map(value)
    return (name, unit, values.map { $0.map { HumanFormat.decimal($0, places: places) } })
  }

  private func power(_ name: String, _ curve: StepCurve) -> Chart {
    let all = curve.buckets.reduce(into: StepCurve.Bucket()) { $0.add($1) }
    let axis = Axis.power(from: all.low, to: all.high)
    let rows = curve.merged(by: RunSamples.bucketsPerRow)
    func text(_ value: Double) -> String {
      HumanFormat.power(value, places: value < 1 ? 3 : value < 100 ? 1 : 0)
    }
    let interval = HumanFormat.duration(samples.rowInterval)
    return Chart(
      title: "\(name) power, mW",
      note: "mean \(text(all.mean)), \(text(all.low)) to \(text(all.high))"
        + (axis.isLogarithmic ? "; logarithmic scale" : ""),
      x: .time(summary.duration), y: axis,
      layers: [
        ("band", "minimum to maximum", curve.lines(\.high, from: { $0.low })),
        ("curve", "mean of \(interval)", rows.lines(\.mean)),
      ],
      columns: [
        column("\(name.lowercased()) mean", "mW", places: 2) { rows.value($0, \.mean) },
        column("lowest", "mW", places: 2) { rows.value($0, \.low) },
        column("highest", "mW", places: 2) { rows.value($0, \.high) },
      ])
  }

  /// Charge of the battery at the start of the run and at the end of each bucket of the power curves.
  ///
  /// Computed from the energy of receiver and board, because the trace has the gauge's value only when the board wakes.
  private func charge(of battery: Battery) -> Chart {
    var stored_mJ = startCharge * battery.energy_J * 10
    var points: [Chart.Point] = [[0, startCharge]]
    for (receiver, board) in zip(samples.receiver.buckets, samples.board.buckets) {
      stored_mJ = max(0, stored_mJ - (receiver.area + board.area) / 1e6)
      points.append([Double(points.count) * samples.bucket_s, stored_mJ / battery.energy_J / 10])
    }
    let end = HumanFormat.decimal(points[points.count - 1].y, places: 0)
    return Chart(
      title: "Battery, %", note: "charge from \(HumanFormat.percent(startCharge)) to \(end) %",
      x: .time(summary.duration), y: .linear(to: 100), layers: [("curve", nil, [points])],
      columns: [
        column("battery", "%", places: 1) { row in
          points.prefix((row + 1) * RunSamples.bucketsPerRow + 1).last?.y
        }
      ])
  }

  /// The number of undelivered fixes; if each fix is delivered immediately, the number of fixes instead.
  private var fixes: Chart {
    let (size, step) = (RunSamples.bucketsPerRow, samples.rowInterval.seconds)
    func sum(_ counts: [Int: Int], _ row: Int) -> Double {
      (row * size..<(row + 1) * size).reduce(0) { $0 + Double(counts[$1] ?? 0) }
    }
    let counts = rows.indices.map { sum(samples.fixes, $0) }
    let bars = counts.enumerated().map { row, count -> [Chart.Point] in
      let (from, to) = ((Double(row) + 0.08) * step, (Double(row) + 0.92) * step)
      return [[from, 0], [from, count], [to, count], [to, 0]]
    }
    let greatest = samples.undelivered.buckets.map(\.high).max() ?? 0
    let dots = samples.delivered.keys.sorted().map { index in
      [Chart.Point((Double(index) + 0.5) * samples.bucket_s, 0)]
    }
    let isDeferred = summary.delivered > summary.batches
    let deliveries = summary.batches + (summary.noticesByKind[.report] ?? 0)
    return Chart(
      title: isDeferred
        ? "Undelivered fixes" : "Fixes in \(HumanFormat.duration(samples.rowInterval))",
      note: "\(HumanFormat.count(summary.fixes)) fixes, \(HumanFormat.count(deliveries)) deliveries"
        + (isDeferred ? "; up to \(HumanFormat.count(Int(greatest))) undelivered" : ""),
      x: .time(summary.duration), y: .linear(to: isDeferred ? greatest : counts.max() ?? 0),
      layers: isDeferred
        ? [
          ("band", nil, samples.undelivered.lines(\.high, from: { _ in 0 })),
          ("curve", nil, samples.undelivered.lines(\.high)),
          ("deliveries", "delivered to the client", dots),
        ] : [("area", nil, bars)],
      columns: [
        column("fixes") { counts[$0] }, column("delivered") { sum(samples.delivered, $0) },
      ])
  }

  /// Distance of the last report from the true position at each second.
  private func error(_ bound_m: Double, _ tally: BoundTally) -> Chart {
    var error = StepCurve(width: Interval(microseconds: samples.undelivered.width))
    let start = Instant.boot + .seconds(tally.firstSecond ?? 0)
    for (index, error_m) in (tally.errors + [.nan]).enumerated() {
      error.set(error_m.isNaN ? nil : error_m, at: start + .seconds(Int64(index)))
    }
    error.close(at: .boot + summary.duration)
    let rows = error.merged(by: RunSamples.bucketsPerRow)
    let worst = max(error.buckets.map(\.high).max() ?? 0, 0)
    let bound = HumanFormat.distance(bound_m)
    let unknown = error.lines({ _ in .infinity }, from: { _ in 0 }, areUnknown: true)
    return Chart(
      title: "Error of the last report, m",
      note: "worst \(HumanFormat.distance(worst)), bound \(bound)",
      x: .time(summary.duration), y: .linear(to: max(worst, bound_m * 1.2)),
      layers: [
        ("blank", "not counted: before the first report, or a gap", unknown),
        ("area", "within the bound", error.lines({ min($0.high, bound_m) }, from: { _ in 0 })),
        ("over", "above the bound", error.lines(\.high, from: { _ in bound_m })),
        ("bound", "bound, \(bound)", [[[0, bound_m], [summary.duration.seconds, bound_m]]]),
      ],
      columns: [column("worst error", "m", places: 1) { rows.value($0, \.high) }])
  }
}
