import Glibc
import TextFormats

/// Tests the service on a virtual board: Debian's kernel in QEMU, with gpio-sim, a serial line and suspend.
///
///     TorporBoard BUILT-FOLDER PROFILE [--only WORDS] [--lane 1|2|3] [--resets N] [--seed N] [--verbose]
///     TorporBoard BUILT-FOLDER PROFILE --compare [--starts N] [--period SECONDS] [--record FILE]
///
/// The scenarios are divided into three lanes, so that two processors can run them in parallel; the third mostly waits.
///
///     TorporBoard --thirty-starts PROFILE
///
/// This form needs no QEMU: it runs ``ThirtyStarts`` in the simulator and prints its figures.
///
/// Prints a line for each scenario, and the guest's log for each failure. Exits with 1 after a failure.
@main struct TorporBoard {
  static func main() {
    signal(SIGPIPE, SIG_IGN)
    let arguments = CommandLine.arguments.dropFirst()
    do {
      if arguments.count == 2, arguments.first == "--thirty-starts" {
        return printLine(try ThirtyStarts.simulated(arguments.last ?? ""))
      }
      try run(Array(arguments))
    } catch {
      printLine("FAILED: \(error)")
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws -> Never {
    guard let options = BoardOptions(arguments) else {
      printLine(
        "usage: TorporBoard BUILT-FOLDER PROFILE [--only WORDS] [--lane 1|2|3] [--resets N] [--seed N] [--verbose]\n"
          + "       TorporBoard BUILT-FOLDER PROFILE --compare [--starts N] [--period SECONDS] [--record FILE]"
      )
      exit(EX_USAGE)
    }
    if options.compares {
      try compare(options)
      exit(0)
    }
    let failures = try runAll(options)
    printLine(failures == 0 ? "the virtual board: all passed" : "FAILED: \(failures) scenarios")
    exit(failures == 0 ? 0 : 1)
  }

  private static func bench(_ options: BoardOptions, run: String) throws -> Bench {
    let bench = try Bench(
      VirtualMachine.Folders(built: options.folder, run: "\(options.folder)/\(run)"),
      board: options.profile, lines: options.folder + "/lines")
    bench.isVerbose = options.isVerbose
    return bench
  }

  /// Measures torpord with `StartsOnBoard` and prints the line of JSON.
  private static func compare(_ options: BoardOptions) throws {
    let bench = try bench(options, run: "compare\(options.lane)")
    defer { bench.discard() }
    do {
      printLine(try options.starts.run(on: bench))
    } catch {
      printState(bench)
      throw error
    }
  }

  private static func runAll(_ options: BoardOptions) throws -> Int {
    let bench = try bench(options, run: "run\(options.lane)")
    defer { bench.discard() }
    var failures = 0
    for scenario in BoardScenario.all(options) where scenario.name.contains(options.only) {
      if !runAndPrint(scenario, bench) { failures += 1 }
    }
    return failures
  }

  /// Runs a scenario and prints its result; returns whether it passed.
  private static func runAndPrint(_ scenario: BoardScenario, _ bench: Bench) -> Bool {
    let begin = bench.now
    bench.limit(to: scenario.limit)
    var failure: Error?
    do { try scenario.run(bench) } catch { failure = error }
    let seconds = (bench.now - begin).text
    guard let failure else {
      printLine("\(scenario.name) … ok \(seconds)")
      return true
    }
    printLine("\(scenario.name) … FAILED \(seconds): \(failure)")
    printState(bench)
    bench.discard()
    return false
  }

  /// Prints the state of a board after a failure.
  private static func printState(_ bench: Bench) {
    let receiver = bench.receiver
    printLine(
      "  receiver: \(receiver.state), \(receiver.speed) baud; sent \(receiver.bytesSent) bytes, "
        + "received \(receiver.bytesReceived)")
    printLine(
      "  lines: "
        + bench.changes.suffix(20).map {
          "\($0.line) \($0.isUp ? 1 : 0) \(((HostClock.now - $0.time) * 10).rounded() / 10) s ago"
        }.joined(separator: ", "))
    printLine("  suspends: \(bench.suspends)\(bench.isSuspended ? ", suspended now" : "")")
    for client in bench.clients {
      printLine("  \(client.name): " + client.lines.suffix(12).joined(separator: " | "))
    }
    for name in ["qemu.log", "console.log", "torpord.log"] {
      let lines = ((try? text(of: "\(bench.folders.run)/\(name)")) ?? "").split(separator: "\n")
      printLine("  -- \(name)")
      for line in lines.suffix(60) { printLine("  \(line)") }
    }
  }
}

/// The command line; nil if it is invalid.
struct BoardOptions {
  var folder = ""
  var profile = ""
  /// The lane to run; 0 for all.
  var lane = 0
  var only = ""
  var isVerbose = false
  /// Whether to measure with `StartsOnBoard` instead of testing.
  var compares = false
  var starts = StartsOnBoard()
  var resets = 8
  var seed: UInt64 = 1

  init?(_ arguments: [String]) {
    var unread = arguments[...]
    while let argument = unread.popFirst() {
      switch argument {
      case "--verbose": isVerbose = true
      case "--only":
        guard let words = unread.popFirst() else { return nil }
        only = words
      case "--lane":
        guard let number = unread.popFirst().flatMap({ Int($0) }), (0...3).contains(number) else {
          return nil
        }
        lane = number
      case "--compare": compares = true
      case "--starts":
        guard let number = unread.popFirst().flatMap({ Int($0) }), number > 0 else { return nil }
        starts.starts = number
      case "--period":
        guard let time = unread.popFirst().flatMap({ Double($0) }), time > 0 else { return nil }
        starts.period = time
      case "--record":
        guard let path = unread.popFirst() else { return nil }
        starts.tracePath = path
      case "--resets":
        guard let number = unread.popFirst().flatMap({ Int($0) }), number > 0 else { return nil }
        resets = number
      case "--seed":
        guard let number = unread.popFirst().flatMap({ UInt64($0) }) else { return nil }
        seed = number
      default:
        guard !argument.hasPrefix("-"), folder.isEmpty || profile.isEmpty else { return nil }
        if folder.isEmpty { folder = argument } else { profile = argument }
      }
    }
    guard !profile.isEmpty else { return nil }
  }
}
