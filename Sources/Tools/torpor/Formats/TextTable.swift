/// Rows of cells in columns: the first ones begin at their left edge, numbers end at their right.
struct TextTable {
  private let heads: [String]
  private let leftColumns: Int
  private var rows: [[String]] = []

  /// Creates a table without rows.
  ///
  /// - Parameter leftColumns: How many columns, from the first, hold words and not numbers.
  init(_ heads: [String], leftColumns: Int = 1) {
    self.heads = heads
    self.leftColumns = leftColumns
  }

  /// Adds a row.
  ///
  /// - Precondition: It has as many cells as there are heads.
  mutating func add(_ row: [String]) {
    precondition(row.count == heads.count, "a row is as wide as its table")
    rows.append(row)
  }

  /// Adds heads and rows to `text`, a line each.
  func write(to text: inout TextBuffer, style: Style) {
    let all = [heads] + rows
    let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    for (index, row) in all.enumerated() {
      var line = ""
      for (column, cell) in row.enumerated() {
        let room = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? "" : "  "
        line += column < leftColumns ? cell + room : room + cell
      }
      text.add(style.paint(line, index == 0 ? .strong : .plain))
      text.add("\n")
    }
  }
}
