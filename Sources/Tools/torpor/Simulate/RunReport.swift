import Glibc
import LocationSimulation
import LocationTypes

/// Tells a run while it goes on, and what it adds up to, in the way that was asked for.
///
/// A run hands its records to a closure that cannot fail; what fails meanwhile, writing above all,
/// is kept and thrown by ``finish(_:)``. When nobody reads standard output any more, nothing further
/// is printed, but the run goes on: its files are wanted all the same.
///
/// A value and no object: each look at an object's field is checked for another one at the same time.
struct RunReport: ~Copyable {
  private let isJSON: Bool
  private let isQuiet: Bool
  private let hasTrace: Bool
  private let showsProgress: Bool
  private var output = Output()
  private var isReaderGone = false
  private var trace: Output?
  private var printer: TraceText
  private var json = JSONWriter()
  private var text = TextBuffer()
  private var progress: Progress
  private var failure: (any Error)?
  /// What receiver and board do, to be told once more at the end.
  private var lastReceiver: TraceRecord?
  private var lastBoard: TraceRecord?

  /// Begins; an output that cannot be made is refused before anything runs.
  init(_ options: PrintingOptions) throws {
    isJSON = options.json
    isQuiet = options.quiet
    hasTrace = options.trace != nil
    if let path = options.trace { trace = try Output(path: path) }
    printer = TraceText(style: .ofStandardOutput)
    // Words for people and its line take turns; records for programs are not to be torn.
    progress = Progress(
      recordsOnTerminal: POSIX.isTerminal(STDOUT_FILENO) && options.json && !options.quiet)
    showsProgress = progress.isShown
  }

  /// Says what is run, before it begins; for people alone.
  mutating func begin(_ headline: String) {
    guard !isJSON, !isQuiet else { return }
    text.add("\(headline)\n\n")
    do { try writeText() } catch { failure = error }
  }

  /// Takes the next record.
  mutating func take(_ record: TraceRecord) {
    // Nobody is told, at the end neither.
    if isQuiet && !hasTrace { return }
    guard failure == nil else { return }
    switch record.kind {
    case .receiver: lastReceiver = record
    case .board: lastBoard = record
    case .battery, .batteryEmpty, .fix, .wake, .batch, .ack, .finish, .gap, .told: break
    }
    do { try write(record) } catch { failure = error }
  }

  /// Tells how much is done, 0 to 1.
  mutating func advance(to part: Double) {
    guard showsProgress, progress.isDue else { return }
    progress.show("\(Int(min(max(part, 0), 1) * 100)) % of the run")
  }

  /// Ends it.
  ///
  /// The trace gets the states of receiver and board once more at the very end, so that energy and
  /// time can be added up from the trace alone.
  ///
  /// - Parameters:
  ///   - service: Which service the client used.
  ///   - remedy: What helps where a deferral was refused.
  /// - Throws: What went wrong on the way, or now.
  mutating func finish(
    _ summary: TraceSummary, of service: ScriptedService = .updates,
    promise: PromiseSummary? = nil, remedy: String? = nil
  ) throws {
    progress.clear()
    for last in [lastReceiver, lastBoard] {
      if let last { take(TraceRecord(at: .boot + summary.duration, last.kind)) }
    }
    if let failure { throw failure }
    if isJSON {
      if let code = summary.refusal, let remedy {
        POSIX.tell("torpor: a deferral was refused, \(TraceText.words(code)): \(remedy)")
      }
      TraceJSON.write(summary, promise, to: &json)
      try print(json.text.bytes)
    } else {
      if !isQuiet { printer.finish(to: &text) }
      SummaryText(style: .ofStandardOutput).write(
        summary, of: service, promise, remedy: remedy, to: &text)
      try print(text.bytes)
    }
    try print([], isLast: true)
    try trace?.finish()
  }

  /// Prints `bytes` as long as somebody reads.
  private mutating func print(_ bytes: [UInt8], isLast: Bool = false) throws {
    guard !isReaderGone else { return }
    if output.isTerminal { progress.clear() }
    do {
      try output.write(bytes)
      if isLast { try output.finish() }
      // Somebody watches: as it happens.
      if output.isTerminal { try output.flush() }
    } catch is ReaderGone { isReaderGone = true }
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
