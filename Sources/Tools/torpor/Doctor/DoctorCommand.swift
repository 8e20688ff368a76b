import ArgumentParser
import BoardDoctor
import BoardProfiles
import Glibc
import LocationTypes

/// `torpor doctor`.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look at this board: whether the service can run on it, and what is in the way.",
    discussion: """
      Run it on the board, as root to see everything, while torpord does not run. It looks at GPIO \
      chip and lines, at the serial line and who else uses it, listens to the receiver and asks \
      what it is, at what the kernel says of sleep and alarm, at battery and disk. Each line is pass, \
      fail, or skip with the reason; below what failed stands what helps.

        sudo torpor doctor
        sudo torpor doctor --board my-board --write my-board.toml

      The line that --line names, or the profile's device, is listened to at up to nine speeds and \
      the receiver is asked what it is: four questions, in UBX, $PMTK, $PAIR and $PCAS, which change \
      nothing. Where no line is named, up to four that nobody uses are listened to, those of USB, \
      /dev/gps* and /dev/serial* first, and nothing is sent on a line unless a receiver is heard \
      there that tells of fixes: what else is behind one, a modem perhaps, hears nothing. (To open \
      a line raises DTR and RTS, on which some Arduinos start anew.) A line's speed and settings are \
      put back as they were, also after Ctrl-C.

      Where the profile has a supply_line the receiver's supply is switched on, and unless --quick is \
      given off and on once; --sleep suspends the board once. All else is only looked at. The exit \
      code is 0 when nothing failed, and 1 when something did.
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
    help: ArgumentHelp("Where the service keeps its state.", valueName: "folder"),
    completion: .directory)
  var state = Doctor.Options().state

  @Flag(help: "Leave all GPIO lines alone that the profile names.")
  var noPins = false

  @Flag(help: "Do not switch the receiver's supply to see how long it needs.")
  var quick = false

  @Flag(help: "Really suspend the board once, for 10 s, and tell whether its alarm woke it.")
  var sleep = false

  @Option(
    help: ArgumentHelp(
      "How long a first fix is waited for after the receiver's supply is switched on, at most 1 h "
        + "(default: 90s); only where the profile names a supply_line.",
      valueName: "time"),
    transform: DoctorCommand.time)
  var timeout: Interval?

  @Option(
    help: ArgumentHelp(
      "Write a profile with what was found to this file; its name is the board's.",
      valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var write: String?

  @Flag(help: "Replace the file of --write if it is there already.")
  var force = false

  @Flag(help: "One JSON object a line for each finding, then one with their count and the profile.")
  var json = false

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
        .cannotCreate, "'\(write)' is there already; --force replaces it, with all that it says")
    }
    if let write, BoardName(of: write) == nil {
      throw CommandError(
        .usage,
        "--write '\(write)': the file's name becomes the board's: small letters, digits and hyphens, "
          + "my-board.toml")
    }
    let printer = FindingPrinter(isJSON: json)
    var options = Doctor.Options()
    options.profile = try profile(printer)
    options.isProfileInvalid = board != nil && options.profile == nil
    options.isUnwired = noPins
    options.line = line
    options.state = state
    options.timesFix = !quick
    options.sleepTrial = sleep ? .seconds(10) : nil
    try checkTimeout(options.profile)
    if let timeout { options.longestFix = timeout }
    try StopSignals.install()
    let stop = StopFlag()
    options.isStopped = { stop.isAsked }
    var doctor = Doctor(options, tell: printer.show)
    doctor.examine()
    if stop.isAsked, let number = stop.number { Interrupts.end(number) }
    try finish(doctor, printer)
  }

  /// Refuses a time that nothing would be waited for.
  private func checkTimeout(_ profile: BoardProfile?) throws(CommandError) {
    guard timeout != nil else { return }
    let reason: String
    if noPins {
      reason = "--no-pins leaves the supply_line alone"
    } else if quick {
      reason = "--quick leaves it as it is"
    } else if board == nil {
      reason = "only a profile can name its supply_line: name one with --board"
    } else if let profile, profile.receiver?.supplyLine == nil {
      reason = "the profile '\(profile.name)' names no supply_line"
    } else {
      return
    }
    throw CommandError(
      .usage,
      "--timeout limits the wait for a fix after the receiver's supply is switched on, and \(reason); leave it away"
    )
  }

  /// The profile, told as a finding; nil where there is none, or none that is right.
  private func profile(_ printer: FindingPrinter) throws -> BoardProfile? {
    guard let board else {
      printer.show(
        Finding("profile", .skipped, "none is named, so nothing is compared with one"))
      return nil
    }
    // A name that is none ends it; a file with mistakes is a finding.
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
          remedy: "mend it, then: torpor board check \(board)"))
      return nil
    }
  }

  private func finish(_ doctor: Doctor, _ printer: FindingPrinter) throws {
    let text: String?
    var reason = "no receiver was found, and no --board was given"
    do { text = try profile(of: doctor) } catch {
      // What was found does not go with the rest of the board's profile.
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
  /// The text of a profile with what was found; nil where nothing was.
  private func profile(of doctor: Doctor) throws -> String? {
    if board != nil, !doctor.hasProfile {
      throw CommandError(.config, "the board's profile has mistakes, which are to be mended first")
    }
    guard let offer = try ProfileOffer(doctor, name: write.flatMap { BoardName(of: $0)?.name }),
      write != nil || !offer.found.isEmpty
    else { return nil }
    return try offer.text(file: write ?? "profile.toml")
  }
}

/// The board's name that a file gives its profile.
struct BoardName {
  let name: String

  /// nil where the file's name, or its folder's for `profile.toml`, can be none.
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

/// Prints findings as they are made.
final class FindingPrinter {
  private let isJSON: Bool
  private let style = Style.ofStandardOutput
  private var counts: [Finding.Outcome: Int] = [:]
  private var first: Finding?

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Whether one of them failed.
  var hasFailed: Bool { first != nil }

  /// Prints one at once: the next may take a minute.
  func show(_ finding: Finding) {
    counts[finding.outcome, default: 0] += 1
    if finding.outcome == .failed, first == nil { first = finding }
    var writer = JSONWriter()
    writer.begin()
    writer.member("check", finding.name)
    writer.member("outcome", finding.outcome.rawValue)
    writer.member("found", finding.found)
    if let remedy = finding.remedy { writer.member("remedy", remedy) }
    writer.end()
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
    if let remedy = finding.remedy {
      text += String(repeating: " ", count: 26) + "-> \(remedy)\n"
    }
    return text
  }

  /// Prints what they add up to, and what to do first.
  func finish(profile: String?, write: String?) {
    if isJSON {
      var writer = JSONWriter()
      writer.begin()
      for outcome in Finding.Outcome.allCases {
        writer.member(outcome.rawValue, Int64(counts[outcome] ?? 0))
      }
      if let first { writer.member("first", first.remedy ?? first.found) }
      if let profile { writer.member("profile", profile) }
      writer.end()
      return put(writer.text.bytes)
    }
    let (passed, failed) = (counts[.passed] ?? 0, counts[.failed] ?? 0)
    var text = "\n\(passed) passed, \(failed) failed, \(counts[.skipped] ?? 0) skipped\n"
    if let first { text += "first: \(first.name): \(first.remedy ?? first.found)\n" }
    if let write {
      text +=
        "a profile with what was found: \(write); look it through, then: torpor board check \(write)\n"
    } else if profile != nil {
      text += "--write my-board.toml writes a profile with what was found\n"
    }
    put(Array(text.utf8))
  }

  private func put(_ bytes: [UInt8]) { _ = POSIX.write(bytes, to: STDOUT_FILENO) }
}
