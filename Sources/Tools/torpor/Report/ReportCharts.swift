import LocationSimulation
import LocationTypes
import TextFormats

/// The charts over the time of the run: power, battery charge, fixes and position error.
struct ReportCharts {
  private let samples: RunSamples
  private let length: Interval
  private let time: Axis
  private let boundResult: (summary: OptimumComparison, errors: BoundTally)?
  private let battery: Battery?
  private let charge: Double

  /// Creates the charts of a run.
  ///
  /// - Parameters:
  ///   - length: Duration of the run.
  ///   - samples: Downsampled data of the run.
  ///   - boundResult: Accuracy bound and error of each second, if the client has a bound.
  ///   - battery: The simulated battery, if any.
  ///   - charge: Charge of the battery at the start, percent.
  init(
    _ length: Interval, _ samples: RunSamples,
    _ boundResult: (summary: OptimumComparison, errors: BoundTally)?, battery: Battery?,
    charge: Double
  ) {
    self.samples = samples
    self.length = length
    self.boundResult = boundResult
    self.battery = battery
    self.charge = charge
    time = .time(length)
  }

  /// The charts in the order of the page.
  var charts: [Chart] {
    [
      power("Receiver", samples.receiver), power("Board", samples.board),
      battery.map(charge(of:)), fixes, boundResult.map { error($0.summary.bound_m, $0.errors) },
    ].compactMap { $0 }
  }

  /// Starts of the table's rows.
  var rows: [String] { rowIndices.map(clock) }

  /// Rows of the table; an interval that would start at the end of the run is excluded.
  private var rowIndices: Range<Int> {
    0..<max(1, Int((length.microseconds - 1) / samples.rowInterval.microseconds + 1))
  }

  private func clock(_ index: Int) -> String {
    let step = samples.rowInterval.microseconds / 1_000_000
    return Axis.timeLabel(Int64(index) * step, step)
  }

  /// A column of the table with the value that `value` returns for each row.
  private func column(
    _ heading: String, _ name: String, _ unit: String = "", places: Int = 0,
    _ value: (Int) -> Double?
  ) -> Chart.Column {
    Chart.Column(
      heading: heading, name: name, unit: unit, places: places, values: rowIndices.map(value))
  }

  /// The value of a bucket of `curve` in each row; nil without a known value.
  private func value(
    _ curve: StepCurve, _ value: @escaping (StepCurve.Bucket) -> Double
  ) -> (Int) -> Double? {
    { $0 < curve.buckets.count && !curve.buckets[$0].isEmpty ? value(curve.buckets[$0]) : nil }
  }

  private func power(_ name: String, _ power: RunSamples.Power) -> Chart {
    let known = power.curve.buckets.filter { !$0.isEmpty }
    let (low, high) = (known.map(\.low).min() ?? 0, known.map(\.high).max() ?? 0)
    let mean = known.map(\.area).reduce(0, +) / Double(max(known.map(\.time).reduce(0, +), 1))
    let axis = Axis.power(from: low, to: high)
    let note =
      "mean \(milliwatts(mean)), \(milliwatts(low)) to \(milliwatts(high))"
      + (axis.isLogarithmic ? "; logarithmic scale" : "")
    let rows = power.curve.merged(by: RunSamples.intervalsPerRow)
    return Chart(
      title: "\(name) power, mW", note: note, description: "\(name) power over time: \(note)",
      x: time, y: axis,
      layers: [
        Chart.Layer(
          style: "band", legend: "minimum to maximum",
          shape: .boxes(power.curve.boxes(from: \.low, to: \.high))),
        Chart.Layer(
          style: "curve", legend: "mean of \(HumanFormat.duration(samples.rowInterval))",
          shape: .steps(rows.withoutPartialLast.boxes(from: \.low, to: \.mean))),
      ],
      columns: [
        column("\(name.lowercased()) mW", "mean", "mW", places: 2, value(rows, \.mean)),
        column("lowest", "lowest", "mW", places: 2, value(rows, \.low)),
        column("highest", "highest", "mW", places: 2, value(rows, \.high)),
      ])
  }

  private func milliwatts(_ value: Double) -> String {
    if value >= 100 { return HumanFormat.count(Int(value.rounded())) + " mW" }
    return HumanFormat.decimal(value, places: value < 1 ? 3 : 1) + " mW"
  }

  /// Charge of the battery, percent, at the start of the run and at the end of each bucket of the power curves.
  ///
  /// Computed from the energy of receiver and board, because the trace has the gauge's value only when the board wakes.
  private func charge(of battery: Battery) -> Chart {
    let (receiver, board) = (samples.receiver.curve.buckets, samples.board.curve.buckets)
    var stored_mJ = charge * battery.energy_J * 10
    var points: [Chart.Point] = [(0, charge)]
    for (index, bucket) in board.enumerated() {
      let area = bucket.area + (index < receiver.count ? receiver[index].area : 0)
      stored_mJ = max(0, stored_mJ - area / 1e6)
      let end = Double(index + 1) * Double(samples.board.curve.width) / 1e6
      points.append((end, stored_mJ / battery.energy_J / 10))
    }
    let last = points[points.count - 1].y
    let note = "from \(HumanFormat.percent(charge)) to \(HumanFormat.decimal(last, places: 0)) %"
    let step = samples.rowInterval.seconds
    return Chart(
      title: "Battery, %", note: note, description: "Charge of the battery over time: \(note)",
      x: time, y: .linear(to: 100),
      layers: [Chart.Layer(style: "curve", legend: nil, shape: .lines([points]))],
      columns: [
        column("battery %", "charge", "%", places: 1) { index in
          points.last { $0.x <= Double(index + 1) * step }?.y
        }
      ])
  }

  private var fixes: Chart {
    let total = samples.positions.count
    let batches = samples.deliveries.reduce(0, +)
    let maximum = samples.undelivered.buckets.map(\.high).max() ?? 0
    // If each fix is delivered immediately, none is undelivered: the chart then shows the number of fixes.
    let defers = samples.isDeferred
    let counts = rowIndices.map { sum(samples.fixes, $0) }
    let note =
      "\(HumanFormat.count(total)) fixes, \(HumanFormat.count(batches)) deliveries"
      + (defers ? "; up to \(HumanFormat.count(Int(maximum))) undelivered" : "")
    let waiting = samples.undelivered.boxes(from: { _ in 0 }, to: \.high)
    let step = samples.rowInterval.seconds
    let bars = counts.enumerated().map { index, count in
      Chart.Box(
        from: (Double(index) + 0.08) * step, to: (Double(index) + 0.92) * step, high: count)
    }
    let width = Double(samples.undelivered.width) / 1e6
    let deliveries = samples.deliveries.enumerated().filter { $0.element > 0 }
      .map { (x: (Double($0.offset) + 0.5) * width, y: 0.0) }
    return Chart(
      title: defers ? "Undelivered fixes" : "Fixes in \(HumanFormat.duration(samples.rowInterval))",
      note: note, description: "Fixes and deliveries over time: \(note)", x: time,
      y: .linear(to: defers ? maximum : counts.max() ?? 0),
      layers: defers
        ? [
          Chart.Layer(style: "band", legend: nil, shape: .boxes(waiting)),
          Chart.Layer(style: "curve", legend: nil, shape: .steps(waiting)),
          Chart.Layer(
            style: "deliveries", legend: "delivered to the client", shape: .dots(deliveries)),
        ] : [Chart.Layer(style: "columns", legend: nil, shape: .boxes(bars))],
      columns: [
        column("fixes", "fixes") { counts[$0] },
        column("delivered", "delivered") { sum(samples.delivered, $0) },
      ])
  }

  /// Number of events in a row of the table.
  private func sum(_ counts: [Int], _ row: Int) -> Double {
    let first = row * RunSamples.intervalsPerRow
    return Double(counts.dropFirst(first).prefix(RunSamples.intervalsPerRow).reduce(0, +))
  }

  /// Distance of the last report from the true position at each second.
  private func error(_ bound_m: Double, _ tally: BoundTally) -> Chart {
    var error = StepCurve(width: Interval(microseconds: samples.undelivered.width))
    var blanks: [Chart.Box] = []
    var end = 0.0
    let axis = Axis.linear(to: max(tally.errors.filter { !$0.isNaN }.max() ?? 0, bound_m * 1.2))
    func addBlank(to next: Double) {
      if next > end { blanks.append(Chart.Box(from: end, to: next, high: axis.high)) }
    }
    for (index, error_m) in tally.errors.enumerated() where !error_m.isNaN {
      let second = (tally.firstSecond ?? 0) + Int64(index)
      let start = Instant.boot + .seconds(second)
      error.set(error_m, at: start)
      error.set(nil, at: start + .seconds(1))
      addBlank(to: Double(second))
      end = Double(second + 1)
    }
    addBlank(to: length.seconds)
    let rows = error.merged(by: RunSamples.intervalsPerRow)
    let worst = error.buckets.map(\.high).max() ?? 0
    let bound = HumanFormat.distance(bound_m)
    let note = "worst \(HumanFormat.distance(worst)), bound \(bound)"
    return Chart(
      title: "Error of the last report, m", note: note,
      description: "Distance of the last report from the truth over time: \(note)", x: time,
      y: axis,
      layers: [
        Chart.Layer(
          style: "blank", legend: "not counted: before the first report, or a gap",
          shape: .boxes(blanks)),
        Chart.Layer(
          style: "area", legend: "within the bound",
          shape: .boxes(error.boxes(from: { _ in 0 }, to: { min($0.high, bound_m) }))),
        Chart.Layer(
          style: "over", legend: "above the bound",
          shape: .boxes(error.boxes(from: { _ in bound_m }, to: \.high))),
        Chart.Layer(
          style: "bound", legend: "bound, \(bound)",
          shape: .lines([[(0, bound_m), (length.seconds, bound_m)]])),
      ], columns: [column("worst m", "error at most", "m", places: 1, value(rows, \.high))])
  }
}

extension StepCurve {
  /// The buckets with a known value as boxes of a chart over seconds.
  fileprivate func boxes(
    from low: (Bucket) -> Double, to high: (Bucket) -> Double
  ) -> [Chart.Box] {
    let width = Double(width) / 1e6
    return buckets.enumerated().filter { !$0.element.isEmpty }.map { index, bucket in
      Chart.Box(
        from: Double(index) * width, to: Double(index + 1) * width, low: low(bucket),
        high: high(bucket))
    }
  }
}
