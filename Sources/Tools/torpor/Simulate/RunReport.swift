import Glibc
import LocationSimulation
import LocationTypes
import TextFormats

/// Prints the records and the summary of a run, as text or JSON, and writes the trace file.
///
/// A run passes its records to a closure that cannot throw, so the first error is stored and thrown by
/// ``finish(_:of:boundResult:suggestion:)``. If the reader of standard output closes the pipe, printing stops, but the run
/// continues, because its files are still needed.
///
/// A noncopyable struct instead of a class, because each access to a class's property is checked for exclusivity at run
/// time.
struct RunReport: ~Copyable {
  private let isJSON: Bool
  private let isQuiet: Bool
  private let hasTrace: Bool
  private let showsProgress: Bool
  private var output = Output()
  private var isOutputClosed = false
  private var trace: Output?
  private var printer: TraceText
  private var json = JSONOutput()
  private var text = TextBuffer()
  private var progress: Progress
  private var failure: (any Error)?
  /// Last power states of receiver and board, which are repeated at the end of the trace.
  private var lastReceiver: TraceRecord?
  private var lastBoard: TraceRecord?

  /// Opens the outputs, so that a file that cannot be created is reported before the run.
  init(_ options: PrintingOptions) throws {
    isJSON = options.json
    isQuiet = options.quiet
    hasTrace = options.trace != nil
    if let path = options.trace { trace = try Output(path: path) }
    printer = TraceText(style: .ofStandardOutput)
    // Text output clears the progress line first; JSON records on the terminal must not be interrupted by it.
    progress = Progress(
      recordsOnTerminal: POSIX.isTerminal(STDOUT_FILENO) && options.json && !options.quiet)
    showsProgress = progress.isShown
  }

  /// Prints the headline before the run; only for text output.
  mutating func writeHeadline(_ headline: String) {
    guard !isJSON, !isQuiet else { return }
    text.add("\(headline)\n\n")
    do { try writeText() } catch { failure = error }
  }

  /// Handles the next record.
  mutating func add(_ record: TraceRecord) {
    // No output uses the records.
    if isQuiet && !hasTrace { return }
    guard failure == nil else { return }
    switch record.kind {
    case .receiver: lastReceiver = record
    case .board: lastBoard = record
    case .battery, .batteryEmpty, .fix, .wake, .batch, .ack, .finish, .gap, .notice: break
    }
    do { try write(record) } catch { failure = error }
  }

  /// Updates the progress line; `part` is the completed fraction, 0 to 1.
  mutating func updateProgress(to part: Double) {
    guard showsProgress, progress.isDue else { return }
    progress.show("\(Int(min(max(part, 0), 1) * 100)) % of the run")
  }

  /// Prints the summary and closes the outputs.
  ///
  /// The trace repeats the states of receiver and board at the end, so that energy and time can be computed from the
  /// trace alone.
  ///
  /// - Parameters:
  ///   - summary: Totals of the run.
  ///   - service: Service that the client used.
  ///   - boundResult: Comparison with the optimum, if the client has an accuracy bound.
  ///   - suggestion: Suggestion if a deferral was refused.
  /// - Throws: The first error of the run, or of writing the summary.
  mutating func finish(
    _ summary: TraceSummary, of service: ScriptedService = .updates,
    boundResult: OptimumComparison? = nil, suggestion: String? = nil
  ) throws {
    progress.clear()
    for last in [lastReceiver, lastBoard] {
      if let last { add(TraceRecord(at: .boot + summary.duration, last.kind)) }
    }
    if let failure { throw failure }
    if isJSON {
      if let code = summary.firstDeferralError, let suggestion {
        POSIX.printError("torpor: a deferral was refused, \(TraceText.text(code)): \(suggestion)")
      }
      TraceJSON.write(summary, boundResult, to: &json)
      try print(json.text.bytes)
    } else {
      if !isQuiet { printer.finish(to: &text) }
      SummaryText(style: .ofStandardOutput).write(
        summary, of: service, boundResult, suggestion: suggestion, to: &text)
      try print(text.bytes)
    }
    try print([], isLast: true)
    try trace?.finish()
  }

  /// Prints `bytes` unless the reader has closed the pipe.
  private mutating func print(_ bytes: [UInt8], isLast: Bool = false) throws {
    guard !isOutputClosed else { return }
    if output.isTerminal { progress.clear() }
    do {
      try output.write(bytes)
      if isLast { try output.finish() }
      // On a terminal, show each record immediately.
      if output.isTerminal { try output.flush() }
    } catch is BrokenPipe { isOutputClosed = true }
  }

  private mutating func write(_ record: TraceRecord) throws {
    if isJSON || hasTrace {
      TraceJSON.write(record, to: &json)
      if isJSON, !isQuiet { try print(json.text.bytes) }
      try trace?.write(json.text.bytes)
      json.removeAll()
    }
    if !isJSON, !isQuiet {
      printer.write(record, to: &text)
      try writeText()
    }
  }

  private mutating func writeText() throws {
    guard !text.bytes.isEmpty else { return }
    try print(text.bytes)
    text.removeAll()
  }
}
