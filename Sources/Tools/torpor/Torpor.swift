import ArgumentParser
import BoardProfiles

/// The command `torpor`.
@main
struct Torpor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torpor",
    abstract:
      "Ask the location service, look into recordings of a GNSS receiver, and try out how long a board may sleep.",
    discussion: """
      Torpor is a location service that lets the receiver and the board sleep as long as its \
      clients allow, and delivers afterwards every fix they missed. This command asks the service \
      what it does, and why; it decodes what receivers said, runs recordings through the \
      service's own engine, and simulates a board to the millijoule, without any hardware.

      Four things to try:

        torpor status
            What receiver and board do now, for whom and until when. It needs the service.

        torpor simulate --scenario commute --hours 24
            A day with two trips on the default board: batches, sleeps, the energy bill.

        torpor replay drive.nmea --distance unlimited --timeout 600
            A recorded drive through the engine: what a client would get, and when.

        torpor decode --format gpx drive.nmea > drive.gpx
            The same drive as a track for a map. With - it reads a pipe.

      Results go to standard output, everything else to standard error. The exit code is 0, or 1 \
      where `torpor doctor` found a fault, or one of sysexits.h: 64 wrong options, 65 wrong data, \
      66 no input, 69 no service, 70 a fault of this program, 73 cannot write, 74 reading or writing failed, 76 a \
      service that is not understood, 77 not allowed, 78 wrong board profile.
      """,
    version: "torpor \(version)",
    subcommands: [
      StatusCommand.self, MonitorCommand.self, VisitsCommand.self, ExportCommand.self,
      FlushCommand.self, EnergyCommand.self, ClientsCommand.self,
      Decode.self, Replay.self, Simulate.self, Tune.self, OptimumCommand.self,
      ReceiverCommand.self, BoardCommand.self, DoctorCommand.self, Manual.self,
    ]
  )

  /// What `--version` tells and what GPX files name as their maker.
  static let version = "0.1.0"
  /// The day of that version, for the manual page.
  static let date = "2026-11-21"

  static func main() {
    Interrupts.ignoreBrokenPipes()
    do {
      try checkSubcommand(Array(CommandLine.arguments.dropFirst().prefix(2)))
      var command = try parseAsRoot()
      try command.run()
    } catch is ReaderGone {
      // `torpor decode … | head`: whoever read has enough.
      exit(withError: ExitCode.success)
    } catch let error as CommandError {
      POSIX.tell("torpor: \(error.message)")
      exit(withError: ExitCode(error.code.rawValue))
    } catch let errors as ProfileErrors {
      // Its lines begin with the place, for editors to jump to.
      POSIX.tell(errors.description)
      exit(withError: ExitCode(errors.exitCode))
    } catch {
      end(with: error)
    }
  }

  /// Ends with what the parser has to say: what is wrong with the options, or, where it was asked
  /// for, help, version and completion scripts, whose way out may be full as well.
  private static func end(with error: any Error) -> Never {
    let code = exitCode(for: error)
    guard code.isSuccess else { exit(withError: error) }
    do {
      var output = Output()
      try output.write(Array((fullMessage(for: error) + "\n").utf8))
      try output.finish()
    } catch let failure as CommandError {
      POSIX.tell("torpor: \(failure.message)")
      exit(withError: ExitCode(failure.code.rawValue))
    } catch {}
    exit(withError: ExitCode.success)
  }

  /// Tells of a slip in a subcommand's name what was meant.
  static func checkSubcommand(_ words: [String]) throws(CommandError) {
    guard let word = words.first, !word.hasPrefix("-") else { return }
    for group in [BoardCommand.configuration, ClientsCommand.configuration] {
      guard let name = group.commandName, word == name else { continue }
      return try check(words.dropFirst().first, of: group, "\(name) ")
    }
    try check(word, of: configuration, "")
  }

  /// - Parameter before: The words before it, behind the program's name.
  private static func check(
    _ word: String?, of command: CommandConfiguration, _ before: String
  ) throws(CommandError) {
    guard let word, !word.hasPrefix("-") else { return }
    let all = command.subcommands
    if word == "help" || all.contains(where: { $0._commandName == word }) { return }
    let names = all.filter { $0.configuration.shouldDisplay }.map { $0._commandName } + ["help"]
    var message = "there is no command '\(before)\(word)'"
    if let meant = Suggestion.nearest(to: word, among: names) {
      message += "; did you mean '\(before)\(meant)'?"
    } else if before.isEmpty, POSIX.kind(of: word) == .regular {
      message += "; to look into that file: torpor decode \(word)"
    }
    throw CommandError(.usage, message + "\nSee 'torpor \(before)--help' for what there is.")
  }
}
