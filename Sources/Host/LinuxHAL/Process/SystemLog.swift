import Glibc

/// The service's log: lines on standard error.
///
/// Where that is the journal (`JOURNAL_STREAM` names it), each line begins with its priority as
/// sd-daemon(3) has it, `<3>` for an error; anywhere else with nothing. One system call for each line.
public struct SystemLog: Sendable {
  /// How much a line matters, by syslog's numbers.
  public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
    /// The service cannot go on.
    case critical = 2
    /// Something does not work and needs somebody.
    case error = 3
    /// Something does not work now.
    case warning = 4
    /// Begin, end, and what else happens seldom.
    case notice = 5
    /// What helps to understand.
    case info = 6
    /// What helps to mend.
    case debug = 7

    /// Whether `a` matters more.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// The least that is written.
  public var threshold: Priority
  private let descriptor: Int32
  private let hasPriorities: Bool

  /// A log on standard error.
  public init(threshold: Priority = .info) {
    let stream = unsafe getenv("JOURNAL_STREAM").map { unsafe String(cString: $0) }
    self.init(STDERR_FILENO, journalStream: stream, threshold: threshold)
  }

  /// A log on any descriptor.
  ///
  /// - Parameter journalStream: Device and inode of the journal's stream, `8:1234`; nil for none.
  public init(_ descriptor: Int32, journalStream: String?, threshold: Priority = .info) {
    self.descriptor = descriptor
    self.threshold = threshold
    var status = stat()
    // A stream that was given another end since is not the journal's.
    hasPriorities =
      unsafe fstat(descriptor, &status) == 0
      && journalStream == "\(status.st_dev):\(status.st_ino)"
  }

  /// Writes a line; text of several lines becomes several. All of it is cleaned (``LogText``): this is the one place
  /// where anything enters the log.
  public func write(_ priority: Priority, _ text: @autoclosure () -> String) {
    guard priority <= threshold else { return }
    let prefix = hasPriorities ? "<\(priority.rawValue)>" : ""
    for line in LogText.lines(text()) {
      var bytes = prefix + line + "\n"
      // A log that cannot be written has nobody to be told to.
      _ = bytes.withUTF8 { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      }
    }
  }
}
