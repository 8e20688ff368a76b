import TextFormats

/// A table in plain text: the first columns are left-aligned, the others right-aligned.
struct TextTable {
  private let headers: [String]
  private let leftColumns: Int
  private var rows: [[String]] = []

  /// Creates a table without rows.
  ///
  /// - Parameters:
  ///   - headers: Column headers.
  ///   - leftColumns: Number of left-aligned columns, from the first.
  init(_ headers: [String], leftColumns: Int = 1) {
    self.headers = headers
    self.leftColumns = leftColumns
  }

  /// Adds a row.
  ///
  /// - Precondition: The row has as many cells as the table has headers.
  mutating func add(_ row: [String]) {
    precondition(row.count == headers.count, "a row has one cell for each column")
    rows.append(row)
  }

  /// Adds the headers and all rows to `text`, one a line.
  func write(to text: inout TextBuffer, style: Style) {
    let all = [headers] + rows
    let widths = headers.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    for (index, row) in all.enumerated() {
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? "" : "  "
        line += column < leftColumns ? cell + padding : padding + cell
      }
      text.add(style.paint(line, index == 0 ? .strong : .plain))
      text.add("\n")
    }
  }
}
