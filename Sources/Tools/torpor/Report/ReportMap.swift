import LocationSimulation
import LocationTypes
import SimulatedHAL

/// The map in the HTML report of a simulated run (``ReportPage``): track and fixes, north up, with a scale and without
/// a background map. Writes only markup, no file.
struct ReportMap {
  /// Width of the picture in SVG units.
  static let width = 10_000
  /// Points of the track or fixes that are closer than about this many SVG units are drawn as one.
  private static let minimumSpacing = 8
  /// Largest number of vertices of the track.
  static let maximumVertices = 5_000

  private let west: Double
  private let north: Double
  private let unitsPerMetre: Double
  private let height: Int
  /// Vertices of the track up to the end of the run, and whether a gap of the recording precedes each.
  private var vertices: [(point: PlanePoint, isGap: Bool)] = []
  private let fixes: PositionSamples

  /// Creates the map of `track` up to the time `length` after its start. The fixes, and the plane on which all
  /// positions are projected, are those of `samples`.
  ///
  /// - Parameter gapLimit: Interval between two track points above which the recording has a gap.
  init(_ track: Track, _ length: Interval, _ samples: RunSamples, gapLimit: Interval) {
    fixes = samples.positions
    var trackPoints: [(point: PlanePoint, isGap: Bool)] = []
    var previous: Interval?
    for trackPoint in track.points {
      let offset = trackPoint.offset - track.points[0].offset
      if offset > length { break }
      let isGap = previous.map { offset - $0 > gapLimit } ?? false
      trackPoints.append((samples.plane.point(trackPoint.coordinate), isGap))
      previous = offset
    }
    let all = trackPoints.map(\.point) + fixes.points
    let eastRange = (all.map(\.east).min() ?? 0, all.map(\.east).max() ?? 0)
    let northRange = (all.map(\.north).min() ?? 0, all.map(\.north).max() ?? 0)
    // At least 20 m, with a margin of 8 % on each side; the aspect ratio is between 3:2 and 12:5.
    let width_m = max(eastRange.1 - eastRange.0, 20) * 1.16
    let height_m = max(northRange.1 - northRange.0, 20) * 1.16
    let shownWidth_m = max(width_m, height_m * 1.5)
    let shownHeight_m = max(height_m, shownWidth_m / 2.4)
    unitsPerMetre = Double(ReportMap.width) / shownWidth_m
    height = Int((shownHeight_m * unitsPerMetre).rounded())
    west = (eastRange.0 + eastRange.1 - shownWidth_m) / 2
    north = (northRange.0 + northRange.1 + shownHeight_m) / 2
    vertices = thinned(trackPoints)
  }

  /// Adds the map with its legend.
  func write(to page: inout Markup) {
    let hasGaps = vertices.contains { $0.isGap }
    page.element("figure", ["class": "map"]) { page in
      page.element(
        "div", ["class": "canvas", "style": "aspect-ratio:\(ReportMap.width)/\(height)"]
      ) { page in
        writePicture(to: &page)
        writeLabels(to: &page)
      }
      writeScale(to: &page)
      page.element("figcaption", ["class": "key"]) { page in
        if vertices.count > 1 { page.element("span", ["class": "k path"], "track") }
        if hasGaps { page.element("span", ["class": "k gap"], "gap in the recording") }
        if fixes.count > 0 { page.element("span", ["class": "k fix"], "fixes") }
        if fixes.points.count < fixes.count {
          page.element(
            "span", ["class": "note"],
            "\(HumanFormat.count(fixes.count)) fixes; neighbours are merged, outliers are kept"
          )
        }
      }
    }
  }

  private func writePicture(to page: inout Markup) {
    let words =
      "Map, north up, \(HumanFormat.distance(Double(ReportMap.width) / unitsPerMetre)) wide: track and "
      + "\(HumanFormat.count(fixes.count)) fixes"
    page.element(
      "svg", ["viewBox": "0 0 \(ReportMap.width) \(height)", "role": "img", "aria-label": words]
    ) { page in
      page.emptyElement("path", ["class": "grid", "d": grid.string])
      var line = PathData()
      var gaps = PathData()
      var last = (0, 0)
      for (index, vertex) in vertices.enumerated() {
        let xy = position(vertex.point)
        if index == 0 || vertex.isGap {
          if index > 0 {
            gaps.move(last.0, last.1)
            gaps.line(xy.0, xy.1)
          }
          line.move(xy.0, xy.1)
        } else {
          line.step(xy.0 - last.0, xy.1 - last.1)
        }
        last = xy
      }
      if !gaps.isEmpty { page.emptyElement("path", ["class": "gapline", "d": gaps.string]) }
      if vertices.count > 1 { page.emptyElement("path", ["class": "pathline", "d": line.string]) }
      let dots = dots
      if !dots.isEmpty {
        page.emptyElement(
          "path", ["class": fixes.count > 500 ? "dots many" : "dots", "d": dots.string])
      }
      for (name, point) in ends {
        let xy = position(point)
        var dot = PathData()
        dot.dot(xy.0, xy.1)
        page.element("path", ["class": "end", "d": dot.string]) { $0.element("title", name) }
        // The start is a ring, the end a filled dot.
        if name == "start" { page.emptyElement("path", ["class": "core", "d": dot.string]) }
      }
    }
  }

  private func writeLabels(to page: inout Markup) {
    var previous: (left: Double, top: Double, isLeft: Bool)?
    for (name, point) in ends {
      let xy = position(point)
      let left = Double(xy.0) / Double(ReportMap.width) * 100
      let top = Double(xy.1) / Double(height) * 100
      var isLeft = left > 60
      // Labels at nearly the same height would overlap, so they are placed on opposite sides.
      if let previous, abs(previous.top - top) < 14, abs(previous.left - left) < 40 {
        isLeft = previous.left > left
        if previous.isLeft == isLeft, left > 15, left < 85 { isLeft.toggle() }
      }
      previous = (left, top, isLeft)
      page.element(
        "span",
        [
          "class": isLeft ? "pin left" : "pin",
          "style":
            "left:\(HumanFormat.decimal(left, places: 2))%;top:\(HumanFormat.decimal(top, places: 2))%",
        ], name)
    }
  }

  /// Adds scale and north arrow below the picture.
  private func writeScale(to page: inout Markup) {
    page.element("div", ["class": "under"]) { page in
      let width = HumanFormat.decimal(scale * unitsPerMetre / 100, places: 2)
      page.element(
        "span", ["class": "scale", "style": "width:\(width)%"], HumanFormat.distance(scale))
      page.element("span", ["class": "north"], "N ↑")
    }
  }

  /// Start and end of the track; one label if both have the same position.
  private var ends: [(name: String, point: PlanePoint)] {
    guard let first = vertices.first, let last = vertices.last else { return [] }
    let (a, b) = (position(first.point), position(last.point))
    let limit = ReportMap.width / 25
    if abs(a.0 - b.0) < limit, abs(a.1 - b.1) < limit { return [("start and end", first.point)] }
    return [("start", first.point), ("end", last.point)]
  }

  /// Length of the scale, metres: the greatest round number of at most 28 % of the picture's width.
  private var scale: Double {
    ValueAxis.round(down: Double(ReportMap.width) / unitsPerMetre * 0.28)
  }

  /// Grid lines with the distance of the scale.
  private var grid: PathData {
    var lines = PathData()
    let step = scale * unitsPerMetre
    var x = step
    while x < Double(ReportMap.width) {
      lines.move(Int(x), 0)
      lines.verticalLine(to: height)
      x += step
    }
    var y = Double(height) - step
    while y > 0 {
      lines.move(0, Int(y))
      lines.horizontalLine(to: ReportMap.width)
      y -= step
    }
    return lines
  }

  /// The fixes, at most one dot for each cell of ``minimumSpacing`` × ``minimumSpacing`` units.
  private var dots: PathData {
    var dots = PathData()
    var occupiedCells: Set<Int> = []
    for point in fixes.points {
      let (x, y) = position(point)
      let cell = y / ReportMap.minimumSpacing * ReportMap.width + x / ReportMap.minimumSpacing
      if occupiedCells.insert(cell).inserted { dots.dot(x, y) }
    }
    return dots
  }

  private func position(_ point: PlanePoint) -> (Int, Int) {
    (
      Int(((point.east - west) * unitsPerMetre).rounded()),
      Int(((north - point.north) * unitsPerMetre).rounded())
    )
  }

  /// Removes vertices that are close to the previous one. The distance starts at ``minimumSpacing`` units and grows
  /// only until at most ``maximumVertices`` remain, so that visible detail is kept.
  private func thinned(
    _ points: [(point: PlanePoint, isGap: Bool)]
  ) -> [(point: PlanePoint, isGap: Bool)] {
    var distance = Double(ReportMap.minimumSpacing) / unitsPerMetre
    while true {
      var selected: [(point: PlanePoint, isGap: Bool)] = []
      for vertex in points {
        if let last = selected.last?.point {
          let east = vertex.point.east - last.east
          let north = vertex.point.north - last.north
          if east * east + north * north < distance * distance { continue }
        }
        selected.append(vertex)
      }
      if let last = points.last, let shown = selected.last, shown.point != last.point {
        selected.append(last)
      }
      if selected.count <= ReportMap.maximumVertices { return selected }
      distance *= 1.5
    }
  }
}
