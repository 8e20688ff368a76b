import Glibc
import TestSupport
import Testing

/// Runs the built program that `Docs/HowTo/write-a-program.md` shows.
@Suite("The documented program", .tags(.process))
struct TrailLogTests {
  private static let program = builtProgram("trail-log")

  /// Starts the program with its output in a pipe.
  private func run(_ socket: String) -> Running {
    Running(["TORPOR_SOCKET=\(socket)", Self.program], program: "/usr/bin/env")
  }

  @Test("the page shows the source of the built program")
  func listing() throws {
    let page = try #require(Command.read("\(packageRoot)/Docs/HowTo/write-a-program.md"))
    let source = try #require(Command.read("\(packageRoot)/Sources/Tools/trail-log/main.swift"))
    #expect(page.contains("```swift\n\(source)```"))
  }

  @Test("LIV-11: without a service the program ends with 69 and a suggestion, and does not crash")
  func absent() {
    let result = Command.run(
      ["TORPOR_SOCKET=/nowhere/socket", Self.program], program: "/usr/bin/env")
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(
      result.errors.hasPrefix("no service at '/nowhere/socket': check that torpord runs"),
      "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test(
    "LIV-6, AUT-7: undecided access is reported immediately; once allowed, locations are printed")
  func undecided() throws {
    let daemon = try #require(Daemon(access: nil))
    let running = run(daemon.socket)
    #expect(running.line() == "not decided yet: sudo torpor clients allow $USER/trail-log")
    let allowed = daemon.run(["clients", "allow", "\(geteuid())/trail-log"])
    #expect(allowed.status == 0, "\(allowed.errors)")
    var line: String?
    for second in 0..<200 as Range<Int64> where line?.hasPrefix("52.") != true {
      daemon.sendFix(second)
      line = running.line(within: 0.05) ?? line
    }
    #expect(line?.hasPrefix("52.") == true && line?.hasSuffix(" 4.909677") == true)
    running.signal(SIGTERM)
    #expect(running.finish().status == -SIGTERM)
  }
}
