import Glibc

/// A terminal that is drawn upon as a whole, and is left as it was found.
///
/// On its second page, so that what stood there before is there again afterwards.
final class Screen {
  /// How large a terminal is, in characters.
  struct Size: Equatable {
    var columns: Int
    var rows: Int
  }

  private let before: termios?
  private var shown: [String] = []
  private var shownSize: Size?
  private var isOpen = true

  /// Takes the terminal of standard output.
  ///
  /// - Throws: ``CommandError`` with code 64 where it is none that can be drawn upon.
  init() throws(CommandError) {
    guard POSIX.isTerminal(STDOUT_FILENO), POSIX.environment("TERM") != "dumb" else {
      throw CommandError(
        .usage,
        "standard output is no terminal to draw upon; `torpor status` tells it once, `torpor monitor --json` line by line"
      )
    }
    var mode = termios()
    if unsafe tcgetattr(STDIN_FILENO, &mode) == 0 {
      before = mode
      // Keys at once and unseen; interrupts go on, a stop would leave the page in the way.
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
      mode.c_cc.10 = 0
      _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    } else {
      before = nil
    }
    // Its only work is to end a wait.
    Interrupts.handle(SIGWINCH) { _ in }
    Screen.write(Screen.opening)
  }

  deinit { close() }

  /// The second page, no cursor; the terminal wraps nothing, because each row is written in its place.
  static let opening = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  static let closing = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Leaves the terminal as it was.
  func close() {
    guard isOpen else { return }
    isOpen = false
    Screen.write(Screen.closing)
    if var before { _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before) }
  }

  /// Shows `lines`, if they are others than before, or the terminal has another size.
  func show(_ lines: [String]) {
    let size = Screen.size
    guard lines != shown || size != shownSize else { return }
    shown = lines
    shownSize = size
    Screen.write(Screen.frame(lines, size))
  }

  /// What is written for it: each line wrapped at the right edge, the rest of line and page empty.
  static func frame(_ lines: [String], _ size: Size) -> String {
    let wrapped = lines.map { ScreenLine($0).wrapped(to: size.columns) }
    var visible = wrapped.flatMap(\.self)
    if visible.count > size.rows {
      var kept = 0
      visible = []
      for rows in wrapped {
        guard visible.count + rows.count < size.rows else { break }
        visible += rows
        kept += 1
      }
      visible.append(cut("… \(lines.count - kept) more lines", to: size.columns))
    }
    return "\u{1B}[H" + visible.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  /// The first `columns` characters of a line without colours.
  private static func cut(_ line: String, to columns: Int) -> String {
    String(line.prefix(max(columns, 0)))
  }

  private static var size: Size {
    var size = winsize()
    let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    guard isKnown, size.ws_col > 0, size.ws_row > 0 else { return Size(columns: 80, rows: 24) }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  private static func write(_ text: String) {
    // A terminal that is gone is told by its hang-up.
    _ = POSIX.write(Array(text.utf8), to: STDOUT_FILENO)
  }
}
