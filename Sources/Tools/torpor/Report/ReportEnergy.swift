import BoardProfiles
import LocationSimulation
import LocationTypes
import LocationWire

/// The section "Energy" of the report: energy of each state in comparison with gpsd and with the optimum, and the
/// battery life.
struct ReportEnergy {
  /// Part of the axis below which a part of a bar is invisible: it is neither drawn nor in the legend, only in the
  /// table.
  private static let minimumPart = 0.002

  let summary: TraceSummary
  let energy: TraceEnergy
  let samples: RunSamples
  let boundResult: OptimumComparison?
  let battery: Battery?
  /// Charge of the battery at the start, percent.
  let charge: Double

  /// The section.
  var html: HTML {
    let receiverStates = TraceReceiverState.allCases.map(\.name)
    let boardStates = energy.boardTime.indices.map { index in
      BoardState(rawValue: UInt8(index))?.jsonName ?? ""
    }
    let total = bars(
      "Receiver and board", energy.receiver_mJ + energy.board_mJ,
      [("receiver", energy.receiver_mJ), ("board", energy.board_mJ)],
      others(boundResult?.totalOptimum_mJ, energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ))
    let receiver = bars(
      "Receiver", energy.receiver_mJ, parts(receiverStates, samples.receiver),
      others(boundResult?.optimum_mJ, energy.receiverAlwaysOn_mJ))
    let board = bars(
      "Board", energy.board_mJ, parts(boardStates, samples.board), others(nil, energy.boardGpsd_mJ))
    let rows =
      rows("receiver", receiverStates, samples.receiver, energy.receiver_mJ)
      + rows("board", boardStates, samples.board, energy.board_mJ)
    let heads = ["state", "time", "of the time", "energy", "of the energy"]
    return
      "\(total.html())\(optimum)\(receiver.html())\(board.html())\(HTML.table(heads, rows))\(life)"
  }

  private var optimum: HTML? {
    guard let boundResult, let total = boundResult.totalRatio, let ratio = boundResult.ratio else {
      return nil
    }
    return """
      <p class="lead">Since the first report, receiver and board used \
      \(HumanFormat.energy(boundResult.total_mJ)), \(HumanFormat.decimal(total, places: 2)) × the \
      minimum energy with which a planner that knows the track in advance keeps the error within \
      \(HumanFormat.distance(boundResult.bound_m)); the receiver alone used \
      \(HumanFormat.energy(boundResult.receiver_mJ)), \(HumanFormat.decimal(ratio, places: 2)) × its \
      own minimum.</p>
      """
  }

  /// The energies with which a bar is compared.
  private func others(
    _ optimum_mJ: Double?, _ gpsd_mJ: Double
  ) -> [(name: String, energy_mJ: Double)] {
    let optimum = optimum_mJ.flatMap { $0 > 0 ? [(name: "optimum", energy_mJ: $0)] : nil } ?? []
    return optimum + [(name: "with gpsd", energy_mJ: gpsd_mJ)]
  }

  /// The energy of each state.
  private func parts(
    _ states: [String], _ power: RunSamples.Power
  ) -> [(name: String, energy_mJ: Double)] {
    zip(states, power.uses).map { (name: $0, energy_mJ: $1.energy_mJ) }
  }

  /// A bar for this run, divided into `parts` from the greatest energy on, and a bar for each of `others`.
  private func bars(
    _ name: String, _ energy_mJ: Double, _ parts: [(name: String, energy_mJ: Double)],
    _ others: [(name: String, energy_mJ: Double)]
  ) -> Chart {
    let all = [("this run", energy_mJ)] + others
    let greatest_J = (all.map(\.1).max() ?? 0) / 1_000
    let isKilojoules = greatest_J >= 1_000
    let factor = isKilojoules ? 1e-6 : 1e-3
    let greatest = max(greatest_J * 1_000 * factor, 1e-9)
    // The label of the longest bar needs the rest of the width.
    let x = Axis(
      low: 0, high: greatest * 1.45,
      ticks: Axis.linear(to: greatest).ticks.filter { $0.value < greatest * 1.4 })
    func box(_ row: Int, _ from: Double, _ to: Double) -> Chart.Box {
      let middle = Double(all.count - row) - 0.5
      return Chart.Box(
        from: from * factor, to: to * factor, low: middle - 0.28, high: middle + 0.28)
    }
    var layers: [Chart.Layer] = []
    var end = 0.0
    for part in parts.sorted(by: { $0.energy_mJ > $1.energy_mJ }) {
      let isDrawn = part.energy_mJ * factor >= greatest * Self.minimumPart || layers.isEmpty
      guard part.energy_mJ > 0, isDrawn else { continue }
      let share = ReportEnergy.percent(part.energy_mJ, of: energy_mJ)
      layers.append(
        Chart.Layer(
          style: "r\(min(layers.count, 3))", legend: "\(part.name) \(share) of the energy",
          shape: .boxes([box(0, end, end + part.energy_mJ)])))
      end += part.energy_mJ
    }
    let plain = others.enumerated().map { box($0.offset + 1, 0, $0.element.energy_mJ) }
    layers.append(Chart.Layer(style: "plain", legend: nil, shape: .boxes(plain)))
    return Chart(
      kind: "bars", frame: "height:\(HumanFormat.decimal(Double(all.count) * 2.25, places: 2))rem",
      title: "\(name), \(isKilojoules ? "kJ" : "J")",
      description: "Energy of the \(name.lowercased()): "
        + all.map { "\($0.0) \(HumanFormat.energy($0.1))" }.joined(separator: ", "),
      x: x,
      y: Axis(
        low: 0, high: Double(all.count),
        ticks: all.enumerated().map { (Double(all.count - $0.offset) - 0.5, $0.element.0) }
          .reversed()
      ),
      layers: layers,
      labels: all.enumerated().map { index, bar in
        let isLeft = bar.1 * factor > x.high * 0.7
        return (
          (bar.1 * factor, Double(all.count - index) - 0.5), HumanFormat.energy(bar.1), isLeft
        )
      })
  }

  private static func percent(_ part: Double, of all: Double) -> String {
    HumanFormat.decimal(part / max(all, 1e-9) * 100, places: 1) + " %"
  }

  /// Rows of the table of states.
  private func rows(
    _ name: String, _ states: [String], _ power: RunSamples.Power, _ all_mJ: Double
  ) -> [[HTML]] {
    zip(states, power.uses).filter { $0.1.time > .zero }.map { state, use in
      [
        "<span class=\"note\">\(name)</span> \(state)", "\(HumanFormat.duration(use.time))",
        "\(ReportEnergy.percent(use.time.seconds, of: summary.duration.seconds))",
        "\(HumanFormat.energy(use.energy_mJ))",
        "\(ReportEnergy.percent(use.energy_mJ, of: all_mJ))",
      ]
    }
  }

  /// Battery life of the run and with gpsd.
  private var life: HTML? {
    guard let battery else { return nil }
    let seconds = max(summary.duration.seconds, 1e-9)
    let rows = [
      ("this run", energy.receiver_mJ + energy.board_mJ),
      ("with gpsd", energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ),
    ].map { name, energy_mJ -> [HTML] in
      [
        "\(name)", "\(HumanFormat.decimal(energy_mJ / seconds, places: 1)) mW",
        "\(ReportEnergy.life(battery, charge, energy_mJ / seconds))",
      ]
    }
    return """

      <h3>A battery of \(battery.text(charge))</h3>\(HTML.table(["", "mean power", "lasts"], rows))\
      <p class="lead">Assumes a new battery charged to \(HumanFormat.percent(charge)), usable to 0 %, \
      and no other load: a real battery lasts less.</p>
      """
  }

  /// The life of a battery, formatted.
  static func life(_ battery: Battery, _ charge: Double, _ power_mW: Double) -> String {
    battery.life(at: power_mW, charge: charge).map(HumanFormat.duration) ?? "over a century"
  }
}
