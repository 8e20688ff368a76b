import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the probe programs of the module CoreLocation against the service.
@Suite("Programs with Core Location", .tags(.process, .realTime))
struct CoreLocationProgramTests {
  /// All shapes of a program: how it waits, and where its callbacks come.
  static let shapes: [(program: String, arguments: [String])] = [
    ("CoreLocationProbe", ["run-loop", "update"]),
    ("CoreLocationProbe", ["dispatch-main", "update"]),
    ("CoreLocationProbe", ["thread", "update"]),
    ("CoreLocationProbe", ["task"]),
    ("CoreLocationAsyncProbe", ["live"]),
    ("CoreLocationAsyncProbe", ["delegate"]),
  ]

  /// Starts a program as the client `client`.
  private func start(
    _ program: String, _ arguments: [String], _ socket: String, client: String = "probe",
    variables: [String] = []
  ) -> Running {
    let path = program.contains("/") ? program : builtProgram(program)
    return Running(
      ["TORPOR_SOCKET=\(socket)", "TORPOR_CLIENT=\(client)"] + variables + [path] + arguments,
      program: "/usr/bin/env")
  }

  /// Sends fixes until a line of the program has `prefix`; returns the line.
  private func line(
    _ prefix: String, of running: Running, _ daemon: Daemon, from second: inout Int64
  ) -> String? {
    for _ in 0..<200 {
      daemon.sendFix(second)
      second += 1
      if let line = line(prefix, of: running, within: 0.1) { return line }
    }
    return nil
  }

  /// The next line with a prefix, without new fixes; nil if none is printed in `seconds`.
  private func line(_ prefix: String, of running: Running, within seconds: Double) -> String? {
    var line = running.line(within: seconds)
    while let text = line {
      if text.hasPrefix(prefix) { return text }
      line = running.line(within: 0)
    }
    return nil
  }

  /// Links the probe beside an Info.plist that declares updates in the background; returns its path.
  private func programWithBackgroundMode() throws -> String {
    try program(withInfo: ["UIBackgroundModes": ["location"]])
  }

  /// Links the probe beside an Info.plist; returns its path.
  private func program(withInfo info: [String: Any]) throws -> String {
    let folder = Command.directory()
    try linkProgram("CoreLocationProbe", to: "\(folder)/probe")
    let plist = try PropertyListSerialization.data(
      fromPropertyList: info, format: .xml, options: 0)
    try plist.write(to: URL(fileURLWithPath: "\(folder)/Info.plist"))
    return "\(folder)/probe"
  }

  @Test("LIV-1, STD-3: each shape of a program receives locations, and 0 wakes at rest")
  func shapes() throws {
    let daemon = try #require(Daemon())
    var second: Int64 = 0
    let programs = Self.shapes.enumerated().map { index, shape in
      start(shape.program, shape.arguments, daemon.socket, client: "probe-\(index)")
    }
    for (program, shape) in zip(programs, Self.shapes) {
      let prefix =
        shape.program.contains("Async") || shape.arguments[0] == "task" ? "" : "first loc"
      #expect(line(prefix, of: program, daemon, from: &second) != nil, "\(shape)")
    }
    // What was sent last arrives, and is acknowledged.
    Thread.sleep(forTimeInterval: 1)
    let before = programs.map(\.switches)
    Thread.sleep(forTimeInterval: 3)
    for ((program, shape), count) in zip(zip(programs, Self.shapes), before) {
      #expect(program.switches == count, "\(shape) wakes while nothing happens")
      program.signal(SIGKILL)
    }
  }

  @Test("TORPOR_SWIFT_EXECUTOR=default leaves Swift's executor in place, and locations arrive")
  func defaultExecutor() throws {
    let daemon = try #require(Daemon())
    var second: Int64 = 0
    for (program, arguments) in [
      ("CoreLocationProbe", ["task"]), ("CoreLocationAsyncProbe", ["live"]),
    ] {
      let running = start(
        program, arguments, daemon.socket, variables: ["TORPOR_SWIFT_EXECUTOR=default"])
      #expect(line("live 52", of: running, daemon, from: &second) != nil)
    }
  }

  @Test("a hook of Swift's executor that another library has set stays, and locations arrive")
  func otherExecutor() throws {
    let daemon = try #require(Daemon())
    var second: Int64 = 0
    for isOther in [true, false] {
      let running = start(
        "CoreLocationProbe", ["task"], daemon.socket, variables: isOther ? ["PROBE_EXECUTOR=1"] : []
      )
      if isOther { #expect(line("other executor", of: running, daemon, from: &second) != nil) }
      #expect(line("live 52", of: running, daemon, from: &second) != nil)
      #expect(running.threadNames.contains("swift-pool") == !isOther)
    }
  }

  @Test(
    "DEF-8, DEF-12, X1: a program that defers again at each end gets finish and batch each time")
  func deferral() throws {
    let daemon = try #require(Daemon())
    let program = try programWithBackgroundMode()
    let running = start(
      program, ["run-loop", "background", "update", "defer=100000:1"], daemon.socket)
    var second: Int64 = 0
    #expect(line("first locations 1", of: running, daemon, from: &second) != nil)
    for _ in 0..<3 {
      #expect(line("first finished", of: running, daemon, from: &second) == "first finished -1")
      #expect(running.line(within: 1) == "first defers")
      let batch = running.line(within: 1)?.split(separator: " ")
      #expect(batch?[1] == "locations" && Int(batch?[2] ?? "") ?? 0 > 2, "\(batch ?? [])")
    }
  }

  @Test(
    "DEF-8, RNG-3: calls and finishes alternate while the service is killed; no fix comes twice")
  func killedDeferral() throws {
    let daemon = try #require(Daemon())
    let running = start(
      try programWithBackgroundMode(), ["run-loop", "background", "update", "defer=100000:1"],
      daemon.socket)
    var second: Int64 = 0
    var isDeferred = false
    var newest = 0.0
    var finishes = 0
    for step in 0..<90 {
      if step == 25 || step == 50 {
        daemon.restart(
          policy: "administrators = []\n[[rule]]\nuser = \(geteuid())\naccess = \"always\"\n")
      }
      daemon.sendFix(second)
      second += 1
      var next = running.line(within: 0.1)
      while let line = next {
        let words = line.split(separator: " ")
        switch words[1] {
        case "defers":
          #expect(!isDeferred, "a finish precedes the next call")
          isDeferred = true
        case "finished":
          #expect(isDeferred && words[2] == "-1", "one finish without an error for each call")
          isDeferred = false
          finishes += 1
        case "locations":
          let latitude = Double(words[3]) ?? 0
          #expect(latitude > newest, "fixes come once and in order")
          newest = latitude
        default: break
        }
        next = running.line(within: 0)
      }
    }
    #expect(finishes > 3)
  }

  @Test("RNG-3, LIV-12: programs recover after the service was killed")
  func recovery() throws {
    let daemon = try #require(Daemon())
    let manager = start("CoreLocationProbe", ["run-loop", "update"], daemon.socket, client: "a")
    let loop = start("CoreLocationAsyncProbe", ["live"], daemon.socket, client: "b")
    var second: Int64 = 0
    #expect(line("first locations", of: manager, daemon, from: &second) != nil)
    #expect(line("live 52", of: loop, daemon, from: &second) != nil)
    daemon.restart(
      policy: "administrators = []\n[[rule]]\nuser = \(geteuid())\naccess = \"always\"\n")
    // Before the next fix, which would replace an update that the loop has not read yet.
    let isUnavailable = (0..<200).contains { _ in
      line("live unavailable", of: loop, within: 0.1) != nil
    }
    #expect(isUnavailable)
    #expect(line("first failed 0", of: manager, daemon, from: &second) != nil)
    #expect(line("first locations", of: manager, daemon, from: &second) != nil)
    #expect(line("live 52", of: loop, daemon, from: &second) != nil)
  }

  @Test("REG-12, REG-13, REG-14: a monitor reports the state of a circle and an unsupported beacon")
  func monitor() throws {
    let daemon = try #require(Daemon())
    let running = start("CoreLocationAsyncProbe", ["monitor"], daemon.socket)
    var second: Int64 = 0
    #expect(running.line() == #"conditions ["beacon", "here"]"#)
    #expect(running.line() == "event beacon 3 true 3")
    #expect(line("event here", of: running, daemon, from: &second) == "event here 1 false 0")
  }

  @Test("LIV-2, LIV-9: a loop that is left ends its demand; a fifth loop is refused")
  func loops() throws {
    let daemon = try #require(Daemon())
    var second: Int64 = 0
    let first = start("CoreLocationAsyncProbe", ["first"], daemon.socket)
    #expect(line("left the loop", of: first, daemon, from: &second) != nil)
    func hasRequest() -> Bool { daemon.run(["status"]).output.contains("live updates") }
    for _ in 0..<100 where hasRequest() { usleep(10_000) }
    #expect(!hasRequest(), "the request ends with the loop")
    first.signal(SIGKILL)
    let five = start("CoreLocationAsyncProbe", ["five"], daemon.socket)
    #expect(line("refused", of: five, daemon, from: &second) != nil)
  }

  @Test(
    "LIV-6, AUT-7, BKG-18: the first run without service, permission or key reports how to fix it")
  func firstRun() throws {
    let absent = start("CoreLocationProbe", ["run-loop", "update"], "/nowhere/socket")
    #expect(absent.line() == "first failed 0")
    #expect(absent.reports("no service at '/nowhere/socket': check that torpord runs"))
    let daemon = try #require(Daemon(access: nil))
    let undecided = start("CoreLocationProbe", ["run-loop", "background", "update"], daemon.socket)
    #expect(undecided.line() == "first authorization 0")
    let user = unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) }
    #expect(
      undecided.reports(
        "sudo torpor clients allow --socket \(daemon.socket) \(user ?? "\(geteuid())")/probe`"))
    #expect(undecided.reports("needs the key UIBackgroundModes with the value `location`"))
    let denied = daemon.run(["clients", "deny", "\(geteuid())/probe"])
    #expect(denied.status == 0, "\(denied.errors)")
    #expect(undecided.line() == "first authorization 2")
    #expect(undecided.line() == "first failed 1")
    #expect(undecided.reports("'probe' of this user may not use location"))
  }

  @Test("BKG-15: a program with the explicit key and without a session gets a message")
  func explicitSession() throws {
    let daemon = try #require(Daemon())
    let program = try program(withInfo: ["NSLocationRequireExplicitServiceSession": true])
    let message =
      "CoreLocation: Info.plist requires explicit service sessions (NSLocationRequireExplicitServiceSession): create "
      + "a CLServiceSession and keep it\n"
    #expect(start(program, ["task"], daemon.socket).reports(message))
    let updates = start(program, ["run-loop", "update"], daemon.socket, client: "updates")
    var second: Int64 = 0
    #expect(line("first locations", of: updates, daemon, from: &second) != nil)
    #expect(!updates.errors.contains("NSLocationRequireExplicitServiceSession"))
  }
}

extension Running {
  /// Names of the threads of the process.
  fileprivate var threadNames: Set<String> {
    let tasks =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
    return Set(
      tasks.compactMap { Command.read("/proc/\(identifier)/task/\($0)/comm")?.dropLast() }
        .map(String.init))
  }

  /// Context switches of all threads of the process so far.
  var switches: Int {
    let tasks =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
    return tasks.reduce(0) { sum, task in
      let status = Command.read("/proc/\(identifier)/task/\(task)/status") ?? ""
      return sum
        + status.split(separator: "\n").filter { $0.contains("ctxt_switches") }
        .compactMap { Int($0.split(separator: "\t").last ?? "") }.reduce(0, +)
    }
  }
}
