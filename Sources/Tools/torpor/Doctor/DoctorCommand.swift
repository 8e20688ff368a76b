import ArgumentParser
import BoardDoctor
import BoardProfiles
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import TextFormats

/// `torpor doctor`: runs the checks of `BoardDoctor`, prints their findings and writes a profile with them.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check whether the service can run on this board, and how to fix what prevents it.",
    discussion: """
      Run it on the board, as root for complete results, while torpord is not running. It checks \
      the GPIO chip and lines, the serial line and other programs that use it, the receiver and its \
      identity, the kernel's support for suspend and alarm, the battery and the disk. Each line is \
      pass, fail, or skip with the reason; the line below a failed check says how to fix it.

        sudo torpor doctor
        sudo torpor doctor --board my-board --write my-board.toml

      The line that --line names, or the profile's device, is read at up to nine speeds, and the \
      receiver is identified with four queries, in UBX, $PMTK, $PAIR and $PCAS, which change no \
      setting. If no line is named, up to four unused lines are read, USB, /dev/gps* and \
      /dev/serial* first, and a query is sent only on a line on which a receiver already sends \
      fixes: other devices, for example a modem, receive nothing. (Opening a line raises DTR and \
      RTS, which resets some Arduino boards.) The speed and settings of a line are restored \
      afterwards, also after Ctrl-C.

      If the profile has a supply_line, the receiver's supply is switched on and, without --quick, \
      off and on once; --sleep suspends the board once. Nothing else is changed. The exit code is 0 \
      if no check failed, and 1 otherwise.
      """)

  @Option(
    help: ArgumentHelp(
      "The board's name, or the path of its profile or of its folder.", valueName: "board"),
    completion: Completions.boards)
  var board: String?

  @Option(
    help: ArgumentHelp(
      "The receiver's serial line, instead of the profile's.", valueName: "device"),
    completion: .file())
  var line: String?

  @Option(
    help: ArgumentHelp("The folder with the state of the service.", valueName: "folder"),
    completion: .directory)
  var state = Doctor.Options().state

  @Flag(help: "Do not use the GPIO lines that the profile names.")
  var noPins = false

  @Flag(help: "Do not switch the receiver's supply off and on to measure its start time.")
  var quick = false

  @Flag(help: "Suspend the board once, for 10 s, and check whether its alarm wakes it.")
  var sleep = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for a first fix after the receiver's supply is switched on, at most 1 h "
        + "(default: 90s); only if the profile names a supply_line.",
      valueName: "time"),
    transform: DoctorCommand.time)
  var timeout: Interval?

  @Option(
    help: ArgumentHelp(
      "Write a profile with the findings to this file; the file name becomes the board's name.",
      valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var write: String?

  @Flag(help: "Replace the file of --write if it exists already.")
  var force = false

  @Flag(
    help: "Print one JSON object a line for each finding, then one with the counts and the profile."
  )
  var json = false

  /// Parses `--timeout`: more than 0 and at most 1 hour.
  static func time(_ text: String) throws -> Interval {
    let seconds = try ArgumentValues.timeout(text)
    guard seconds > 0, seconds <= 3_600 else {
      throw ValidationError("it should be more than 0 and at most 1h")
    }
    return Interval(seconds: seconds)
  }

  func run() throws {
    if let write, !force, unsafe access(write, F_OK) == 0 {
      throw CommandError(
        .cannotCreate, "'\(write)' exists already; --force replaces it completely")
    }
    if let write, BoardName(of: write) == nil {
      throw CommandError(
        .usage,
        "--write '\(write)': the file name becomes the board's name, which has only lower-case "
          + "letters, digits and hyphens, for example my-board.toml")
    }
    let printer = FindingPrinter(isJSON: json)
    var options = Doctor.Options()
    options.profile = try profile(printer)
    options.isProfileInvalid = board != nil && options.profile == nil
    options.excludesGPIO = noPins
    options.line = line
    options.state = state
    options.measuresTimeToFix = !quick
    options.sleepTrial = sleep ? .seconds(10) : nil
    setClock(of: &options)
    try checkTimeout(options.profile)
    if let timeout { options.fixTimeout = timeout }
    try StopSignals.install()
    let stop = StopFlag()
    options.isStopped = { stop.isSet }
    var doctor = Doctor(options, onFinding: printer.show)
    doctor.examine()
    if stop.isSet, let number = stop.number { SignalCleanup.removeAllAndRaise(number) }
    try finish(doctor, printer)
  }

  /// Sets the feed of the system clock, if a running service reports it.
  private func setClock(of options: inout Doctor.Options) {
    guard var connection = try? LocationConnection(path: LocationConnection.defaultPath),
      let status = try? connection.getStatus()
    else { return }
    guard let clock = status.clock else {
      // The clock is not reported to users who may not use location.
      options.servesWithoutClock = geteuid() == 0
      return
    }
    let text = ClockText(clock: clock, times: ServiceClock(now: status.now)).line
    options.clock = Doctor.ClockReport(
      isFeeding: clock.isFeeding, isRefused: clock.isRefused, text: text)
  }

  /// Rejects `--timeout` if the options or the profile exclude a wait for a fix.
  ///
  /// - Throws: ``CommandError`` with code 64.
  private func checkTimeout(_ profile: BoardProfile?) throws(CommandError) {
    guard timeout != nil else { return }
    let reason: String
    if noPins {
      reason = "--no-pins leaves the supply_line unused"
    } else if quick {
      reason = "--quick leaves the supply unchanged"
    } else if board == nil {
      reason = "only a profile can name a supply_line: name the board with --board"
    } else if let profile, profile.receiver?.supplyLine == nil {
      reason = "the profile '\(profile.name)' names no supply_line"
    } else {
      return
    }
    throw CommandError(
      .usage,
      "--timeout limits the wait for a fix after the receiver's supply is switched on, but \(reason); omit it"
    )
  }

  /// Loads the profile and prints the result as a finding; nil if none was named or it is invalid.
  ///
  /// - Throws: `ProfileErrors` if no such board exists.
  private func profile(_ printer: FindingPrinter) throws -> BoardProfile? {
    guard let board else {
      printer.show(
        Finding(
          "profile", .skipped,
          "no --board was given, so no finding is compared with a profile"))
      return nil
    }
    // An unknown board ends the command; an invalid profile is a finding.
    let file = try BoardProfile.file(named: board)
    do {
      let profile = try BoardProfile.named(board)
      printer.show(Finding("profile", .passed, "\(profile.name) (\(file))"))
      return profile
    } catch let errors as ProfileErrors {
      guard errors.exitCode == ProfileErrors.exitCode else { throw errors }
      printer.show(
        Finding(
          "profile", .failed, errors.description,
          suggestion: "correct the profile, then run: torpor board check \(board)"))
      return nil
    }
  }

  private func finish(_ doctor: Doctor, _ printer: FindingPrinter) throws {
    let text: String?
    var reason = "no receiver was found, and no --board was given"
    do { text = try profile(of: doctor) } catch {
      // The findings contradict the rest of the board's profile.
      (text, reason) = (nil, "\(error)")
    }
    if let write {
      guard let text else {
        printer.finish(profile: nil, write: nil)
        throw CommandError(.unavailable, "'\(write)' was not written: \(reason)")
      }
      var output = try Output(path: write)
      try output.write(Array(text.utf8))
      try output.finish()
    }
    printer.finish(profile: text, write: write)
    if printer.hasFailed { throw ExitCode(1) }
  }
}

extension DoctorCommand {
  /// The text of a profile with the findings; nil if nothing was found that a profile can state.
  private func profile(of doctor: Doctor) throws -> String? {
    if board != nil, !doctor.hasProfile {
      throw CommandError(.config, "the board's profile is invalid; correct it first")
    }
    let name = write.flatMap { BoardName(of: $0)?.name }
    guard let proposal = try ProposedProfile(doctor, name: name),
      write != nil || !proposal.changedPaths.isEmpty
    else { return nil }
    return try proposal.text(file: write ?? "profile.toml")
  }
}

/// The board name that follows from the path of its profile.
struct BoardName {
  let name: String

  /// Derives the name from the file name, or from the folder's name for `profile.toml`; nil if it is no valid name.
  init?(of path: String) {
    let parts = path.split(separator: "/").map(String.init)
    guard var name = parts.last else { return nil }
    if name == "profile.toml", parts.count > 1 { name = parts[parts.count - 2] }
    if name.hasSuffix(".toml") { name = String(name.dropLast(5)) }
    var new = NewProfile()
    guard !name.isEmpty, (try? new.answer("name", name)) != nil else { return nil }
    self.name = name
  }
}

/// Prints the findings of a check, one by one, and their summary.
final class FindingPrinter {
  private let isJSON: Bool
  private let style = Style.ofStandardOutput
  private var counts: [Finding.Outcome: Int] = [:]
  private var firstFailure: Finding?

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Whether a check failed.
  var hasFailed: Bool { firstFailure != nil }

  /// Prints a finding immediately, unbuffered: the next check may take a minute.
  func show(_ finding: Finding) {
    counts[finding.outcome, default: 0] += 1
    if finding.outcome == .failed, firstFailure == nil { firstFailure = finding }
    var writer = JSONOutput()
    writer.line { writer in
      writer.member("check", finding.name)
      writer.member("outcome", finding.outcome.rawValue)
      writer.member("found", finding.found)
      if let suggestion = finding.suggestion { writer.member("remedy", suggestion) }
    }
    put(isJSON ? writer.text.bytes : Array(lines(finding).utf8))
  }

  private func lines(_ finding: Finding) -> String {
    let tone: Style.Tone =
      switch finding.outcome {
      case .passed: .good
      case .failed: .bad
      case .skipped: .plain
      }
    let name = finding.name + String(repeating: " ", count: max(0, 18 - finding.name.count))
    var text = "\(style.paint(finding.outcome.rawValue, tone))  \(name)  \(finding.found)\n"
    if let suggestion = finding.suggestion {
      text += String(repeating: " ", count: 26) + "-> \(suggestion)\n"
    }
    return text
  }

  /// Prints the counts and the first failure with its suggestion.
  func finish(profile: String?, write: String?) {
    if isJSON {
      var writer = JSONOutput()
      writer.line { writer in
        for outcome in Finding.Outcome.allCases {
          writer.member(name: outcome.rawValue, Int64(counts[outcome] ?? 0))
        }
        if let firstFailure {
          writer.member("first", firstFailure.suggestion ?? firstFailure.found)
        }
        if let profile { writer.member("profile", profile) }
      }
      return put(writer.text.bytes)
    }
    let (passed, failed) = (counts[.passed] ?? 0, counts[.failed] ?? 0)
    var text = "\n\(passed) passed, \(failed) failed, \(counts[.skipped] ?? 0) skipped\n"
    if let firstFailure {
      text +=
        "first: \(firstFailure.name): \(firstFailure.suggestion ?? firstFailure.found)\n"
    }
    if let write {
      text +=
        "a profile with the findings: \(write); review it, then run: torpor board check \(write)\n"
    } else if profile != nil {
      text += "--write my-board.toml writes a profile with these findings\n"
    }
    put(Array(text.utf8))
  }

  private func put(_ bytes: [UInt8]) { _ = TextFile.write(bytes, to: STDOUT_FILENO) }
}
