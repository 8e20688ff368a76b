import LocationSimulation
import LocationTypes
import TextFormats

/// Human-readable summary of a run: deliveries, accuracy and energy. Lines have at most 80 columns.
struct SummaryText {
  private let style: Style
  private let labelWidth = 16

  /// Creates a printer.
  init(style: Style) { self.style = style }

  /// Adds the summary.
  ///
  /// - Parameters:
  ///   - summary: Totals of the run.
  ///   - service: Service that the client used.
  ///   - comparison: Comparison with the optimum, if the client has an accuracy bound.
  ///   - suggestion: Suggestion if a deferral was refused.
  func write(
    _ summary: TraceSummary, of service: ScriptedService = .updates,
    _ comparison: OptimumComparison? = nil, suggestion: String? = nil, to text: inout TextBuffer
  ) {
    text.add("\n")
    row(
      "fixes", "\(HumanFormat.count(summary.fixes)) in \(HumanFormat.duration(summary.duration))",
      to: &text)
    row("delivered", SummaryText.delivered(summary, by: service), to: &text)
    if service == .updates {
      row(
        "deferrals", "\(HumanFormat.count(summary.finishes - summary.deferralErrors)) finished",
        to: &text
      )
    }
    if let code = summary.firstDeferralError {
      let count =
        summary.deferralErrors == 1 ? "" : "\(HumanFormat.times(summary.deferralErrors)), first: "
      row("refused", style.paint(count + TraceText.text(code), .bad), to: &text)
      if let suggestion { row("suggestion", suggestion, to: &text) }
    }
    if summary.notices > 0 { row("notices", HumanFormat.count(summary.notices), to: &text) }
    if summary.lost > 0 {
      row("lost", style.paint(HumanFormat.count(Int(clamping: summary.lost)), .bad), to: &text)
    } else {
      row("lost", "none", to: &text)
    }
    row(
      "board",
      "woke \(HumanFormat.times(summary.hostWakes)), "
        + "awake \(HumanFormat.duration(summary.awakeTime)), CPU time \(HumanFormat.duration(summary.processorTime))",
      to: &text)
    if let comparison { write(comparison, to: &text) }
    if let energy = summary.energy { write(energy, summary.duration, to: &text) }
  }

  private func write(_ result: OptimumComparison, to text: inout TextBuffer) {
    let share = HumanFormat.decimal(result.error.exceededShare * 100, places: 2)
    row(
      "error",
      "above \(HumanFormat.distance(result.bound_m)) for \(share) % of the time, p95 "
        + "\(HumanFormat.distance(result.error.p95_m)), "
        + "worst \(HumanFormat.distance(result.error.maximum_m))",
      to: &text)
    func energies(
      _ name: String, _ optimum_mJ: Double, _ used_mJ: Double, _ ratio: Double?
    ) -> String {
      "\(name) \(HumanFormat.energy(optimum_mJ)); this run \(HumanFormat.energy(used_mJ)) "
        + "since the first report: \(SummaryText.ratio(ratio))"
    }
    row(
      "optimum",
      energies("total", result.totalOptimum_mJ, result.total_mJ, result.totalRatio), to: &text)
    row("", energies("receiver", result.optimum_mJ, result.receiver_mJ, result.ratio), to: &text)
    if result.hasSampledTimesToFix {
      row("", "(--ttff sampled: the optimum uses the median time to fix)", to: &text)
    } else if result.ratio != nil, let violation = SummaryText.violation(result) {
      row("", style.paint(violation, .bad), to: &text)
    }
  }

  /// Text for the deliveries of a service.
  static func delivered(_ summary: TraceSummary, by service: ScriptedService) -> String {
    func count(_ kind: TraceNotice.Kind) -> Int { summary.noticesByKind[kind] ?? 0 }
    switch service {
    case .updates:
      let batches =
        summary.batches == 1 ? "1 batch" : "\(HumanFormat.count(summary.batches)) batches"
      return "\(HumanFormat.count(summary.delivered)) in \(batches), longest delay "
        + HumanFormat.duration(summary.longestDelay)
    case .significantChange: return HumanFormat.count(count(.report), of: "significant change")
    case .visits:
      return HumanFormat.count(count(.arrived), of: "arrival") + ", "
        + HumanFormat.count(count(.departed), of: "departure")
    case .live:
      return HumanFormat.count(count(.report), of: "location") + ", flags changed "
        + "\(HumanFormat.times(count(.flags))), stationary changed \(HumanFormat.times(count(.stationary)))"
    case .hourly: return "\(HumanFormat.count(summary.fixes)) fixes, one an hour"
    case .region:
      return "region entered \(HumanFormat.times(count(.entered))), exited "
        + HumanFormat.times(count(.exited))
    }
  }

  /// Text for the ratio of an energy to the optimum.
  static func ratio(_ ratio: Double?) -> String {
    ratio.map { HumanFormat.decimal($0, places: 2) + " ×" } ?? "-"
  }

  /// Time with an error above the accuracy bound, which qualifies the ratio; nil if there was none.
  static func violation(_ comparison: OptimumComparison) -> String? {
    guard comparison.error.exceededSeconds > 0 else { return nil }
    let share = HumanFormat.decimal(comparison.error.exceededShare * 100, places: 2)
    let length = HumanFormat.duration(.seconds(Int64(comparison.error.exceededSeconds)))
    return "but error above \(HumanFormat.distance(comparison.bound_m)) for \(length) (\(share) %)"
  }

  private func write(_ energy: TraceEnergy, _ duration: Interval, to text: inout TextBuffer) {
    text.add("\n")
    text.add(style.paint("energy", .strong))
    text.add("                  this run    with gpsd        saved   mean power\n")
    energyRow("receiver", energy.receiver_mJ, energy.receiverAlwaysOn_mJ, duration, to: &text)
    energyRow("board", energy.board_mJ, energy.boardGpsd_mJ, duration, to: &text)
    energyRow(
      "total", energy.receiver_mJ + energy.board_mJ,
      energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ, duration, to: &text)
    text.add("\n")
    shares("receiver", energy.receiverUses, duration, to: &text)
    shares("board", energy.boardUses, duration, to: &text)
  }

  private func row(_ label: String, _ value: String, to text: inout TextBuffer) {
    text.add(style.paint(label, .strong))
    for _ in label.utf8.count..<labelWidth { text.add(" ") }
    text.add(value)
    text.add("\n")
  }

  private func energyRow(
    _ label: String, _ used: Double, _ gpsd: Double, _ duration: Interval, to text: inout TextBuffer
  ) {
    let saved = gpsd > 0 ? HumanFormat.share(gpsd - used, of: gpsd) : "-"
    let seconds = duration.seconds
    let mean = seconds > 0 ? HumanFormat.power(used / seconds, places: 1) : "-"
    text.add("  \(label)")
    for _ in label.utf8.count..<14 { text.add(" ") }
    for (value, width) in [
      (HumanFormat.energy(used), 16), (HumanFormat.energy(gpsd), 13), (saved, 13), (mean, 13),
    ] {
      for _ in value.utf8.count..<max(width, value.utf8.count) { text.add(" ") }
      text.add(value)
    }
    text.add("\n")
  }

  /// Adds the states with their time and share, wrapped at 79 columns.
  private func shares(
    _ label: String, _ uses: [TraceEnergy.Use], _ duration: Interval, to text: inout TextBuffer
  ) {
    var column = 0
    for (word, time, _) in uses where time > .zero {
      let share = HumanFormat.share(time.seconds, of: duration.seconds)
      let item = "\(word) \(HumanFormat.duration(time)) (\(share))"
      if column == 0 || column + 2 + item.utf8.count > 79 {
        if column > 0 { text.add("\n") }
        let head = column == 0 ? label : ""
        text.add(style.paint(head, .strong))
        for _ in head.utf8.count..<labelWidth { text.add(" ") }
        column = labelWidth
      } else {
        text.add(", ")
        column += 2
      }
      text.add(item)
      column += item.utf8.count
    }
    if column > 0 { text.add("\n") }
  }
}
