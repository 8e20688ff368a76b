import LocationSimulation
import LocationTypes
import TextFormats

/// Output of `torpor tune`: a table for each track and a recommendation for each use case, as text or JSON Lines.
struct TuneReport: ~Copyable {
  private let board: String
  private let battery: Battery?
  private let uplink: TuneUplink?
  private let isJSON: Bool
  private let style: Style
  private var text = TextBuffer()
  private var json = JSONOutput()
  /// Whether a table was printed, so that the legend is needed.
  private var hasTable = false

  /// Creates an empty report.
  init(
    _ board: String, _ battery: Battery?, _ uplink: TuneUplink? = nil, isJSON: Bool, style: Style
  ) {
    self.board = board
    self.battery = battery
    self.uplink = uplink
    self.isJSON = isJSON
    self.style = style
  }

  /// Returns the pending output, UTF-8, and removes it.
  mutating func takeBytes() -> [UInt8] {
    defer {
      text.removeAll()
      json.removeAll()
    }
    return isJSON ? json.text.bytes : text.bytes
  }

  /// Explanation of columns.
  private static let legend = """
    violated: share of the time with an error of the last report above the desired accuracy
    p95: error that is not exceeded for 95 % of the time


    """

  /// Adds the runs on a track.
  mutating func add(_ runs: [TuneRun], _ path: String, _ duration: Interval) {
    guard !isJSON else {
      for run in runs { write(run, path) }
      return
    }
    let name = path == "-" ? "standard input" : String(path.split(separator: "/").last ?? "")
    text.add("board \(board): \(name), \(HumanFormat.duration(duration))")
    if let uplink {
      text.add(", uploads by \(uplink.radio.text) every \(HumanFormat.duration(uplink.every))")
    }
    text.add("\n\n")
    var columns = ["service", "motion line", "receiver mW", "board mW"]
    columns += uplink == nil ? ["total mW"] : ["radio mW", "total mW", "uploads"]
    columns += ["fixes", "violated", "p95"] + (battery == nil ? [] : ["battery life"])
    var table = TextTable(columns, leftColumns: 2)
    for run in runs { table.add(row(of: run)) }
    table.write(to: &text, style: style)
    if runs.contains(where: { TuneReport.exceedsLimit($0.error?.exceededShare ?? 0) }) {
      text.add(
        "! violated for more than \(HumanFormat.percent(TuneRecommendation.maximumBoundViolation * 100)) "
          + "of the time\n")
    }
    text.add("\n")
    hasTable = true
  }

  private func row(of run: TuneRun) -> [String] {
    var row = [run.setting.text, run.setting.hasMotionLine ? "yes" : "no"]
    row.append(HumanFormat.decimal(run.receiver_mW, places: 2))
    row.append(HumanFormat.decimal(run.board_mW, places: 2))
    if uplink != nil { row.append(HumanFormat.decimal(run.radio_mW, places: 2)) }
    row.append(HumanFormat.decimal(run.together_mW, places: 2))
    if uplink != nil { row.append(HumanFormat.count(run.uploads)) }
    row.append(HumanFormat.count(run.summary.fixes))
    row.append(run.error.map { TuneReport.violationText($0.exceededShare) } ?? "-")
    row.append(run.error.map { HumanFormat.distance($0.p95_m) } ?? "-")
    if let battery { row.append(battery.lifeText(at: run.together_mW)) }
    return row
  }

  /// Adds the recommendations.
  mutating func finish(_ picks: [TuneRecommendation]) {
    if hasTable { text.add(TuneReport.legend) }
    if !isJSON { text.add(style.paint("Best setting for each use case", .strong) + "\n") }
    for pick in picks {
      if isJSON { write(pick) } else { text.add(recommendationText(pick) + "\n") }
    }
  }

  private func recommendationText(_ pick: TuneRecommendation) -> String {
    let useCase = pick.useCase.text(timeout: pick.setting.timeout)
    var parts = ["\(useCase): \(TuneReport.name(pick.setting))"]
    parts[0] += ", \(HumanFormat.power(pick.sum.mean_mW))"
    if let battery { parts[0] += ", \(battery.lifeText(at: pick.sum.mean_mW))" }
    if pick.setting.useCase.bound_m != nil {
      parts.append("violated \(TuneReport.violationText(pick.sum.violationShare)) of the time")
    }
    for other in pick.others {
      var text = "\(TuneReport.difference(other.setting, pick.setting)) "
      text += HumanFormat.power(other.sum.mean_mW)
      if other.setting.useCase.bound_m != nil {
        text += ", violated \(TuneReport.violationText(other.sum.violationShare))"
      }
      parts.append(text)
    }
    return "  " + parts.joined(separator: "; ")
  }

  /// Text of a setting, for a sentence.
  private static func name(_ setting: TuneSetting) -> String {
    setting.text + (setting.hasMotionLine ? ", with a motion line" : "")
  }

  /// Text of the difference between `other` and the recommended setting.
  private static func difference(_ other: TuneSetting, _ pick: TuneSetting) -> String {
    guard other.useCase == pick.useCase else { return name(other) }
    var parts: [String] = []
    if other.batches != pick.batches {
      parts.append(other.batches ? "with batching" : "without batching")
    }
    if other.hasMotionLine != pick.hasMotionLine {
      parts.append(other.hasMotionLine ? "with a motion line" : "without a motion line")
    }
    if other.isLaunched != pick.isLaunched {
      parts.append(other.isLaunched ? "launched for each event" : "always connected")
    }
    return parts.joined(separator: " and ")
  }

  private static func exceedsLimit(_ share: Double) -> Bool {
    share > TuneRecommendation.maximumBoundViolation
  }

  /// Share of the time with an error above the bound, marked with `!` if it is too high for a recommendation. Such a
  /// share has as many digits as distinguish it from the limit, at most six.
  private static func violationText(_ share: Double) -> String {
    func digits(_ share: Double, _ places: Int) -> String {
      HumanFormat.decimal(share * 100, places: places)
    }
    guard exceedsLimit(share) else { return digits(share, 2) + " %" }
    let limit = TuneRecommendation.maximumBoundViolation
    let places = (2..<6).first { digits(share, $0) != digits(limit, $0) } ?? 6
    return "! \(digits(share, places)) %"
  }
}

extension TuneReport {
  private mutating func write(_ run: TuneRun, _ path: String) {
    let (board, battery, uplink) = (board, battery, uplink)
    json.line { json in
      json.member("kind", "run")
      json.member("track", path)
      json.member("board", board)
      TuneReport.write(run.setting, uplink, to: &json)
      json.member("duration_s", run.summary.duration.microseconds, scale: 6)
      json.member("receiver_mw", run.receiver_mW)
      json.member("board_mw", run.board_mW)
      if uplink != nil { json.member("radio_mw", run.radio_mW) }
      json.member("together_mw", run.together_mW)
      if uplink != nil { json.member("uploads", Int64(run.uploads)) }
      json.member("fixes", Int64(run.summary.fixes))
      json.member("delivered", Int64(run.summary.delivered))
      json.member("notices", Int64(run.summary.notices))
      json.member("lost", Int64(run.summary.lost))
      if let error = run.error {
        json.member("broken_share", error.exceededShare)
        json.member("broken_too_often", TuneReport.exceedsLimit(error.exceededShare))
        json.member("p95_m", error.p95_m)
      }
      TuneReport.writeLife(battery, at: run.together_mW, to: &json)
    }
  }

  private mutating func write(_ pick: TuneRecommendation) {
    let (board, battery, uplink) = (board, battery, uplink)
    json.line { json in
      json.member("kind", "pick")
      json.member("board", board)
      json.member("question", pick.useCase.jsonName)
      if let bound = pick.useCase.bound_m { json.member("within_m", bound) }
      TuneReport.write(pick.setting, uplink, to: &json)
      json.member("together_mw", pick.sum.mean_mW)
      if pick.setting.useCase.bound_m != nil {
        json.member("broken_share", pick.sum.violationShare)
      }
      TuneReport.writeLife(battery, at: pick.sum.mean_mW, to: &json)
    }
  }

  private static func write(
    _ setting: TuneSetting, _ uplink: TuneUplink?, to json: inout JSONOutput
  ) {
    json.member("service", setting.useCase.service.rawValue)
    if let bound = setting.useCase.bound_m { json.member("accuracy_m", bound) }
    if setting.useCase == .wholeTrack { json.member("batching", setting.batches) }
    json.member("motion_line", setting.hasMotionLine)
    if setting.isLaunched { json.member("launched", true) }
    if let uplink {
      json.member("uplink", uplink.radio.rawValue)
      json.member("every_s", uplink.every.microseconds, scale: 6)
    }
  }

  private static func writeLife(
    _ battery: Battery?, at power_mW: Double, to json: inout JSONOutput
  ) {
    if let seconds = battery?.life(at: power_mW)?.seconds { json.member("battery_s", seconds) }
  }
}
