/// Wraps a line with colours (SGR escape sequences) to the width of the terminal.
struct ScreenLine {
  /// A character and the escape sequence of its colour, empty for none.
  private struct Cell {
    let character: Character
    let colour: String
  }

  /// Column of the text in a line of ``StatusText``, after the name.
  private static let indentation = 10
  private static let reset = "\u{1B}[0m"

  private var cells: [Cell] = []

  /// Splits a line into visible characters with their colours.
  init(_ line: String) {
    var colour = "", sequence = ""
    for character in line {
      if character == "\u{1B}" || !sequence.isEmpty {
        sequence.append(character)
        guard character == "m" else { continue }
        colour = sequence == ScreenLine.reset ? "" : sequence
        sequence = ""
      } else {
        cells.append(Cell(character: character, colour: colour))
      }
    }
  }

  /// The line in rows of at most `columns` characters, broken between words if possible.
  ///
  /// Continuation rows are indented if the line begins with a name and its text is in column ``indentation``.
  func wrapped(to columns: Int) -> [String] {
    guard cells.count > columns else { return [text(cells[...])] }
    guard columns > 0 else { return [""] }
    let indent = hasName && columns >= 3 * ScreenLine.indentation ? ScreenLine.indentation : 0
    var rows: [String] = []
    var remaining = cells[...]
    while !remaining.isEmpty {
      let margin = rows.isEmpty ? 0 : indent
      let row = ScreenLine.firstRow(
        of: remaining, columns - margin, unbroken: margin == 0 ? indent : 0)
      rows.append(String(repeating: " ", count: margin) + text(row))
      remaining = remaining[row.endIndex...].drop { $0.character == " " }
    }
    return rows
  }

  /// Whether the line has a name, or spaces, before column ``indentation`` and text from there on.
  private var hasName: Bool {
    let edge = ScreenLine.indentation
    return cells.count > edge && cells[edge - 1].character == " "
      && cells[edge].character != " "
  }

  /// The words that fit in `width` characters; if not even one fits, that many characters.
  ///
  /// - Parameter first: Number of characters at the start that are not broken at a space.
  private static func firstRow(
    of cells: ArraySlice<Cell>, _ width: Int, unbroken first: Int
  ) -> ArraySlice<Cell> {
    guard cells.count > width else { return cells }
    let edge = cells.startIndex + width
    let least = cells.startIndex + first
    guard edge > least,
      let space = cells[least...edge].lastIndex(where: { $0.character == " " }),
      let end = cells[..<space].lastIndex(where: { $0.character != " " })
    else { return cells[..<edge] }
    return cells[...end]
  }

  /// The text of the cells with their colours, reset at the end.
  private func text(_ cells: ArraySlice<Cell>) -> String {
    var text = "", colour = ""
    for cell in cells {
      if cell.colour != colour {
        if !colour.isEmpty { text += ScreenLine.reset }
        text += cell.colour
        colour = cell.colour
      }
      text.append(cell.character)
    }
    return colour.isEmpty ? text : text + ScreenLine.reset
  }
}
