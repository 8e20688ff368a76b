import Foundation
import GNSSProtocols
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import Synchronization
import TestSupport
import Testing
import TorporLocation

/// The built service on a pseudo-terminal, where a test speaks for the receiver.
final class Daemon {
  let folder = Command.directory()
  private let terminal: Int32
  private var process: pid_t = 0
  private var arguments: [String] = []
  /// Whether the first connection that it took was served.
  private(set) var answersFirst = false

  /// The service.
  private static let program = builtProgram("torpord")

  /// Allows every program of this user everything, whatever this machine's own file says.
  ///
  /// - Parameter access: What they may; nil where that is not decided.
  private static func writePolicy(to path: String, access: String? = "always") {
    var text = "administrators = [\(geteuid())]\n"
    if let access { text += "[[rule]]\nuser = \(geteuid())\naccess = \"\(access)\"\n" }
    Command.write(Array(text.utf8), to: path)
  }

  /// Starts it; nil where no pseudo-terminal can be had for its receiver.
  ///
  /// - Parameters:
  ///   - profile: Its board; one without a receiver is started without a line.
  ///   - access: What programs of this user may; nil where that is not decided.
  ///   - prepare: Puts something into its folder before.
  init?(
    profile: String = Daemon.boards, hasReceiver: Bool = true, access: String? = "always",
    prepare: (_ folder: String) -> Void = { _ in }
  ) {
    prepare(folder)
    let (master, slave, line) = SerialTests.terminal()
    terminal = master
    guard master >= 0 else { return nil }
    close(slave)
    Daemon.writePolicy(to: policy, access: access)
    arguments = [
      "--board", profile, "--socket", "\(folder)/socket", "--state", folder, "--clients", policy,
    ]
    if hasReceiver { arguments += ["--line", line] }
    start()
  }

  private func start() {
    let errors = "\(folder)/log"
    process = Command.starting.withLock { _ in
      var actions = unsafe posix_spawn_file_actions_t()
      unsafe posix_spawn_file_actions_init(&actions)
      unsafe posix_spawn_file_actions_addopen(
        &actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o644)
      defer { unsafe posix_spawn_file_actions_destroy(&actions) }
      return unsafe Command.spawn(Daemon.program, arguments, &actions)
    }
    answersFirst = false
    // The file is there before anybody listens at it.
    for _ in 0..<50_000 where !answersFirst {
      if var connection = try? LocationConnection(path: socket) {
        answersFirst = (try? connection.call(.getStatus)) != nil
        break
      }
      usleep(100)
    }
  }

  deinit {
    stop(by: SIGTERM)
    if terminal >= 0 { close(terminal) }
  }

  private func stop(by signal: Int32) {
    guard process > 0 else { return }
    kill(process, signal)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
    process = 0
  }

  private var policy: String { "\(folder)/clients.toml" }

  /// All that it has written into its log.
  var log: String { Command.read("\(folder)/log") ?? "" }

  /// Kills it, and starts it again with another policy.
  func restart(policy text: String) {
    stop(by: SIGKILL)
    Command.write(Array(text.utf8), to: policy)
    start()
  }

  /// Has it read another policy while it runs; gives what it writes into its log for that.
  func reload(policy text: String) -> String {
    let before = log.count
    Command.write(Array(text.utf8), to: policy)
    kill(process, SIGHUP)
    // The profile is read last.
    for _ in 0..<1_000 where !log.dropFirst(before).contains("the profile") { usleep(10_000) }
    return String(log.dropFirst(before))
  }

  /// Runs it without a folder of boards.
  static func runWithoutBoards(_ arguments: [String]) -> Command.Result {
    let policy = "\(Command.directory())/clients.toml"
    writePolicy(to: policy)
    return Command.run(
      ["TORPOR_BOARDS=/nowhere", program, "--clients", policy] + arguments, program: "/usr/bin/env")
  }

  var socket: String { "\(folder)/socket" }

  /// A board whose receiver only talks.
  static var boards: String {
    "\(packageRoot)/Tests/Boards/streaming/profile.toml"
  }

  /// The receiver tells of a fix, so many seconds after the first.
  func say(_ second: Int64) {
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(
        latitude_e9: 52_371_972_000 + 100_000 * second, longitude_e9: 4_909_677_000))
    fix.utc = UTCTime(microseconds: 1_893_456_000_000_000 + 1_000_000 * second)
    fix.satellites = 9
    var frame = FrameBuffer()
    frame.append(GGA(fix))
    frame.append(RMC(fix))
    var bytes: [UInt8] = []
    for i in 0..<frame.count { bytes.append(frame.span[i]) }
    Running.write(String(decoding: bytes, as: UTF8.self), to: terminal)
  }

  /// How many fixes its ring has had.
  func fixes() throws -> UInt64 {
    var connection = try LocationConnection(path: socket)
    guard case .status(let status) = try connection.call(.getStatus) else { return 0 }
    return status.nextSequence ?? 0
  }

  /// Runs the command against it.
  func ask(_ arguments: [String]) -> Command.Result {
    Command.run(arguments + ["--socket", socket])
  }
}

@Suite("The command and the service", .tags(.process))
struct DaemonTests {
  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("a profile that is named by its path needs no folder of boards")
  func boardByPath() {
    let result = Daemon.runWithoutBoards(
      ["--board", Daemon.boards, "--line", "/dev/null/no-line", "--state", "/nowhere"])
    #expect(result.status == 69 && result.errors.contains("no-line"), "\(result.errors)")
    let named = Daemon.runWithoutBoards(["--board", "simulated"])
    #expect(named.status == 78 && named.errors.contains("TORPOR_BOARDS"), "\(named.errors)")
  }

  @Test("DEF-1, DEF-7, STD-10: a board without a receiver is served; a deferral ends with 11")
  func noReceiver() throws {
    let text = try #require(Command.read(Daemon.boards))
    let begin = try #require(text.range(of: "[receiver]\n")).lowerBound
    let end = try #require(text.range(of: "[cache]\n")).lowerBound
    let profile = "\(Command.directory())/profile.toml"
    Command.write(Array((text[..<begin] + text[end...]).utf8), to: profile)
    #expect(Command.run(["board", "check", profile]).status == 0)
    let daemon = try #require(Daemon(profile: profile, hasReceiver: false))
    #expect(daemon.answersFirst)
    let status = daemon.ask(["status"])
    #expect(status.output.contains("none: this board has no receiver"), "\(status.output)")
    var program = try ClientSession(name: "trail-log", path: daemon.socket)
    #expect(!program.session.isDeferralAvailable)
    try program.subscribe()
    _ = try program.call(.startUpdating)
    var notices: [WireNotice] = []
    while let notice = try program.nextNotice(within: .milliseconds(500)) { notices.append(notice) }
    #expect(notices.contains { if case .failure(.locationUnknown) = $0 { true } else { false } })
    _ = try program.call(.allowDeferred(distance: .infinity, timeout: 60))
    var code: LocationErrorCode?
    while code == nil, let notice = try program.nextNotice(within: .seconds(5)) {
      if case .finished(let error) = notice { code = error }
    }
    #expect(code == .deferredFailed)
    // A line of a receiver that is not there is a mistake, and is told so.
    let result = Daemon.runWithoutBoards(
      ["--board", profile, "--line", "/dev/ttyS7", "--state", "/nowhere"])
    #expect(result.status == 78 && result.errors.contains("has no receiver, so --line /dev/ttyS7"))
  }

  @Test("TORPOR_SOCKET says where the service is, to commands as to programs; --socket wins")
  func socketVariable() throws {
    let daemon = try #require(Daemon())
    func status(_ more: [String]) -> Command.Result {
      Command.run(
        ["TORPOR_SOCKET=\(daemon.socket)", Command.path, "status"] + more, program: "/usr/bin/env")
    }
    #expect(status([]).output.contains("torpord 0.1.0 on streaming"))
    #expect(status(["--socket", "/nowhere/socket"]).status == 69)
  }

  @Test("what is no serial line and what is no folder is told so, and what --no-pins leaves alone")
  func falseReasons() {
    for place in ["/dev/null", "/", Daemon.boards] {
      let result = Daemon.runWithoutBoards(
        ["--board", Daemon.boards, "--line", place, "--state", "/nowhere"])
      #expect(result.status == 69)
      #expect(result.errors.contains("'\(place)' is not a serial line: name the device"))
    }
    let (master, slave, line) = SerialTests.terminal()
    defer { for end in [master, slave] { close(end) } }
    let boards = Daemon.boards.dropLast("Tests/Boards/streaming/profile.toml".count)
    let inFile = Daemon.runWithoutBoards([
      "--board", "\(boards)Boards/zero2w-max-m10s/profile.toml", "--no-pins", "--line", line,
      "--state",
      Daemon.boards,
    ])
    #expect(inFile.status == 69)
    #expect(inFile.errors.contains("its parent is a file, not a folder"))
    #expect(
      inFile.errors.contains(
        "--no-pins: these lines are not used: wake_line GPIO17, "
          + "batch line GPIO27"))
  }

  @Test("status, energy, flush and clients of a service that runs")
  func asked() throws {
    let daemon = try #require(Daemon())
    let told = daemon.ask(["status"])
    #expect(told.status == 0 && told.errors.isEmpty)
    #expect(told.output.contains("torpord 0.1.0 on streaming"))
    #expect(told.output.contains("receiver  searching for a fix, for "))
    let status = try object(daemon.ask(["status", "--json"]).output)["status"] as? [String: Any]
    #expect((status?["receiver"] as? [String: Any])?["state"] as? String == "acquiring")
    let energy = daemon.ask(["energy"])
    #expect(energy.output.contains("estimated with the powers in the board's profile"))
    #expect(energy.output.contains("acquiring") && energy.output.contains("total"))
    #expect(try object(daemon.ask(["energy", "--json"]).output)["energy"] != nil)
    #expect(daemon.ask(["flush"]).status == 0)
    #expect(daemon.ask(["clients", "list"]).output == "no client has connected yet\n")
    let nobody = daemon.ask(["clients", "deny", "0/nobody"])
    #expect(
      nobody.status == 69
        && nobody.errors.contains(
          "`torpor clients list` shows all "
            + "clients")
    )
  }

  @Test(
    "RNG-7: a ring in which nothing can be read, or that was cut short, is put aside, and it serves",
    arguments: [525_312, 100])
  func damagedRing(bytes: Int) throws {
    let daemon = try #require(
      Daemon { folder in
        let noise = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        Command.write(noise, to: "\(folder)/ring")
      })
    #expect(daemon.answersFirst, "who connects while the ring is put aside waits")
    #expect(daemon.ask(["status"]).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.folder)
    #expect(names.contains("ring"))
    #expect(names.contains { $0.hasPrefix("ring.damaged-") })
    let log = try String(contentsOfFile: "\(daemon.folder)/log", encoding: .utf8)
    #expect(log.contains("was damaged beyond use and is now '\(daemon.folder)/ring.damaged-"))
  }

  @Test("visits are asked for while it runs, and no longer")
  func visits() throws {
    let daemon = try #require(Daemon())
    let running = Running(["visits", "--socket", daemon.socket])
    #expect(running.told("waiting for visits"))
    var uses = ""
    for _ in 0..<1_000 where !uses.contains("visits") { uses = daemon.ask(["status"]).output }
    #expect(uses.contains("torpor") && uses.contains("visits"))
    running.signal(SIGINT)
    #expect(running.finish().status == -SIGINT)
    #expect(daemon.ask(["status"]).output.contains("no active requests"))
    let clients = daemon.ask(["clients", "list"]).output
    #expect(clients.contains("torpor") && clients.contains("none"))
  }

  @Test("RNG-3: export writes what a client is owed, and it stays owed")
  func export() throws {
    let daemon = try #require(Daemon())
    var program = try ClientSession(name: "trail-log", path: daemon.socket)
    // Who hears nothing wants nothing of the receiver.
    try program.subscribe()
    _ = try program.call(.startUpdating)
    for second in 0..<3 as Range<Int64> {
      daemon.say(second)
      for _ in 0..<5_000 where try daemon.fixes() <= second { usleep(1_000) }
    }
    for _ in 0..<2 {
      let told = daemon.ask(["export", "--client", "trail-log", "--format", "csv"])
      #expect(told.status == 0 && told.errors == "torpor: 3 fixes\n", "\(told.errors)")
      let lines = told.output.split(separator: "\r\n")
      #expect(lines.count == 4 && lines.last?.hasPrefix("1893456002,52.372172,4.909677,") == true)
    }
    let file = "\(daemon.folder)/track.gpx"
    #expect(daemon.ask(["export", "--client", "trail-log", "-q", "-o", file]).errors.isEmpty)
    #expect(Command.read(file)?.contains("<trkpt lat=\"52.371972000\"") == true)
    #expect(try program.nextNotice(within: .zero) != nil, "it is told them none the less")
    _ = try ClientSession(name: "other", path: daemon.socket)
    let nothing = daemon.ask(["export", "--json", "--client", "other"])
    #expect(nothing.status == 0 && nothing.output.isEmpty)
    #expect(nothing.errors.contains("'other' has no undelivered fixes"))
    let nobody = daemon.ask(["export", "--client", "trial-log"])
    #expect(nobody.status == 69 && nobody.errors.contains("no client 'trial-log'"))
  }

  @Test("monitor prints lines for programs, and no screen where there is no terminal")
  func monitor() throws {
    let daemon = try #require(Daemon())
    let running = Running(["monitor", "--json", "--socket", daemon.socket])
    #expect(running.line()?.hasPrefix("{\"status\":{") == true)
    running.signal(SIGTERM)
    #expect(running.finish().status == -SIGTERM)
    let screen = daemon.ask(["monitor"])
    #expect(screen.status == 64 && screen.errors.contains("use `torpor status`"))
  }

  /// What is blocked for here runs on threads of its own: tests have but as many as there are processors.
  @Test("LIV-1, LIV-2, REG-11: a program's loops, with the service itself")
  func program() throws {
    let daemon = try #require(Daemon())
    let center = LocationCenter(name: "program", socket: daemon.socket)
    let found = Mutex<TorporLocation.Fix?>(nil)
    let loop = Thread {
      let location = try? QuietProgram.run { () -> TorporLocation.Fix? in
        for try await update in LocationUpdate.liveUpdates(.fitness, of: center) {
          if let location = update.location { return location }
        }
        return nil
      }
      found.withLock { $0 = location ?? nil }
    }
    loop.start()
    func isAsked() -> Bool { daemon.ask(["status"]).output.contains("live updates") }
    for _ in 0..<300 where !isAsked() { usleep(10_000) }
    for second in 0..<30 as Range<Int64> {
      daemon.say(second)
      usleep(50_000)
    }
    for _ in 0..<1_000 where !loop.isFinished { usleep(10_000) }
    let location = try #require(found.withLock { $0 })
    #expect(abs(location.coordinate.longitude - 4.909677) < 1e-6)
    for _ in 0..<100 where isAsked() { usleep(10_000) }
    #expect(!isAsked(), "the demand has ended with the loop")
    let next = LocationCenter(name: "program", socket: daemon.socket)
    try QuietProgram.run {
      let monitor = try await LocationMonitor("doors", of: center)
      let home = LocationMonitor.CircularCondition(center: location.coordinate, radius: 150)
      try await monitor.add(home, identifier: "home")
      let again = try await LocationMonitor("doors", of: next)
      #expect(try await again.identifiers == ["home"], "the next process finds it")
      let record = try #require(try await again.record(for: "home"))
      #expect(record.condition == home && record.lastEvent == nil)
      await #expect(throws: ClientError.takenOver) { try await monitor.identifiers }
    }
  }

  @Test("a monitor whose place another one takes says so and ends: they do not fight for it")
  func monitors() throws {
    let daemon = try #require(Daemon())
    let first = Running(["monitor", "--json", "--location", "--socket", daemon.socket])
    #expect(first.line()?.hasPrefix("{\"status\":{") == true)
    let second = Running(["monitor", "--json", "--location", "--socket", daemon.socket])
    #expect(second.line()?.hasPrefix("{\"status\":{") == true)
    while let line = first.line(), !line.isEmpty {}
    let end = first.finish()
    #expect(end.status == 69 && first.errors.contains("another torpor command uses location now"))
    #expect(second.line()?.hasPrefix("{\"status\":{") == true, "it goes on")
    second.signal(SIGTERM)
    #expect(second.finish().status == -SIGTERM)
  }

  @Test(
    "without a service each of them says so, and ends with 69",
    arguments: [
      ["status"], ["energy"], ["flush"], ["clients", "list"], ["visits"],
      ["export", "--client", "a"],
      ["monitor", "--json"], ["clients", "allow", "0/x"],
    ])
  func absent(_ arguments: [String]) {
    let result = Command.run(arguments + ["--socket", "/tmp/torpor-no-such-socket"])
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(result.errors.contains("check that torpord runs and listens there"))
  }

  @Test(
    "a client is a user and a name",
    arguments: ["trail-log", "/x", "0/", "no such user/x", "0/a\u{7}"])
  func names(_ name: String) {
    #expect(Command.run(["clients", "deny", name]).status == 64)
  }
}
