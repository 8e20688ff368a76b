import TextFormats

/// The description of a chart, from which ``html`` draws all charts of the report: charts over time, bars and the map.
///
/// The picture is an SVG stretched over its frame; labels are HTML above it, so that text keeps its size. Values are in
/// the units of the two axes.
struct Chart {
  typealias Point = SIMD2<Double>
  /// A class in the style sheet, which strokes or fills the lines; a text for the legend; lines. A line of one point is
  /// a dot.
  typealias Layer = (style: String, legend: String?, lines: [[Point]])
  /// A value for each row of the table, nil where unknown.
  typealias Column = (name: String, unit: String, values: [String?])

  /// Class in the style sheet: `strip`, `bars` or `map`.
  var kind = "strip"
  /// Quantity with its unit, and a summary.
  var title: String
  var note = ""
  var x: Axis
  var y: Axis
  /// Height of the picture in SVG units, for a width of 10,000.
  var height = 1_000
  var layers: [Layer]
  /// Texts to the right of points.
  var labels: [(at: Point, text: String)] = []
  var columns: [Column] = []

  /// The chart as a figure; its legend lists the layers that are drawn.
  var html: HTML {
    let drawn = layers.filter { !$0.lines.isEmpty }
    let paths = drawn.map { layer -> HTML in
      let title: HTML? = layer.legend.map { "<title>\($0)</title>" }
      return "<path class=\"\(layer.style)\" d=\"\(path(layer.lines))\">\(title)</path>"
    }
    let keys = drawn.compactMap { layer in
      layer.legend.map { "<span class=\"k \(layer.style)\">\($0)</span>" as HTML }
    }
    let grid =
      y.ticks.map { [Point(x.low, $0.value), Point(x.high, $0.value)] }
      + x.ticks.map { [Point($0.value, y.low), Point($0.value, y.high)] }
    return """

      <figure class="\(kind)"><figcaption><b>\(title)</b> <span class="note">\(note)</span>\
      </figcaption>\
      <div class="plot" style="--height:\(height);--rows:\(y.ticks.count)">\
      <svg viewBox="0 0 10000 \(height)" preserveAspectRatio="none" role="img" \
      aria-label="\(title): \(note)">\
      <path class="grid" d="\(path(grid))"/>\(paths)</svg>\(texts)</div>\
      <p class="key">\(keys)</p></figure>
      """
  }

  /// Data of an SVG path, without points that are equal to the one before.
  private func path(_ lines: [[Point]]) -> String {
    var text = ""
    for line in lines {
      var last: (x: Int, y: Int)?
      for point in line {
        let column = Int((x.position(point.x) * 10_000).rounded())
        let row = height - Int((y.position(point.y) * Double(height)).rounded())
        switch (column == last?.x, row == last?.y) {
        case (true, true): continue
        case (true, false): text += "V\(row)"
        case (false, true): text += "H\(column)"
        case (false, false): text += "\(last == nil ? "M" : "L")\(column) \(row)"
        }
        last = (column, row)
      }
      if line.count == 1 { text += "h0" }
    }
    return text
  }

  /// Labels of ticks and points, placed in per cent of the frame.
  private var texts: [HTML] {
    let ticks: [(style: String, at: Point, text: String)] =
      y.ticks.map { ("y", Point(x.low, $0.value), $0.label) }
      + x.ticks.map { ("x", Point($0.value, y.low), $0.label) }
    let all = ticks + labels.map { ("pin", $0.at, $0.text) }
    return all.filter { !$0.text.isEmpty }.map { style, at, text in
      let left = HumanFormat.decimal(x.position(at.x) * 100, places: 2)
      let top = HumanFormat.decimal((1 - y.position(at.y)) * 100, places: 2)
      return "<span class=\"\(style)\" style=\"left:\(left)%;top:\(top)%\">\(text)</span>"
    }
  }

  /// The columns of `charts` as a table; `rows` are the first cells of its rows.
  static func table(_ charts: [Chart], _ rows: [String]) -> HTML {
    let columns = charts.flatMap(\.columns)
    let cells = rows.enumerated().map { index, start in
      ("\(start)" as HTML, columns.map { $0.values[index] ?? "–" })
    }
    return HTML.table(["from"] + columns.map { "\($0.name) \($0.unit)" }, cells)
  }

  /// Appends title and columns as members of an object.
  func write(to json: inout JSONOutput) {
    json.member("title", title)
    json.list("columns") { json in
      for (name, unit, values) in columns {
        json.element { json in
          json.member("name", name)
          json.member("unit", unit)
          json.member("values", json: "[\(values.map { $0 ?? "null" }.joined(separator: ","))]")
        }
      }
    }
  }
}
