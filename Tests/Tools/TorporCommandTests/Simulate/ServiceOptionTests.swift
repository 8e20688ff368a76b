import TestSupport
import Testing

@testable import torpor

@Suite("Options that some services make no use of", .tags(.process))
struct ServiceOptionTests {
  /// How each is given, with a value that matters where the option does.
  static func words(_ option: ServiceOption) -> [String] {
    switch option {
    case .accuracy: ["--accuracy", "100"]
    case .distance: ["--distance", "300"]
    case .timeout: ["--timeout", "60"]
    case .pause: ["--pause"]
    case .radius: ["--radius", "1km"]
    }
  }

  /// A way with movement and a long stop.
  static let way = ["simulate", "--noise", "none", "--scenario", "commute", "--hours", "1.5"]

  @Test(
    "each service tells what it makes no use of, and only that is without effect",
    arguments: ServiceName.allCases)
  func table(_ service: ServiceName) {
    let plain = Command.run(Self.way + ["--json", "--service", service.rawValue])
    #expect(plain.status == 0 && plain.errors.isEmpty, "\(plain.errors)")
    for option in ServiceOption.allCases {
      let given = Command.run(
        Self.way + ["--json", "--service", service.rawValue] + Self.words(option))
      #expect(given.status == 0)
      let isUsed = option.services.contains(service)
      #expect((given.output != plain.output) == isUsed, "\(service) \(option)")
      let told = given.errors.contains("--service \(service.rawValue) ignores ")
      #expect(told == !isUsed, "\(given.errors)")
    }
  }

  @Test("several are told in one line, with the services they are for")
  func line() {
    #expect(ServiceOption.unused([.accuracy, .pause], by: .standard) == nil)
    #expect(ServiceOption.unused([], by: .visits) == nil)
    #expect(
      ServiceOption.unused([.accuracy, .timeout, .radius], by: .region)
        == "--service region ignores --accuracy (used by standard or deferred), "
        + "--timeout (used by deferred)")
  }
}

@Suite("What a run tells of its causes", .tags(.process))
struct RunCauseTests {
  /// A short run's lines on standard error, and its output.
  func run(_ arguments: [String]) -> (errors: String, output: String) {
    let result = Command.run(["simulate", "--noise", "none"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return (result.errors, result.output)
  }

  @Test(
    "PWR-10: no fix at all: an empty battery, a low one and a way that is too short are told apart")
  func noFix() {
    let empty = run(["--hours", "0.1", "--battery", "1mWh", "--charge", "50", "-q"])
    #expect(
      empty.errors.contains(
        "before the receiver's first fix: start with more energy, with "
          + "--charge")
        && !empty.errors.contains("the run may have ended"), "\(empty.errors)")
    let low = run(["--hours", "0.1", "--battery", "11Wh", "--charge", "7", "--service", "visits"])
    #expect(
      low.errors.contains("there was no fix: at 7 % the battery is too low (no visits)"),
      "\(low.errors)")
    let short = run(["--hours", "0.001"])
    #expect(short.errors.contains("there was no fix: the run may have ended"), "\(short.errors)")
    // Something coarser is no reason for nothing.
    let coarse = run(["--hours", "0.001", "--battery", "11Wh", "--charge", "25"])
    #expect(coarse.errors.contains("the run may have ended"), "\(coarse.errors)")
  }

  @Test("an empty battery is a line of the timeline and of the trace, once, where the run ends")
  func empty() {
    let arguments = ["--scenario", "still", "--battery", "20mWh", "--charge", "90"]
    let people = run(arguments)
    let lines = people.output.split(separator: "\n").filter { $0.contains("  battery   empty") }
    #expect(lines.count == 1)
    let records = run(arguments + ["--json"]).output.split(separator: "\n")
    let empty = records.filter { $0.contains(#""kind":"empty""#) }
    #expect(empty.count == 1)
    #expect(
      EndToEndTests.number("t", in: empty.first ?? "")
        == EndToEndTests.number("duration_s", in: records.last ?? ""))
    #expect(!run(["--hours", "0.1", "--json"]).output.contains(#""kind":"empty""#))
  }

  @Test("PWR-10: --charge 30 is 30 % on the gauge, at which every fix is still given")
  func gauge() {
    let begun = run(["--hours", "0.05", "--battery", "500mWh", "--charge", "30", "--json"]).output
    #expect(begun.contains(#""kind":"battery","percent":30}"#))
    #expect(!begun.contains("degraded"))
  }

  @Test("LIV-7: live updates' flags are told when they change")
  func flags() {
    let told = run(
      [
        "--scenario", "still", "--hours", "1", "--service", "live", "--battery", "100mWh",
        "--charge", "17",
      ])
    #expect(told.output.contains("  flags     location unavailable\n"), "\(told.output)")
  }

  @Test("DEF-2: a refused deferral is in the summary with its remedy, for people and for programs")
  func refusal() {
    let people = run(["--hours", "0.2", "--accuracy", "50", "-q"])
    #expect(
      people.output.contains("\nrefused         error: the desired accuracy is too low\n"))
    #expect(
      people.output.contains("\nsuggestion      omit --accuracy, or use it with --service standard")
    )
    #expect(people.errors.isEmpty, "\(people.errors)")
    let programs = run(["--hours", "0.2", "--accuracy", "50", "-q", "--json"])
    #expect(programs.output.contains(#""refusals":1,"#))
    #expect(programs.errors.contains("omit --accuracy"))
    let low = run(["--hours", "0.2", "--battery", "11Wh", "--charge", "20", "-q"])
    #expect(
      low.output.contains("\nsuggestion      the battery was too low: "), "\(low.output)")
    #expect(!run(["--hours", "0.2", "-q"]).output.contains("refused"))
  }

  @Test(
    "the timeline is in the order of time",
    arguments: [
      ["--accuracy", "50"], ["--timeout", "300"], ["--service", "live"], ["--service", "visits"],
    ])
  func order(_ arguments: [String]) {
    let told = run(["--scenario", "commute", "--hours", "1.5"] + arguments).output
    let times = told.split(separator: "\n").compactMap {
      $0.wholeMatch(of: /(\d\d:\d\d:\d\d)  .*/).map { String($0.output.1) }
    }
    #expect(times.count > 5 && times == times.sorted())
  }
}
