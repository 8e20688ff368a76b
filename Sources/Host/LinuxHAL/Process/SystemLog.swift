import Glibc

/// The service's log: lines on standard error.
///
/// If standard error is the journal (`JOURNAL_STREAM`), each line starts with its priority as in sd-daemon(3), `<3>`
/// for an error. One system call for each line.
public struct SystemLog: Sendable {
  /// Priority of a line, with syslog's numbers.
  public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
    /// The service cannot continue.
    case critical = 2
    /// Something failed and needs a user's action.
    case error = 3
    /// Something does not work at present.
    case warning = 4
    /// Start, end and other rare events.
    case notice = 5
    /// Information about normal operation.
    case info = 6
    /// Details for debugging.
    case debug = 7

    /// Whether `a` is more important.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// Least important priority that is written.
  public var threshold: Priority
  private let descriptor: Int32
  private let hasPriorities: Bool

  /// Creates a log on standard error.
  public init(threshold: Priority = .info) {
    let stream = unsafe getenv("JOURNAL_STREAM").map { unsafe String(cString: $0) }
    self.init(STDERR_FILENO, journalStream: stream, threshold: threshold)
  }

  /// Creates a log on any descriptor.
  ///
  /// - Parameter journalStream: Device and inode of the journal's stream, `8:1234`; nil for none.
  public init(_ descriptor: Int32, journalStream: String?, threshold: Priority = .info) {
    self.descriptor = descriptor
    self.threshold = threshold
    var status = stat()
    // A redirected stream is no longer the journal's.
    hasPriorities =
      unsafe fstat(descriptor, &status) == 0
      && journalStream == "\(status.st_dev):\(status.st_ino)"
  }

  /// Writes one line for each line of the text, cleaned by ``LogText``. All log output passes through here.
  public func write(_ priority: Priority, _ text: @autoclosure () -> String) {
    guard priority <= threshold else { return }
    let prefix = hasPriorities ? "<\(priority.rawValue)>" : ""
    for line in LogText.lines(text()) {
      var bytes = prefix + line + "\n"
      // A failure to write the log cannot be reported.
      _ = bytes.withUTF8 { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      }
    }
  }
}
