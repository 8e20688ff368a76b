import LocationTypes

/// One strip chart over the time of the run, with axes and a tool tip for each interval of the table. It fills the
/// available width.
struct StripChart {
  /// Width of the chart in SVG units.
  static let width = 10_000
  /// Height of the chart in SVG units.
  static let height = 1_000

  /// Quantity with its unit.
  var title: String
  /// Summary next to the title.
  var note: String
  /// Description for screen readers.
  var label: String
  var time: TimeAxis
  var value: ValueAxis
  /// Tool tips, one for each interval of the table.
  var tips: [String] = []
  var rowInterval = Interval.zero

  /// Adds the chart; `draw` adds the curves.
  func write(to page: inout Markup, _ draw: (inout Markup) -> Void) {
    page.newLine()
    page.element("figure", ["class": "strip"]) { page in
      page.element("figcaption") { page in
        page.element("b", title)
        page.addText(" ")
        page.element("span", ["class": "note"], note)
      }
      page.element("div", ["class": "plot"]) { page in
        page.element(
          "svg",
          [
            "viewBox": "0 0 \(StripChart.width) \(StripChart.height)",
            "preserveAspectRatio": "none", "role": "img", "aria-label": label,
          ]
        ) { page in
          page.emptyElement("path", ["class": "grid", "d": grid.string])
          draw(&page)
          writeTips(to: &page)
        }
        writeTicks(to: &page)
      }
    }
  }

  /// Vertical position of a value, SVG units from the top.
  func y(_ value: Double) -> Int {
    let part = min(max(value / self.value.top, 0), 1)
    return StripChart.height - Int((part * Double(StripChart.height)).rounded())
  }

  /// SVG transform from bucket numbers to the chart, for buckets of `width` microseconds.
  func scale(_ width: Int64) -> String {
    let factor = Double(width) / Double(max(time.length.microseconds, 1))
    return "scale(\(HumanFormat.decimal(factor * Double(StripChart.width), places: 6)) 1)"
  }

  /// A step line through `height` of each bucket, interrupted at empty buckets.
  func line(_ curve: StepCurve, _ height: (StepCurve.Bucket) -> Double) -> PathData {
    var path = PathData()
    var last: Int?
    for (index, bucket) in curve.buckets.enumerated() {
      if bucket.isEmpty {
        if last != nil { path.horizontalLine(to: index) }
        last = nil
        continue
      }
      let y = y(height(bucket))
      if let previous = last {
        if previous != y {
          path.horizontalLine(to: index)
          path.verticalLine(to: y)
        }
      } else {
        path.move(index, y)
      }
      last = y
    }
    if last != nil { path.horizontalLine(to: curve.buckets.count) }
    return path
  }

  /// Rectangles from `low` to `high` of each bucket, except where both are equal.
  func band(
    _ curve: StepCurve, from low: (StepCurve.Bucket) -> Double,
    to high: (StepCurve.Bucket) -> Double
  ) -> PathData {
    var path = PathData()
    var begin = 0
    var open: (low: Int, high: Int)?
    func end(at index: Int) {
      guard let open, open.low > open.high else { return }
      path.move(begin, open.low)
      path.verticalLine(to: open.high)
      path.horizontalLine(to: index)
      path.verticalLine(to: open.low)
      path.close()
    }
    for (index, bucket) in curve.buckets.enumerated() {
      let next = bucket.isEmpty ? nil : (low: y(low(bucket)), high: y(high(bucket)))
      if next?.low == open?.low, next?.high == open?.high { continue }
      end(at: index)
      begin = index
      open = next
    }
    end(at: curve.buckets.count)
    return path
  }

  private var grid: PathData {
    var path = PathData()
    for tick in value.ticks where tick < value.top {
      path.move(0, y(tick))
      path.horizontalLine(to: StripChart.width)
    }
    return path
  }

  private func writeTicks(to page: inout Markup) {
    let top = value.ticks.count - 1
    for (index, tick) in value.ticks.enumerated() {
      let offset = HumanFormat.decimal(Double(y(tick)) / Double(StripChart.height) * 100, places: 1)
      let words = value.label(tick)
      page.element(
        "span",
        ["class": index % 2 == top % 2 || index == 0 ? "y" : "y alt", "style": "top:\(offset)%"],
        words)
    }
    for (index, tick) in time.ticks.enumerated() {
      let offset = HumanFormat.decimal(tick.fraction * 100, places: 2)
      var kind = index % 2 == 0 ? "x" : "x alt"
      if tick.fraction > 0.96 { kind += " last" }
      page.element("span", ["class": kind, "style": "left:\(offset)%"], tick.label)
    }
  }

  private func writeTips(to page: inout Markup) {
    let length = Double(max(time.length.microseconds, 1))
    let step = Double(rowInterval.microseconds) / length * Double(StripChart.width)
    for (index, tip) in tips.enumerated() {
      let from = Double(index) * step
      guard from < Double(StripChart.width) else { return }
      let x = Int(from.rounded())
      let width = Int((Double(index + 1) * step).rounded()) - x
      page.element(
        "rect",
        [
          "class": "tip", "x": "\(x)", "width": "\(width)", "height": "\(StripChart.height)",
        ]
      ) { $0.element("title", tip) }
    }
  }
}
