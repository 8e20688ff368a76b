import LocationTypes
import SimulatedHAL

/// The map of the report: track and fixes, north up, with a scale and without a background map.
struct ReportMap {
  /// Points of the track that are closer than this many SVG units are drawn as one.
  private static let minimumSpacing = 8.0
  /// Largest number of vertices of the track.
  private static let maximumVertices = 5_000

  private let x: Axis
  private let y: Axis
  private let height: Int
  /// Length of the scale and distance of the grid's lines, metres.
  private let scale_m: Double
  /// Length of an SVG unit, metres.
  private let unit_m: Double
  /// Vertices of the track up to the end of the run, and whether a gap of the recording precedes each.
  private let vertices: [(point: PlanePoint, isGap: Bool)]
  private let count: Int
  private let fixes: [PlanePoint]

  /// Creates the map of `track` up to the time `length` after its start. The fixes, and the plane on which all
  /// positions are projected, are those of `samples`.
  ///
  /// - Parameter gapLimit: Interval between two track points above which the recording has a gap.
  init(_ track: Track, _ length: Interval, _ samples: RunSamples, gapLimit: Interval) {
    count = samples.positions.count
    // A set has no order of its own.
    fixes = samples.positions.points.sorted { ($0.east, $0.north) < ($1.east, $1.north) }
    var trackPoints: [(point: PlanePoint, isGap: Bool)] = []
    var previous: Interval?
    for trackPoint in track.points {
      let offset = trackPoint.offset - track.points[0].offset
      if offset > length { break }
      let isGap = previous.map { offset - $0 > gapLimit } ?? false
      trackPoints.append((samples.plane.point(trackPoint.coordinate), isGap))
      previous = offset
    }
    let all = trackPoints.map(\.point) + fixes
    let eastRange = (all.map(\.east).min() ?? 0, all.map(\.east).max() ?? 0)
    let northRange = (all.map(\.north).min() ?? 0, all.map(\.north).max() ?? 0)
    // At least 20 m, with a margin of 8 % on each side; the aspect ratio is between 3:2 and 12:5.
    let width_m = max(eastRange.1 - eastRange.0, 20) * 1.16
    let height_m = max(northRange.1 - northRange.0, 20) * 1.16
    let shownWidth_m = max(width_m, height_m * 1.5)
    let shownHeight_m = max(height_m, shownWidth_m / 2.4)
    unit_m = shownWidth_m / Double(Chart.width)
    height = Int((shownHeight_m / unit_m).rounded())
    let scale_m = Axis.round(down: shownWidth_m * 0.28)
    self.scale_m = scale_m
    func axis(_ range: (Double, Double), _ shown_m: Double) -> Axis {
      let low = (range.0 + range.1 - shown_m) / 2
      let lines = stride(from: low + scale_m, to: low + shown_m, by: scale_m)
      return Axis(low: low, high: low + shown_m, ticks: lines.map { ($0, "") })
    }
    x = axis(eastRange, shownWidth_m)
    y = axis(northRange, shownHeight_m)
    vertices = ReportMap.thinned(trackPoints, unit_m * ReportMap.minimumSpacing)
  }

  /// The map as a chart.
  var chart: Chart {
    let (lines, gaps) = track
    let marks = ends
    let width = HumanFormat.distance(x.high - x.low)
    let share = HumanFormat.decimal(scale_m / (x.high - x.low) * 100, places: 2)
    let number = HumanFormat.count(count)
    return Chart(
      height: height, kind: "map", frame: "aspect-ratio:\(Chart.width)/\(height)",
      description: "Map, north up, \(width) wide: track and \(number) fixes", x: x, y: y,
      layers: [
        Chart.Layer(style: "gap", legend: "gap in the recording", shape: .lines(gaps)),
        Chart.Layer(style: "trackline", legend: "track", shape: .lines(lines)),
        Chart.Layer(
          style: count > 500 ? "fix many" : "fix", legend: "fixes",
          shape: .dots(fixes.map { ($0.east, $0.north) })),
        Chart.Layer(style: "end", legend: nil, shape: .dots(marks.map(\.at))),
        // The start is a ring, the end a filled dot.
        Chart.Layer(
          style: "core", legend: nil, shape: .dots(marks.count > 1 ? [marks[0].at] : [])),
      ], labels: marks,
      below: """
        <div class="under"><span class="scale" style="width:\(share)%">\
        \(HumanFormat.distance(scale_m))</span><span class="north">N ↑</span></div>
        """,
      remark: fixes.count < count
        ? "\(number) fixes; neighbours are merged, outliers are kept" : nil)
  }

  /// The track, divided at gaps of the recording, and the lines across the gaps.
  private var track: (lines: [[Chart.Point]], gaps: [[Chart.Point]]) {
    var lines: [[Chart.Point]] = []
    var gaps: [[Chart.Point]] = []
    for vertex in vertices {
      let point = (x: vertex.point.east, y: vertex.point.north)
      if !vertex.isGap, let last = lines.indices.last {
        lines[last].append(point)
      } else {
        if let last = lines.last?.last { gaps.append([last, point]) }
        lines.append([point])
      }
    }
    return (lines, gaps)
  }

  /// Start and end of the track with their labels; one label if both have nearly the same position.
  private var ends: [(at: Chart.Point, text: String, isLeft: Bool)] {
    guard let first = vertices.first?.point, let last = vertices.last?.point else { return [] }
    let (start, end) = ((x: first.east, y: first.north), (x: last.east, y: last.north))
    let isStartLeft = x.position(start.x) > 0.6
    let limit_m = unit_m * Double(Chart.width) / 25
    if abs(start.x - end.x) < limit_m, abs(start.y - end.y) < limit_m {
      return [(start, "start and end", isStartLeft)]
    }
    let (startPart, endPart) = (x.position(start.x), x.position(end.x))
    var isEndLeft = endPart > 0.6
    // Labels at nearly the same height would overlap, so they are placed on opposite sides.
    if abs(y.position(start.y) - y.position(end.y)) < 0.14, abs(startPart - endPart) < 0.4 {
      isEndLeft = startPart > endPart
      if isStartLeft == isEndLeft, (0.15...0.85).contains(endPart) { isEndLeft.toggle() }
    }
    return [(start, "start", isStartLeft), (end, "end", isEndLeft)]
  }

  /// Removes vertices that are closer to the previous one than `distance_m`, which grows only until at most
  /// ``maximumVertices`` remain, so that visible detail is kept.
  private static func thinned(
    _ points: [(point: PlanePoint, isGap: Bool)], _ distance_m: Double
  ) -> [(point: PlanePoint, isGap: Bool)] {
    var selected = Array(points.prefix(1))
    for vertex in points.dropFirst() {
      let last = selected[selected.count - 1].point
      let (east, north) = (vertex.point.east - last.east, vertex.point.north - last.north)
      if east * east + north * north >= distance_m * distance_m { selected.append(vertex) }
    }
    if let last = points.last, selected.last?.point != last.point { selected.append(last) }
    return selected.count <= maximumVertices ? selected : thinned(points, distance_m * 1.5)
  }
}
