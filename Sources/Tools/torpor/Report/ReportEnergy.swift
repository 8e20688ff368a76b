import BoardProfiles
import LocationSimulation
import LocationTypes

/// The section "Energy" of the report: energy of each state in comparison with gpsd and with the optimum, and the
/// battery life.
struct ReportEnergy {
  /// One bar: its label, its total energy, and the energy of each state.
  private struct Bar {
    var name: String
    var energy_mJ: Double
    var parts: [(kind: Int, energy_mJ: Double)]
  }

  /// Fraction of the full width below which a part of a bar is invisible: it is neither drawn nor in the legend, only
  /// in the table.
  private static let minimumFraction = 0.002

  private let summary: TraceSummary
  private let energy: TraceEnergy
  private let samples: RunSamples
  private let boundResult: OptimumComparison?
  private let battery: Battery?
  private let charge: Double

  /// Creates the section.
  ///
  /// - Parameters:
  ///   - summary: Totals of the run.
  ///   - energy: Energy of the run, and energy with gpsd.
  ///   - samples: Time and energy of each state.
  ///   - boundResult: Comparison with the optimum, if the client has an accuracy bound.
  ///   - battery: Battery whose life is reported.
  ///   - charge: Charge of the battery at the start, percent.
  init(
    _ summary: TraceSummary, _ energy: TraceEnergy, _ samples: RunSamples,
    _ boundResult: OptimumComparison?,
    _ battery: Battery?, _ charge: Double = 100
  ) {
    self.summary = summary
    self.energy = energy
    self.samples = samples
    self.boundResult = boundResult
    self.battery = battery
    self.charge = charge
  }

  /// Adds the section.
  func write(to page: inout Markup) {
    var bars = [bar("this run", energy.receiver_mJ, samples.receiverUse)]
    if let boundResult, boundResult.optimum_mJ > 0 {
      bars.append(Bar(name: "optimum", energy_mJ: boundResult.optimum_mJ, parts: []))
    }
    bars.append(Bar(name: "with gpsd", energy_mJ: energy.receiverAlwaysOn_mJ, parts: []))
    write("Receiver", bars, states: TraceReceiverState.allCases.map(\.name), to: &page)
    if let boundResult, let ratio = boundResult.ratio {
      page.element(
        "p", ["class": "lead"],
        "Since the first report, the receiver used \(HumanFormat.energy(boundResult.receiver_mJ)), "
          + "\(HumanFormat.decimal(ratio, places: 2)) × the minimum energy with which a planner that knows "
          + "the track in advance keeps the error within \(HumanFormat.distance(boundResult.bound_m))."
      )
    }
    let boardStates = energy.boardTime.indices.map { index in
      BoardState(rawValue: UInt8(index)).map(TraceJSON.name) ?? ""
    }
    write(
      "Board",
      [
        bar("this run", energy.board_mJ, samples.boardUse),
        Bar(name: "with gpsd", energy_mJ: energy.boardGpsd_mJ, parts: []),
      ], states: boardStates, to: &page)
    writeStates(boardStates, to: &page)
    if let battery { write(battery, to: &page) }
  }

  private func bar(_ name: String, _ energy_mJ: Double, _ uses: [RunSamples.StateUse]) -> Bar {
    Bar(
      name: name, energy_mJ: energy_mJ,
      parts: uses.indices.map { ($0, uses[$0].energy_mJ) }.filter { $0.1 > 0 }
        .sorted { $0.1 > $1.1 })
  }

  private func write(_ name: String, _ bars: [Bar], states: [String], to page: inout Markup) {
    let maximum_mJ = max(bars.map(\.energy_mJ).max() ?? 0, 1e-9)
    func isDrawn(_ energy_mJ: Double) -> Bool { energy_mJ >= maximum_mJ * Self.minimumFraction }
    page.newLine()
    page.element("h3", name)
    page.element("div", ["class": "bars"]) { page in
      for bar in bars {
        page.element("div", ["class": "bar"]) { page in
          page.element("span", ["class": "name"], bar.name)
          page.element("span", ["class": "track"]) { page in
            let parts = bar.parts.isEmpty ? [(kind: -1, energy_mJ: bar.energy_mJ)] : bar.parts
            for (rank, part) in parts.enumerated() where rank == 0 || isDrawn(part.energy_mJ) {
              let width = HumanFormat.decimal(part.energy_mJ / maximum_mJ * 100, places: 3)
              let what = part.kind < 0 ? bar.name : states[part.kind]
              page.element(
                "span",
                [
                  "class": part.kind < 0 ? "fill plain" : "fill r\(min(rank, 3))",
                  "style": "width:\(width)%",
                  "title": "\(what): \(HumanFormat.energy(part.energy_mJ))",
                ], "")
            }
          }
          page.element("span", ["class": "sum"], HumanFormat.energy(bar.energy_mJ))
        }
      }
    }
    guard let parts = bars.first?.parts, !parts.isEmpty, let all = bars.first?.energy_mJ else {
      return
    }
    page.element("p", ["class": "key"]) { page in
      for (rank, part) in parts.enumerated() where rank == 0 || isDrawn(part.energy_mJ) {
        let share = ReportEnergy.percent(part.energy_mJ, of: all)
        page.element(
          "span", ["class": "k r\(min(rank, 3))"], "\(states[part.kind]) \(share) of the energy")
      }
    }
  }

  private static func percent(_ part: Double, of all: Double) -> String {
    HumanFormat.decimal(part / max(all, 1e-9) * 100, places: 1) + " %"
  }

  private func writeStates(_ boardStates: [String], to page: inout Markup) {
    page.newLine()
    page.element("table") { page in
      page.element("thead") { page in
        page.element("tr") { page in
          for head in ["state", "time", "of the time", "energy", "of the energy"] {
            page.element("th", ["scope": "col"], head)
          }
        }
      }
      let groups = [
        (
          "receiver", TraceReceiverState.allCases.map(\.name), samples.receiverUse,
          energy.receiver_mJ
        ),
        ("board", boardStates, samples.boardUse, energy.board_mJ),
      ]
      page.element("tbody") { page in
        for (name, states, uses, all) in groups {
          for (state, use) in zip(states, uses) where use.time > .zero {
            page.element("tr") { page in
              page.element("th", ["scope": "row"]) { page in
                page.element("span", ["class": "note"], name)
                page.addText(" \(state)")
              }
              page.element("td", HumanFormat.duration(use.time))
              page.element(
                "td", ReportEnergy.percent(use.time.seconds, of: summary.duration.seconds))
              page.element("td", HumanFormat.energy(use.energy_mJ))
              page.element("td", ReportEnergy.percent(use.energy_mJ, of: all))
            }
          }
        }
      }
    }
  }

  private func write(_ battery: Battery, to page: inout Markup) {
    let seconds = max(summary.duration.seconds, 1e-9)
    let rows = [
      ("this run", energy.receiver_mJ + energy.board_mJ),
      ("with gpsd", energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ),
    ]
    page.newLine()
    page.element("h3", "A battery of \(battery.text(charge))")
    page.element("table") { page in
      page.element("thead") { page in
        page.element("tr") { page in
          for head in ["", "mean power", "lasts"] { page.element("th", ["scope": "col"], head) }
        }
      }
      page.element("tbody") { page in
        for (name, energy_mJ) in rows {
          page.element("tr") { page in
            page.element("th", ["scope": "row"], name)
            page.element("td", "\(HumanFormat.decimal(energy_mJ / seconds, places: 1)) mW")
            page.element("td", ReportEnergy.life(battery, charge, energy_mJ / seconds))
          }
        }
      }
    }
    page.element(
      "p", ["class": "lead"],
      "Assumes a new battery charged to \(HumanFormat.percent(charge)), usable to 0 %, and no other load: "
        + "a real battery lasts less.")
  }

  /// The life of a battery, formatted.
  static func life(_ battery: Battery, _ charge: Double, _ power_mW: Double) -> String {
    battery.life(at: power_mW, charge: charge).map(HumanFormat.duration) ?? "over a century"
  }
}
