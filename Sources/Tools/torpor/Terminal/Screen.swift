import Glibc
import TextFormats

/// Full-screen output on the terminal's alternate screen. ``close()`` restores the previous content and mode.
final class Screen {
  /// Size of a terminal, in characters.
  struct Size: Equatable {
    var columns: Int
    var rows: Int
  }

  private let savedMode: termios?
  private var shown: [String] = []
  private var shownSize: Size?
  private var isOpen = true

  /// Switches the terminal of standard output to the alternate screen.
  ///
  /// - Throws: ``CommandError`` with code 64 if standard output is not a terminal, or a dumb one.
  init() throws(CommandError) {
    guard POSIX.isTerminal(STDOUT_FILENO), POSIX.environment("TERM") != "dumb" else {
      throw CommandError(
        .usage,
        "standard output is not a full-screen terminal; use `torpor status`, or `torpor monitor --json` for continuous output"
      )
    }
    var mode = termios()
    if unsafe tcgetattr(STDIN_FILENO, &mode) == 0 {
      savedMode = mode
      // No line editing and no echo. Ctrl-C still works; Ctrl-Z is disabled, because a stopped process would leave the
      // terminal in the alternate screen.
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
      mode.c_cc.10 = 0
      _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    } else {
      savedMode = nil
    }
    // The empty handler only interrupts poll(2), so that the screen is redrawn.
    SignalCleanup.setHandler(SIGWINCH) { _ in }
    Screen.write(Screen.opening)
  }

  deinit { close() }

  /// Control sequences: alternate screen, no cursor, no automatic wrapping, because ``frame(_:_:)`` wraps the lines.
  static let opening = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  /// Control sequences that undo ``opening``.
  static let closing = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Restores the terminal's screen and mode.
  func close() {
    guard isOpen else { return }
    isOpen = false
    Screen.write(Screen.closing)
    if var savedMode { _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &savedMode) }
  }

  /// Shows `lines` if they or the size of the terminal have changed.
  func show(_ lines: [String]) {
    let size = Screen.size
    guard lines != shown || size != shownSize else { return }
    shown = lines
    shownSize = size
    Screen.write(Screen.frame(lines, size))
  }

  /// The text of a whole screen: lines wrapped at the right edge, the remainder cleared. If the lines do not fit, the
  /// last row has the number of the missing ones.
  static func frame(_ lines: [String], _ size: Size) -> String {
    let wrapped = lines.map { ScreenLine($0).wrapped(to: size.columns) }
    var visible = wrapped.flatMap(\.self)
    if visible.count > size.rows {
      var shownCount = 0
      visible = []
      for rows in wrapped {
        guard visible.count + rows.count < size.rows else { break }
        visible += rows
        shownCount += 1
      }
      let remark = "… \(lines.count - shownCount) more lines"
      visible.append(String(remark.prefix(max(size.columns, 0))))
    }
    return "\u{1B}[H" + visible.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  private static var size: Size {
    var size = winsize()
    let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    guard isKnown, size.ws_col > 0, size.ws_row > 0 else { return Size(columns: 80, rows: 24) }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  private static func write(_ text: String) {
    // Errors are ignored: a closed terminal sends SIGHUP.
    _ = TextFile.write(Array(text.utf8), to: STDOUT_FILENO)
  }
}
