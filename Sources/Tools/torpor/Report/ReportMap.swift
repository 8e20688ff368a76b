import LocationTypes
import SimulatedHAL

extension ReportPage {
  /// The map: track and fixes, north up, without a background. A ring marks the start, a dot the end.
  var map: Chart {
    // A set has no order of its own.
    let fixes = samples.positions.points.sorted { ($0.x, $0.y) < ($1.x, $1.y) }
    let track = trackLines
    let (low, high) = (track.joined() + fixes).bounds
    // At least 20 m, with a margin of 8 % on each side; the aspect ratio is between 3:2 and 12:5.
    let least_m = max(high.y - low.y, 20) * 1.16
    let width_m = max(max(high.x - low.x, 20) * 1.16, least_m * 1.5)
    let height_m = max(least_m, width_m / 2.4)
    let square_m = Axis.round(down: width_m * 0.28)
    // The labels of the first square are the scale.
    func axis(_ middle: Double, _ length_m: Double, _ labels: [String]) -> Axis {
      let (low, high) = (middle - length_m / 2, middle + length_m / 2)
      let ticks = stride(from: low, to: high, by: square_m).enumerated()
        .map { ($1, $0 < labels.count ? labels[$0] : "") }
      return Axis(low: low, high: high, ticks: ticks)
    }
    let lines = ReportPage.thinned(track, width_m)
    let gaps = zip(lines, lines.dropFirst()).map { Array($0.suffix(1) + $1.prefix(1)) }
    let (start, end) = ([[track[0][0]]], [Array(track[track.count - 1].suffix(1))])
    return Chart(
      kind: "map", title: "Map",
      note: "north up; \(HumanFormat.count(summary.fixes)) fixes"
        + (fixes.count < summary.fixes ? "; neighbours are merged, outliers are kept" : ""),
      x: axis((low.x + high.x) / 2, width_m, ["0", HumanFormat.distance(square_m)]),
      y: axis((low.y + high.y) / 2, height_m, []),
      height: Int((height_m / width_m * 10_000).rounded()),
      layers: [
        ("gap", "gap in the recording", gaps),
        ("trackline", "track", lines.filter { $0.count > 1 }),
        (summary.fixes > 500 ? "fix many" : "fix", "fixes", fixes.map { [$0] }),
        ("ring", nil, start), ("start", "start", start), ("end", "end", end),
      ])
  }

  /// The track until the end of the run, divided at gaps of the recording.
  private var trackLines: [[Chart.Point]] {
    var (lines, previous) = ([[]] as [[Chart.Point]], track.points[0].offset)
    for point in track.points where point.offset - track.points[0].offset <= summary.duration {
      if point.offset - previous > track.effectiveGapLimit { lines.append([]) }
      lines[lines.count - 1].append(samples.plane.point(point.coordinate))
      previous = point.offset
    }
    return lines
  }

  /// The lines without points that are closer than 8 SVG units to the one before. This distance grows until at most
  /// 5,000 points remain, so that visible detail is kept.
  private static func thinned(_ lines: [[Chart.Point]], _ width_m: Double) -> [[Chart.Point]] {
    var (kept, limit_m) = (lines, width_m * 8 / 10_000)
    repeat {
      var last: Chart.Point = [.infinity, 0]
      kept = lines.map { line in
        line.filter { point in
          let step = point - last
          guard (step * step).sum() >= limit_m * limit_m else { return false }
          last = point
          return true
        }
      }.filter { !$0.isEmpty }
      limit_m *= 1.5
    } while kept.joined().count > 5_000
    return kept
  }
}
