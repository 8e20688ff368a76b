/// A chart of the report: strip charts over time, bars of energy and the map are all described by this type and drawn
/// by ``html``.
///
/// A chart is an SVG picture that is stretched over its frame, and labels in HTML above it, so that text keeps its size.
/// Values are in the units of the two axes.
struct Chart {
  /// A rectangle: an interval of the horizontal axis and one of the vertical axis.
  struct Box {
    var from: Double
    var to: Double
    var low = 0.0
    var high: Double
  }

  /// A point.
  typealias Point = (x: Double, y: Double)

  /// What a layer draws.
  enum Shape {
    /// Filled rectangles.
    case boxes([Box])
    /// A step line along the upper edge of each rectangle, interrupted where the next one does not follow.
    case steps([Box])
    /// Lines through points.
    case lines([[Point]])
    /// A dot at each point.
    case dots([Point])
  }

  /// One colour of the chart.
  struct Layer {
    /// Class in the style sheet.
    var style: String
    /// Text in the legend; nil for none.
    var legend: String?
    var shape: Shape
  }

  /// Values of the chart for each interval of the table, nil where unknown; for the table, the script and readers of the
  /// page's JSON.
  struct Column {
    /// Heading in the table.
    var heading: String
    /// Name and unit in the text that the script shows.
    var name: String
    var unit: String
    var places: Int
    var values: [Double?]
  }

  /// Height of the picture in SVG units, for a width of 10,000.
  var height = 1_000
  /// Class in the style sheet: `strip`, `bars` or `map`.
  var kind = "strip"
  /// Style of the frame, for example its aspect ratio.
  var frame = ""
  /// Quantity with its unit.
  var title: String?
  /// Summary next to the title.
  var note = ""
  /// Description for screen readers.
  var description: String
  var x: Axis
  var y: Axis
  var layers: [Layer]
  /// Texts at points.
  var labels: [(at: Point, text: String, isLeft: Bool)] = []
  var columns: [Column] = []
  /// Markup between picture and legend.
  var below: HTML?
  /// Remark after the legend.
  var remark: String?
}

// MARK: - Drawing

extension Chart {
  static let width = 10_000

  /// The chart as a figure; `index` is its number in the JSON of the page.
  func html(_ index: Int? = nil) -> HTML {
    let drawn = layers.map { ($0, path($0.shape)) }.filter { !$0.1.isEmpty }
    let paths = drawn.map { layer, path -> HTML in
      let title: HTML? = layer.legend.map { "<title>\($0)</title>" }
      return "<path class=\"\(layer.style)\" d=\"\(path)\">\(title)</path>"
    }
    let keys = drawn.compactMap { layer, _ -> HTML? in
      layer.legend.map { "<span class=\"k \(layer.style)\">\($0)</span>" }
    }
    let caption: HTML? = title.map {
      "<figcaption><b>\($0)</b> <span class=\"note\">\(note)</span></figcaption>"
    }
    let more: HTML? = remark.map { "<span>\($0)</span>" }
    let legend: HTML? = keys.isEmpty ? nil : "<p class=\"key\">\(keys)\(more)</p>"
    return """

      <figure class="\(kind)" data-chart="\(index.map(String.init) ?? "")">\(caption)\
      <div class="plot" style="\(frame)"><svg viewBox="0 0 \(Chart.width) \(height)" \
      preserveAspectRatio="none" role="img" aria-label="\(description)">\
      <path class="grid" d="\(grid)"/>\(paths)</svg>\(texts)</div>\(below)\(legend)</figure>
      """
  }

  private func column(_ value: Double) -> Int {
    Int((x.position(value) * Double(Chart.width)).rounded())
  }

  private func row(_ value: Double) -> Int {
    height - Int((y.position(value) * Double(height)).rounded())
  }

  /// Data of an SVG path.
  private func path(_ shape: Shape) -> String {
    switch shape {
    case .boxes(let boxes): return rectangles(boxes)
    case .steps(let boxes): return steps(boxes)
    case .lines(let lines):
      return lines.filter { $0.count > 1 }.map { points in
        "M" + points.map { "\(column($0.x)) \(row($0.y))" }.joined(separator: "L")
      }.joined()
    case .dots(let points): return points.map { "M\(column($0.x)) \(row($0.y))h0" }.joined()
    }
  }

  /// Rectangles with an area; neighbours of the same height are merged.
  private func rectangles(_ boxes: [Box]) -> String {
    var text = ""
    var open: (from: Int, to: Int, low: Int, high: Int)?
    func end() {
      guard let open, open.low > open.high else { return }
      text += "M\(open.from) \(open.low)V\(open.high)H\(open.to)V\(open.low)Z"
    }
    for box in boxes {
      let next = (
        from: column(box.from), to: column(box.to), low: row(box.low), high: row(box.high)
      )
      if let last = open, last.to == next.from, last.low == next.low, last.high == next.high {
        open?.to = next.to
      } else {
        end()
        open = next
      }
    }
    end()
    return text
  }

  private func steps(_ boxes: [Box]) -> String {
    var text = ""
    var last: (x: Int, y: Int)?
    for box in boxes {
      let (x, y) = (column(box.from), row(box.high))
      if last?.x != x { text += "M\(x) \(y)" } else if last?.y != y { text += "V\(y)" }
      text += "H\(column(box.to))"
      last = (column(box.to), y)
    }
    return text
  }

  private var grid: String {
    y.ticks.filter { $0.value > y.low && $0.value < y.high }.map { tick in
      "M0 \(row(tick.value))H\(Chart.width)"
    }.joined()
      + x.ticks.filter { $0.label.isEmpty }.map { "M\(column($0.value)) 0V\(height)" }.joined()
  }

  /// Labels of ticks and points, placed in per cent of the frame.
  private var texts: [HTML] {
    func percent(_ part: Double) -> String { HumanFormat.decimal(part * 100, places: 2) + "%" }
    return y.ticks.filter { !$0.label.isEmpty }.map { tick in
      let top = percent(1 - y.position(tick.value))
      return "<span class=\"y\" style=\"top:\(top)\">\(tick.label)</span>"
    }
      + x.ticks.filter { !$0.label.isEmpty }.map { tick in
        let part = x.position(tick.value)
        let kind = part > 0.96 ? "x last" : "x"
        return "<span class=\"\(kind)\" style=\"left:\(percent(part))\">\(tick.label)</span>"
      }
      + labels.map { label in
        let (left, top) = (percent(x.position(label.at.x)), percent(1 - y.position(label.at.y)))
        let kind = label.isLeft ? "pin left" : "pin"
        return "<span class=\"\(kind)\" style=\"left:\(left);top:\(top)\">\(label.text)</span>"
      }
  }
}
