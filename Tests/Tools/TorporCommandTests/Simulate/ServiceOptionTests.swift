import TestSupport
import Testing

@testable import torpor

@Suite("Options that some services ignore", .tags(.process))
struct ServiceOptionTests {
  /// The arguments of an option, with a value that has an effect if the option is used.
  static func arguments(_ option: ServiceOption) -> [String] {
    switch option {
    case .accuracy: ["--accuracy", "100"]
    case .distance: ["--distance", "300"]
    case .timeout: ["--timeout", "60"]
    case .pause: ["--pause"]
    case .radius: ["--radius", "1km"]
    }
  }

  /// A route with movement and a long stop.
  static let route = ["simulate", "--noise", "none", "--scenario", "commute", "--hours", "1.5"]

  @Test(
    "each service reports the options it ignores, and exactly those have no effect",
    arguments: ServiceName.allCases)
  func table(_ service: ServiceName) {
    let plain = Command.run(Self.route + ["--json", "--service", service.rawValue])
    #expect(plain.status == 0 && plain.errors.isEmpty, "\(plain.errors)")
    for option in ServiceOption.allCases {
      let result = Command.run(
        Self.route + ["--json", "--service", service.rawValue] + Self.arguments(option))
      #expect(result.status == 0)
      let isUsed = option.services.contains(service)
      #expect((result.output != plain.output) == isUsed, "\(service) \(option)")
      let isReported = result.errors.contains("--service \(service.rawValue) ignores ")
      #expect(isReported == !isUsed, "\(result.errors)")
    }
  }

  @Test("ignored options are reported in one line, with the services that use them")
  func line() {
    #expect(ServiceOption.unused([.accuracy, .pause], by: .standard) == nil)
    #expect(ServiceOption.unused([], by: .visits) == nil)
    #expect(
      ServiceOption.unused([.accuracy, .timeout, .radius], by: .region)
        == "--service region ignores --accuracy (used by standard or deferred), "
        + "--timeout (used by deferred)")
  }
}

@Suite("Causes reported by a run", .tags(.process))
struct RunCauseTests {
  /// Standard error and standard output of a short run.
  func run(_ arguments: [String]) -> (errors: String, output: String) {
    let result = Command.run(["simulate", "--noise", "none"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return (result.errors, result.output)
  }

  @Test("PWR-10: without a fix, an empty battery, a low one and a short run are distinguished")
  func noFix() {
    let empty = run(["--hours", "0.1", "--battery", "1mWh", "--charge", "50", "-q"])
    #expect(
      empty.errors.contains(
        "before the receiver's first fix: start with more energy, with --charge")
        && !empty.errors.contains("the run may have ended"), "\(empty.errors)")
    let low = run(["--hours", "0.1", "--battery", "11Wh", "--charge", "7", "--service", "visits"])
    #expect(
      low.errors.contains("there was no fix: at 7 % the battery is too low (no visits)"),
      "\(low.errors)")
    let short = run(["--hours", "0.001"])
    #expect(short.errors.contains("there was no fix: the run may have ended"), "\(short.errors)")
    // A reduced accuracy is no reason for a missing fix.
    let coarse = run(["--hours", "0.001", "--battery", "11Wh", "--charge", "25"])
    #expect(coarse.errors.contains("the run may have ended"), "\(coarse.errors)")
  }

  @Test("an empty battery is one line of the timeline and of the trace, where the run ends")
  func empty() {
    let arguments = ["--scenario", "still", "--battery", "20mWh", "--charge", "90"]
    let text = run(arguments)
    let lines = text.output.split(separator: "\n").filter { $0.contains("  battery   empty") }
    #expect(lines.count == 1)
    let records = run(arguments + ["--json"]).output.split(separator: "\n")
    let empty = records.filter { $0.contains(#""kind":"empty""#) }
    #expect(empty.count == 1)
    #expect(
      EndToEndTests.number("t", in: empty.first ?? "")
        == EndToEndTests.number("duration_s", in: records.last ?? ""))
    #expect(!run(["--hours", "0.1", "--json"]).output.contains(#""kind":"empty""#))
  }

  @Test("PWR-10: --charge 30 is 30 % on the gauge, at which every fix is still delivered")
  func gauge() {
    let begun = run(["--hours", "0.05", "--battery", "500mWh", "--charge", "30", "--json"]).output
    #expect(begun.contains(#""kind":"battery","percent":30}"#))
    #expect(!begun.contains("degraded"))
  }

  @Test("LIV-7: flags of live updates are reported when they change")
  func flags() {
    let result = run(
      [
        "--scenario", "still", "--hours", "1", "--service", "live", "--battery", "100mWh",
        "--charge", "17",
      ])
    #expect(result.output.contains("  flags     location unavailable\n"), "\(result.output)")
  }

  @Test("DEF-2: the text and JSON summaries report a refused deferral with a suggestion")
  func refusal() {
    let text = run(["--hours", "0.2", "--accuracy", "50", "-q"])
    #expect(
      text.output.contains("\nrefused         error: the desired accuracy is too low\n"))
    #expect(
      text.output.contains("\nsuggestion      omit --accuracy, or use it with --service standard")
    )
    #expect(text.errors.isEmpty, "\(text.errors)")
    let json = run(["--hours", "0.2", "--accuracy", "50", "-q", "--json"])
    #expect(json.output.contains(#""refusals":1,"#))
    #expect(json.errors.contains("omit --accuracy"))
    let low = run(["--hours", "0.2", "--battery", "11Wh", "--charge", "20", "-q"])
    #expect(
      low.output.contains("\nsuggestion      the battery was too low: "), "\(low.output)")
    #expect(!run(["--hours", "0.2", "-q"]).output.contains("refused"))
  }

  @Test(
    "the timeline is ordered by time",
    arguments: [
      ["--accuracy", "50"], ["--timeout", "300"], ["--service", "live"], ["--service", "visits"],
    ])
  func order(_ arguments: [String]) {
    let result = run(["--scenario", "commute", "--hours", "1.5"] + arguments).output
    let times = result.split(separator: "\n").compactMap {
      $0.wholeMatch(of: /(\d\d:\d\d:\d\d)  .*/).map { String($0.output.1) }
    }
    #expect(times.count > 5 && times == times.sorted())
  }
}
