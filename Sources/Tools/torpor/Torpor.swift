import ArgumentParser
import BoardHardware
import BoardProfiles

/// The command `torpor`: its subcommands, and the mapping of errors to messages and exit codes.
@main
struct Torpor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torpor",
    abstract:
      "Query the location service, decode GNSS recordings, and simulate how long a board can sleep.",
    discussion: """
      Torpor is a location service that lets the receiver and the board sleep as long as its \
      clients allow, and afterwards delivers every fix recorded in the meantime. This command \
      shows what the service does, and why; it decodes the output of receivers, runs recordings \
      through the service's own engine, and simulates a board and its energy use without hardware.

      Four things to try:

        torpor status
            What receiver and board do now, for which clients and until when.
            Needs the service.

        torpor simulate --scenario commute --hours 24
            A day with two trips on the default board: batches, sleeps, energy use.

        torpor replay drive.nmea --distance unlimited --timeout 600
            A recorded drive through the engine: which fixes a client would get,
            and when.

        torpor decode --format gpx drive.nmea > drive.gpx
            The same drive as a track for a map. The file name - reads a pipe.

      Results go to standard output, everything else to standard error. The exit code is 0, or 1 \
      if `torpor doctor` found a fault, or one of sysexits.h: 64 wrong options, 65 wrong data, \
      66 no input, 69 no service, 70 internal error, 73 output cannot be created, 74 reading or \
      writing failed, 76 reply of the service cannot be parsed, 77 not allowed, 78 invalid board \
      profile.
      """,
    version: "torpor \(version)",
    subcommands: [
      StatusCommand.self, MonitorCommand.self, VisitsCommand.self, ExportCommand.self,
      FlushCommand.self, EnergyCommand.self, MetricsCommand.self, ClientsCommand.self,
      UplinkCommand.self,
      Decode.self, Replay.self, Simulate.self, Tune.self, OptimumCommand.self,
      ReceiverCommand.self, BoardCommand.self, DoctorCommand.self, SwiftFlagsCommand.self,
      Manual.self,
    ]
  )

  /// Version that `--version` prints, and that GPX files name as their creator.
  static let version = "0.1.0"
  /// Release date of that version, for the manual page.
  static let date = "2026-11-21"

  static func main() {
    SignalCleanup.ignoreBrokenPipes()
    do {
      try checkSubcommand(Array(CommandLine.arguments.dropFirst().prefix(2)))
      try OptimumCommand.checkSign(CommandLine.arguments.dropFirst())
      var command = try parseAsRoot()
      try command.run()
    } catch is BrokenPipe {
      // `torpor decode … | head` is no error.
      exit(withError: ExitCode.success)
    } catch let error as CommandError {
      POSIX.printError("torpor: \(error.message)")
      exit(withError: ExitCode(error.code.rawValue))
    } catch let errors as ProfileErrors {
      // With a position without `torpor: `: each line begins with FILE:LINE:COLUMN, which editors can jump to.
      let hasPosition = errors.problems.contains { $0.line > 0 }
      POSIX.printError((hasPosition ? "" : "torpor: ") + errors.description)
      exit(withError: ExitCode(errors.exitCode))
    } catch {
      end(with: error)
    }
  }

  /// Prints the message of the argument parser and exits: an error in the options, or the requested help, version
  /// or completion script, for which a failed write is reported as well.
  private static func end(with error: any Error) -> Never {
    let code = exitCode(for: error)
    guard code.isSuccess else { exit(withError: error) }
    do {
      try Output.print(fullMessage(for: error) + "\n")
    } catch let failure as CommandError {
      POSIX.printError("torpor: \(failure.message)")
      exit(withError: ExitCode(failure.code.rawValue))
    } catch {}
    exit(withError: ExitCode.success)
  }

  /// Rejects a misspelled subcommand and suggests the nearest name.
  ///
  /// - Throws: ``CommandError`` with code 64.
  static func checkSubcommand(_ words: [String]) throws(CommandError) {
    guard let word = words.first, !word.hasPrefix("-") else { return }
    let group = configuration.subcommands.first {
      $0._commandName == word && !$0.configuration.subcommands.isEmpty
    }
    guard let group else { return try check(word, of: configuration, "") }
    try check(words.dropFirst().first, of: group.configuration, "\(word) ")
  }

  /// Checks whether `word` is a subcommand of `command`; nil and options are accepted.
  ///
  /// - Parameter before: The words between the program's name and `word`, with a blank at the end.
  private static func check(
    _ word: String?, of command: CommandConfiguration, _ before: String
  ) throws(CommandError) {
    guard let word, !word.hasPrefix("-") else { return }
    let all = command.subcommands
    if word == "help" || all.contains(where: { $0._commandName == word }) { return }
    let names = all.filter { $0.configuration.shouldDisplay }.map { $0._commandName } + ["help"]
    var message = "there is no command '\(before)\(word)'"
    if let suggestion = nearestName(to: word, among: names) {
      message += "; did you mean '\(before)\(suggestion)'?"
    } else if before.isEmpty, POSIX.kind(of: word) == .regular {
      message += "; to decode that file: torpor decode \(word)"
    }
    throw CommandError(.usage, message + "\nSee 'torpor \(before)--help' for all commands.")
  }
}
