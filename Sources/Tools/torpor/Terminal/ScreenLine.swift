/// A line with colours, and its rows on a terminal that is narrower.
struct ScreenLine {
  /// A character, and the colour it is shown in: an escape sequence, empty for none.
  private struct Cell {
    let character: Character
    let colour: String
  }

  /// Where the facts of a status begin, behind what they are about.
  private static let indentation = 10
  private static let reset = "\u{1B}[0m"

  private var cells: [Cell] = []

  /// Takes a line apart; colours take no room.
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

  /// The line in rows of at most `columns` characters, broken between words where it can be.
  ///
  /// What goes on below stands under the facts where the line begins with what they are about.
  func wrapped(to columns: Int) -> [String] {
    guard cells.count > columns else { return [text(cells[...])] }
    guard columns > 0 else { return [""] }
    let indent = hangs && columns >= 3 * ScreenLine.indentation ? ScreenLine.indentation : 0
    var rows: [String] = []
    var rest = cells[...]
    while !rest.isEmpty {
      let margin = rows.isEmpty ? 0 : indent
      let row = ScreenLine.firstRow(of: rest, columns - margin, isWhole: margin == 0 ? indent : 0)
      rows.append(String(repeating: " ", count: margin) + text(row))
      rest = rest[row.endIndex...].drop { $0.character == " " }
    }
    return rows
  }

  /// Whether the line begins with what it is about, or with as much space, and its facts behind that.
  private var hangs: Bool {
    let edge = ScreenLine.indentation
    return cells.count > edge && cells[edge - 1].character == " "
      && cells[edge].character != " "
  }

  /// As many words as there is room for; where not one has room, as many characters.
  ///
  /// - Parameter isWhole: So many characters at the beginning are not broken at a space.
  private static func firstRow(
    of rest: ArraySlice<Cell>, _ room: Int, isWhole first: Int
  ) -> ArraySlice<Cell> {
    guard rest.count > room else { return rest }
    let edge = rest.startIndex + room
    let least = rest.startIndex + first
    guard edge > least,
      let space = rest[least...edge].lastIndex(where: { $0.character == " " }),
      let end = rest[..<space].lastIndex(where: { $0.character != " " })
    else { return rest[..<edge] }
    return rest[...end]
  }

  /// The cells with their colours, none left open at the end.
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
