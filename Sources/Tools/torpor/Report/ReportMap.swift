import LocationSimulation
import LocationTypes
import SimulatedHAL

/// The way and the fixes on a plain map: north up, a scale, no picture of the land.
struct ReportMap {
  /// The picture's width in its own units; what is nearer than ``fine`` of them is one place.
  static let width = 10_000
  private static let fine = 8
  /// How many corners the way may have.
  static let mostCorners = 5_000

  private let west: Double
  private let north: Double
  private let unitsPerMetre: Double
  private let height: Int
  /// The way as far as it was gone: corners, and whether a gap of the recording leads to each.
  private var corners: [(point: PlanePoint, isGap: Bool)] = []
  private let fixes: PlaceSketch

  /// Places of `track` as far as `length` goes, and of the fixes, on the plane of `sketch`.
  init(_ track: Track, _ length: Interval, _ sketch: RunSketch, gapLimit: Interval) {
    fixes = sketch.places
    var way: [(point: PlanePoint, isGap: Bool)] = []
    var before: Interval?
    for known in track.points {
      let offset = known.offset - track.points[0].offset
      if offset > length { break }
      let isGap = before.map { offset - $0 > gapLimit } ?? false
      way.append((sketch.plane.point(known.coordinate), isGap))
      before = offset
    }
    let all = way.map(\.point) + fixes.points
    let east = (all.map(\.east).min() ?? 0, all.map(\.east).max() ?? 0)
    let up = (all.map(\.north).min() ?? 0, all.map(\.north).max() ?? 0)
    // Twenty metres are shown at least, the picture is never higher than wide, nor very flat.
    let across = max(east.1 - east.0, 20) * 1.16
    let along = max(up.1 - up.0, 20) * 1.16
    let shownAcross = max(across, along * 1.5)
    let shownAlong = max(along, shownAcross / 2.4)
    unitsPerMetre = Double(ReportMap.width) / shownAcross
    height = Int((shownAlong * unitsPerMetre).rounded())
    west = (east.0 + east.1 - shownAcross) / 2
    north = (up.0 + up.1 + shownAlong) / 2
    corners = thinned(way)
  }

  /// Adds the picture.
  func write(to page: inout Markup) {
    let hasGaps = corners.contains { $0.isGap }
    page.element("figure", ["class": "map"]) { page in
      page.element(
        "div", ["class": "canvas", "style": "aspect-ratio:\(ReportMap.width)/\(height)"]
      ) { page in
        writePicture(to: &page)
        writeLabels(to: &page)
      }
      writeScale(to: &page)
      page.element("figcaption", ["class": "key"]) { page in
        if corners.count > 1 { page.element("span", ["class": "k way"], "the way") }
        if hasGaps { page.element("span", ["class": "k gap"], "gap in the recording") }
        if fixes.count > 0 { page.element("span", ["class": "k fix"], "fixes") }
        if fixes.points.count < fixes.count {
          page.element(
            "span", ["class": "note"],
            "\(HumanFormat.count(fixes.count)) fixes, neighbours drawn as one; the outermost are kept"
          )
        }
      }
    }
  }

  private func writePicture(to page: inout Markup) {
    let words =
      "Map, north up, \(HumanFormat.distance(Double(ReportMap.width) / unitsPerMetre)) wide: the way and "
      + "\(HumanFormat.count(fixes.count)) fixes"
    page.element(
      "svg", ["viewBox": "0 0 \(ReportMap.width) \(height)", "role": "img", "aria-label": words]
    ) { page in
      page.leaf("path", ["class": "grid", "d": grid.string])
      var way = PathData()
      var gaps = PathData()
      var last = (0, 0)
      for (index, corner) in corners.enumerated() {
        let place = place(corner.point)
        if index == 0 || corner.isGap {
          if index > 0 {
            gaps.move(last.0, last.1)
            gaps.line(place.0, place.1)
          }
          way.move(place.0, place.1)
        } else {
          way.step(place.0 - last.0, place.1 - last.1)
        }
        last = place
      }
      if !gaps.isEmpty { page.leaf("path", ["class": "gapline", "d": gaps.string]) }
      if corners.count > 1 { page.leaf("path", ["class": "wayline", "d": way.string]) }
      let dots = dots
      if !dots.isEmpty {
        page.leaf("path", ["class": fixes.count > 500 ? "dots many" : "dots", "d": dots.string])
      }
      for (name, point) in ends {
        let place = place(point)
        var dot = PathData()
        dot.dot(place.0, place.1)
        page.element("path", ["class": "end", "d": dot.string]) { $0.element("title", name) }
        // The start is a ring, the end is full.
        if name == "start" { page.leaf("path", ["class": "core", "d": dot.string]) }
      }
    }
  }

  private func writeLabels(to page: inout Markup) {
    var before: (left: Double, top: Double, isLeft: Bool)?
    for (name, point) in ends {
      let place = place(point)
      let left = Double(place.0) / Double(ReportMap.width) * 100
      let top = Double(place.1) / Double(height) * 100
      var isLeft = left > 60
      // Two words at one height would cover each other: they go to either side.
      if let before, abs(before.top - top) < 14, abs(before.left - left) < 40 {
        isLeft = before.left > left
        if before.isLeft == isLeft, left > 15, left < 85 { isLeft.toggle() }
      }
      before = (left, top, isLeft)
      page.element(
        "span",
        [
          "class": isLeft ? "pin left" : "pin",
          "style":
            "left:\(HumanFormat.decimal(left, places: 2))%;top:\(HumanFormat.decimal(top, places: 2))%",
        ], name)
    }
  }

  /// Below the picture, where they cover nothing.
  private func writeScale(to page: inout Markup) {
    page.element("div", ["class": "under"]) { page in
      let width = HumanFormat.decimal(scale * unitsPerMetre / 100, places: 2)
      page.element(
        "span", ["class": "scale", "style": "width:\(width)%"], HumanFormat.distance(scale))
      page.element("span", ["class": "north"], "N ↑")
    }
  }

  /// Start and end; one where both are in the same place.
  private var ends: [(name: String, point: PlanePoint)] {
    guard let first = corners.first, let last = corners.last else { return [] }
    let (a, b) = (place(first.point), place(last.point))
    let near = ReportMap.width / 25
    if abs(a.0 - b.0) < near, abs(a.1 - b.1) < near { return [("start and end", first.point)] }
    return [("start", first.point), ("end", last.point)]
  }

  /// A round length of about a quarter of the picture, metres.
  private var scale: Double {
    ValueAxis.round(down: Double(ReportMap.width) / unitsPerMetre * 0.28)
  }

  /// Lines as far apart as the scale is long.
  private var grid: PathData {
    var lines = PathData()
    let step = scale * unitsPerMetre
    var x = step
    while x < Double(ReportMap.width) {
      lines.move(Int(x), 0)
      lines.upright(to: height)
      x += step
    }
    var y = Double(height) - step
    while y > 0 {
      lines.move(0, Int(y))
      lines.across(to: ReportMap.width)
      y -= step
    }
    return lines
  }

  /// The fixes; those of one fine cell are one dot.
  private var dots: PathData {
    var dots = PathData()
    var taken: Set<Int> = []
    for point in fixes.points {
      let (x, y) = place(point)
      let cell = y / ReportMap.fine * ReportMap.width + x / ReportMap.fine
      if taken.insert(cell).inserted { dots.dot(x, y) }
    }
    return dots
  }

  private func place(_ point: PlanePoint) -> (Int, Int) {
    (
      Int(((point.east - west) * unitsPerMetre).rounded()),
      Int(((north - point.north) * unitsPerMetre).rounded())
    )
  }

  /// Leaves out what is near the corner before; no farther than needed to have few enough, so that
  /// what sticks out by more than can be seen stays.
  private func thinned(
    _ way: [(point: PlanePoint, isGap: Bool)]
  ) -> [(point: PlanePoint, isGap: Bool)] {
    var distance = Double(ReportMap.fine) / unitsPerMetre
    while true {
      var kept: [(point: PlanePoint, isGap: Bool)] = []
      for corner in way {
        if let last = kept.last?.point {
          let east = corner.point.east - last.east
          let north = corner.point.north - last.north
          if east * east + north * north < distance * distance { continue }
        }
        kept.append(corner)
      }
      if let last = way.last, let shown = kept.last, shown.point != last.point {
        kept.append(last)
      }
      if kept.count <= ReportMap.mostCorners { return kept }
      distance *= 1.5
    }
  }
}
