import BoardProfiles
import LocationSimulation
import LocationTypes

/// The section "Energy": energy of each state in comparison with gpsd and with the optimum, and the battery life.
extension ReportPage {
  private typealias Use = TraceEnergy.Use

  var energySection: HTML {
    let (receiver, board) = (energy.receiverUses, energy.boardUses)
    let result = boundResult?.summary
    let total = bars(
      "Receiver and board",
      [("receiver", .zero, energy.receiver_mJ), ("board", .zero, energy.board_mJ)],
      energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ, result?.totalOptimum_mJ, result?.totalRatio)
    let explanation: HTML? = result.map {
      """

      <p class="lead">The optimum is the least energy with which a planner that knows the track in \
      advance keeps the error within \(HumanFormat.distance($0.bound_m)). It is counted from the \
      first report, as is the energy that is compared with it.</p>
      """
    }
    let second = bars(
      "Receiver", receiver, energy.receiverAlwaysOn_mJ, result?.optimum_mJ, result?.ratio)
    return """
      \(total.html)\(explanation)\(second.html)\(bars("Board", board, energy.boardGpsd_mJ).html)\
      \(table([("receiver", receiver), ("board", board)]))\(battery.map { life($0) })
      """
  }

  /// A bar for this run, divided into `parts` from the greatest energy on, and a bar for each comparison.
  private func bars(
    _ name: String, _ parts: [Use], _ gpsd_mJ: Double, _ optimum_mJ: Double? = nil,
    _ ratio: Double? = nil
  ) -> Chart {
    let used_mJ = parts.map(\.energy_mJ).reduce(0, +)
    var all = [("this run", used_mJ), ("with gpsd", gpsd_mJ)]
    if let optimum_mJ, optimum_mJ > 0 { all.insert(("optimum", optimum_mJ), at: 1) }
    let greatest_mJ = max(all.map(\.1).max() ?? 0, 1e-6)
    let unit_mJ = greatest_mJ >= 1e6 ? 1e6 : 1e3
    func bar(_ row: Int, _ from_mJ: Double, _ to_mJ: Double) -> [Chart.Point] {
      let (from, to, row) = (from_mJ / unit_mJ, to_mJ / unit_mJ, Double(all.count - row))
      return [[from, row - 0.78], [from, row - 0.22], [to, row - 0.22], [to, row - 0.78]]
    }
    let others = all.indices.dropFirst().map { bar($0, 0, all[$0].1) }
    var layers: [Chart.Layer] = [("plain", nil, others)]
    var end_mJ = 0.0
    for part in parts.sorted(by: { $0.energy_mJ > $1.energy_mJ }) where part.energy_mJ > 0 {
      // A part that would be invisible is only in the table.
      guard layers.count == 1 || part.energy_mJ >= greatest_mJ * 0.002 else { continue }
      let legend = "\(part.name) \(HumanFormat.share(part.energy_mJ, of: used_mJ)) of the energy"
      let style = "r\(min(layers.count, 4) - 1)"
      layers.append((style, legend, [bar(0, end_mJ, end_mJ + part.energy_mJ)]))
      end_mJ += part.energy_mJ
    }
    // The label of the longest bar needs the rest of the width.
    let ticks = Axis.linear(to: greatest_mJ / unit_mJ).ticks
      .filter { $0.value < greatest_mJ / unit_mJ * 1.4 }
    let middles = all.indices.map { Double(all.count - $0) - 0.5 }
    return Chart(
      kind: "bars", title: "\(name), \(unit_mJ == 1e6 ? "kJ" : "J")",
      note: ratio.map { "\(SummaryText.ratio($0)) the optimum since the first report" } ?? "",
      x: Axis(low: 0, high: greatest_mJ / unit_mJ * 1.45, ticks: ticks),
      y: Axis(low: 0, high: Double(all.count), ticks: zip(middles, all).map { ($0, $1.0) }),
      layers: layers,
      labels: zip(middles, all).map { ([$1.1 / unit_mJ, $0], HumanFormat.energy($1.1)) })
  }

  /// The time and the energy of each state.
  private func table(_ devices: [(name: String, uses: [Use])]) -> HTML {
    let rows = devices.flatMap { device, uses in
      let all_mJ = uses.map(\.energy_mJ).reduce(0, +)
      return uses.filter { $0.time > .zero }.map { name, time, energy_mJ -> (HTML, [String]) in
        (
          "<span class=\"note\">\(device)</span> \(name)",
          [
            HumanFormat.duration(time),
            HumanFormat.share(time.seconds, of: summary.duration.seconds),
            HumanFormat.energy(energy_mJ), HumanFormat.share(energy_mJ, of: all_mJ),
          ]
        )
      }
    }
    return HTML.table(["state", "time", "of the time", "energy", "of the energy"], rows)
  }

  /// Battery life of the run and with gpsd.
  private func life(_ battery: Battery) -> HTML {
    func row(_ head: HTML, _ mean_mW: Double) -> (HTML, [String]) {
      let life = battery.lifeText(at: mean_mW, charge: startCharge)
      return (head, [HumanFormat.power(mean_mW, places: 1), life])
    }
    let rows = [row("this run", used_mW), row("with gpsd", gpsd_mW)]
    return """

      <h3>A battery of \(battery.text(startCharge))</h3>\
      \(HTML.table(["", "mean power", "lasts"], rows))
      <p class="lead">Assumes a new battery charged to \(HumanFormat.percent(startCharge)), usable \
      to 0 %, and no other load: a real battery lasts less.</p>
      """
  }
}
