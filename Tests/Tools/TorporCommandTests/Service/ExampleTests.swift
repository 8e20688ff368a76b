import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the built programs that `Docs/HowTo/write-a-program.md` shows.
@Suite("The documented programs", .tags(.process))
struct ExampleTests {
  /// Each program with its source file.
  static let sources = [
    "trail-log": "main.swift", "ride-log": "main.swift", "town-log": "main.swift",
    "visit-log": "main.swift", "gate-log": "GateLog.swift",
  ]

  /// Starts a program with its output in a pipe, one line at a time.
  private func run(_ name: String, _ arguments: [String] = [], socket: String) -> Running {
    let words = ["TORPOR_SOCKET=\(socket)", "stdbuf", "-oL", builtProgram(name)]
    return Running(words + arguments, program: "/usr/bin/env")
  }

  /// Sends fixes until the program prints a line for which `isExpected` is true; nil after 200 fixes.
  private func firstLine(
    of running: Running, from daemon: Daemon, where isExpected: (String) -> Bool
  ) -> String? {
    for second in 0..<200 as Range<Int64> {
      daemon.sendFix(second)
      while let line = running.line(within: 0.05) { if isExpected(line) { return line } }
    }
    return nil
  }

  @Test("the page shows the sources of the built programs", arguments: sources.keys.sorted())
  func listing(_ name: String) throws {
    let page = try #require(Command.read("\(packageRoot)/Docs/HowTo/write-a-program.md"))
    let file = try #require(Self.sources[name])
    let source = try #require(Command.read("\(packageRoot)/Sources/Examples/\(name)/\(file)"))
    #expect(page.contains("```swift\n\(source)```"))
  }

  @Test("LIV-11: without a service a program names the socket once, and continues")
  func absent() {
    let running = run("trail-log", socket: "/nowhere/socket")
    #expect(running.reports("CoreLocation: no service at '/nowhere/socket'"))
    usleep(300_000)
    #expect(running.errors.split(separator: "\n").count == 1, "\(running.errors)")
    running.signal(SIGTERM)
    #expect(running.finish().status == -SIGTERM)
  }

  @Test("LIV-6, AUT-7: undecided access is reported; once allowed, locations are printed")
  func undecided() throws {
    let daemon = try #require(Daemon(access: nil))
    let running = run("trail-log", socket: daemon.socket)
    #expect(running.line() == "waiting for permission")
    #expect(running.reports("clients allow "))
    let allowed = daemon.run(["clients", "allow", "\(geteuid())/trail-log"])
    #expect(allowed.status == 0, "\(allowed.errors)")
    let line = firstLine(of: running, from: daemon) { $0.hasPrefix("52.") }
    #expect(line?.hasSuffix(" 4.909677") == true, "\(running.errors)")
  }

  @Test("AUT-3, AUT-10: a denied program receives the error, and prints a suggestion")
  func denied() throws {
    let daemon = try #require(Daemon(access: "deny"))
    for name in ["ride-log", "town-log"] {
      let running = run(name, socket: daemon.socket)
      #expect(running.line() == "denied", "\(name): \(running.errors)")
      #expect(running.reports("may not use location"), "\(name)")
    }
  }

  /// The folder of a program with the Info.plist of the page beside it.
  private func installed(_ name: String) throws -> String {
    let page = try #require(Command.read("\(packageRoot)/Docs/HowTo/write-a-program.md"))
    let parts = page.split(separator: "  ```xml\n")
    let list = try #require(parts.count == 2 ? parts[1].firstRange(of: "  ```") : nil)
    let folder = Command.directory()
    Command.write(Array(parts[1][..<list.lowerBound].utf8), to: "\(folder)/Info.plist")
    try linkProgram(name, to: "\(folder)/\(name)")
    return folder
  }

  @Test("DEF-8, DEF-9, X1: deferred updates are re-armed in the finish; a batch follows each one")
  func deferred() throws {
    let daemon = try #require(Daemon())
    let program = "\(try installed("ride-log"))/ride-log"
    let running = Running(
      ["TORPOR_SOCKET=\(daemon.socket)", "stdbuf", "-oL", program, "0.02"], program: "/usr/bin/env")
    var batches: [Int] = []
    for second in 0..<900 as Range<Int64> where batches.filter({ $0 > 10 }).count < 4 {
      daemon.sendFix(second)
      while let line = running.line(within: 0.02) {
        #expect(!line.hasPrefix("not deferred"), "\(line)")
        if line.hasPrefix("batch of ") { batches.append(Int(line.split(separator: " ")[2]) ?? 0) }
      }
    }
    // The first fix comes before the first deferral, and one may come between a finish and the next call.
    #expect(batches.first == 1 && batches.filter { $0 > 10 }.count == 4, "\(batches)")
    let status = daemon.run(["status"]).output
    #expect(status.contains("deferred") && status.contains("background"), "\(status)")
  }

  @Test("BKG-18: without the key in Info.plist a program is not in the background, and reports it")
  func missingKey() throws {
    let daemon = try #require(Daemon())
    let running = run("ride-log", socket: daemon.socket)
    #expect(running.reports("needs the key UIBackgroundModes"))
    #expect(firstLine(of: running, from: daemon) { $0 == "batch of 1" } != nil)
    #expect(!daemon.run(["status"]).output.contains("background"))
  }

  @Test("SLC-5, SLC-9: the first location of the significant-change service is reported")
  func significant() throws {
    let daemon = try #require(Daemon())
    let running = run("town-log", socket: daemon.socket)
    let line = firstLine(of: running, from: daemon) { $0.contains(" 52.") }
    #expect(line != nil, "\(running.errors)")
  }

  @Test("VIS-2: visits are monitored as soon as permission is given")
  func visits() throws {
    let daemon = try #require(Daemon(access: nil))
    let running = run("visit-log", socket: daemon.socket)
    #expect(running.line() == "waiting for permission")
    #expect(daemon.run(["clients", "allow", "\(geteuid())/visit-log"]).status == 0)
    var line = running.line()
    while line == "waiting for permission" { line = running.line() }
    #expect(line == "monitoring visits", "\(running.errors)")
    var uses = ""
    for _ in 0..<500 where !uses.contains("visits") { uses = daemon.run(["status"]).output }
    #expect(uses.contains("visits"))
  }

  @Test("BKG-17, REG-11: a service session reports missing permission, a monitor an entry")
  func gate() throws {
    let daemon = try #require(Daemon(access: nil))
    let running = run("gate-log", socket: daemon.socket)
    #expect(running.line() == "waiting for permission", "\(running.errors)")
    #expect(daemon.run(["clients", "allow", "\(geteuid())/gate-log"]).status == 0)
    let line = firstLine(of: running, from: daemon) { $0.hasPrefix("gate ") }
    #expect(line?.hasPrefix("gate entered") == true, "\(running.errors)")
  }
}
