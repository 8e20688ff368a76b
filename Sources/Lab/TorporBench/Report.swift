/// The output of the bench: a table, or JSON.
struct Report {
  var measurements: [Measurement] = []
  var drive: DriveMeasurement?
  var days: [DayMeasurement] = []

  var table: String {
    var lines = [
      row(["hot path", "per", "instructions", "budget", "ns", "allocations"])
    ]
    for m in measurements {
      lines.append(
        row([
          m.name, m.unit, formatted(m.instructions, 1), formatted(m.budget, 0),
          formatted(m.nanoseconds, 1), m.allocations == 0 ? "0" : formatted(m.allocations, 4),
        ]))
    }
    if let drive { lines += ["", driveLine(drive)] }
    if !days.isEmpty { lines.append("") }
    for day in days {
      lines.append(
        "a simulated day, \(day.service): \(day.fixes) fixes in \(formatted(day.seconds, 3)) s, "
          + "\(formatted(day.nanosecondsPerFix, 0)) ns a fix with the simulator, "
          + "\(formatted(day.allocationsPerFix, 3)) allocations a fix")
    }
    lines += overBudget
    return lines.joined(separator: "\n")
  }

  /// Messages about the paths and the drive that exceed their budgets.
  var overBudget: [String] {
    var lines = measurements.filter(\.isOverBudget).map { "\($0.name) exceeds its budget" }
    if let drive, drive.mean > DriveMeasurement.budget_ns {
      lines.append("the drive exceeds 2 us a step")
    }
    return lines
  }

  var json: String {
    let paths = measurements.map { m in
      "{\"name\":\"\(m.name)\",\"unit\":\"\(m.unit)\",\"instructions\":\(number(m.instructions)),"
        + "\"budget\":\(number(m.budget)),\"ns\":\(number(m.nanoseconds)),"
        + "\"allocations\":\(number(m.allocations))}"
    }
    let days = days.map { day in
      "{\"service\":\"\(day.service)\",\"fixes\":\(day.fixes),"
        + "\"seconds\":\(number(day.seconds)),\"ns_per_fix\":\(number(day.nanosecondsPerFix)),"
        + "\"allocations_per_fix\":\(number(day.allocationsPerFix))}"
    }
    let step =
      drive.map {
        "\"drive\":{\"steps\":\($0.steps),\"mean_ns\":\(number($0.mean)),"
          + "\"worst_ns\":\(number($0.worst)),\"allocations\":\($0.allocations)},"
      } ?? ""
    return "{\"paths\":[" + paths.joined(separator: ",") + "],\(step)\"days\":["
      + days.joined(separator: ",") + "]}"
  }

  private func driveLine(_ drive: DriveMeasurement) -> String {
    "engine step, \(ManyClientEngine.clients) clients x 20 regions, \(drive.steps) steps along a drive: "
      + "mean \(formatted(drive.mean / 1e3, 3)) us, worst \(formatted(drive.worst / 1e3, 1)) us, "
      + "\(drive.allocations) allocations, \(drive.regionNotices) region notices"
  }

  private func row(_ cells: [String]) -> String {
    let widths = [16, 9, 13, 9, 9, 12]
    return zip(cells, widths).enumerated().map { index, cell in
      let (text, width) = cell
      let space = String(repeating: " ", count: max(0, width - text.count))
      return index < 2 ? text + space : space + text
    }.joined(separator: " ")
  }

  /// A number with `digits` decimals, or "-" for nil.
  private func formatted(_ value: Double?, _ digits: Int) -> String {
    guard let value else { return "-" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    if digits == 0 { return "\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  private func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "null" }
    return "\((value * 1e4).rounded() / 1e4)"
  }
}

/// Host cost of a simulated day.
struct DayMeasurement {
  /// Service of the client.
  var service: String
  var fixes: Int
  var seconds: Double
  var allocations: UInt64

  var nanosecondsPerFix: Double { seconds * 1e9 / Double(fixes) }
  var allocationsPerFix: Double { Double(allocations) / Double(fixes) }
}
