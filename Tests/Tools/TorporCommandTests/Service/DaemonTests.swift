import Foundation
import GNSSProtocols
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import TestSupport
import Testing

/// The built service with a pseudo-terminal on which the test acts as the receiver.
final class Daemon {
  let folder = Command.directory()
  private let terminal: Int32
  private var process: pid_t = 0
  private var arguments: [String] = []
  /// Whether the first connection that it accepted got a reply.
  private(set) var answersFirstCall = false

  /// The path of torpord.
  private static let program = builtProgram("torpord")

  /// Writes a policy that replaces the machine's own and grants this user `access`.
  ///
  /// - Parameter access: The access of this user's programs; nil for undecided.
  private static func writePolicy(to path: String, access: String? = "always") {
    var text = "administrators = [\(geteuid())]\n"
    if let access { text += "[[rule]]\nuser = \(geteuid())\naccess = \"\(access)\"\n" }
    Command.write(Array(text.utf8), to: path)
  }

  /// Starts the service; nil if no pseudo-terminal is available for its receiver.
  ///
  /// - Parameters:
  ///   - profile: Path of the board's profile.
  ///   - hasReceiver: Whether the board has a receiver; if not, no line is given.
  ///   - access: The access of this user's programs; nil for undecided.
  ///   - options: Further options of the service.
  ///   - prepare: Prepares the state folder before the start.
  init?(
    profile: String = Daemon.streamingProfile, hasReceiver: Bool = true,
    access: String? = "always", options: [String] = [],
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
    arguments += options
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
    answersFirstCall = false
    // The socket file can exist before the service listens on it.
    for _ in 0..<50_000 where !answersFirstCall {
      if var connection = try? LocationConnection(path: socket) {
        answersFirstCall = (try? connection.call(.getStatus)) != nil
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
    _ = Glibc.kill(process, signal)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
    process = 0
  }

  private var policy: String { "\(folder)/clients.toml" }

  /// The log written so far.
  var log: String { Command.read("\(folder)/log") ?? "" }

  /// Kills the service and restarts it with another policy.
  func restart(policy text: String) {
    stop(by: SIGKILL)
    Command.write(Array(text.utf8), to: policy)
    start()
  }

  /// Stops the service with SIGSTOP, and continues it after this time.
  func pause(seconds: UInt32) {
    _ = Glibc.kill(process, SIGSTOP)
    sleep(seconds)
    _ = Glibc.kill(process, SIGCONT)
  }

  /// Kills the service and starts it again.
  func kill() {
    stop(by: SIGKILL)
    start()
  }

  /// Makes the running service reload a policy; returns the new lines of its log.
  func reload(policy text: String) -> String {
    let before = log.count
    Command.write(Array(text.utf8), to: policy)
    _ = Glibc.kill(process, SIGHUP)
    // The profile is read last.
    for _ in 0..<1_000 where !log.dropFirst(before).contains("the profile") { usleep(10_000) }
    return String(log.dropFirst(before))
  }

  /// Runs the service without a folder of boards.
  static func runWithoutBoards(_ arguments: [String]) -> Command.Result {
    let policy = "\(Command.directory())/clients.toml"
    writePolicy(to: policy)
    return Command.run(
      ["TORPOR_BOARDS=/nowhere", program, "--clients", policy] + arguments, program: "/usr/bin/env")
  }

  var socket: String { "\(folder)/socket" }

  /// The profile of a board whose receiver only streams.
  static var streamingProfile: String {
    "\(packageRoot)/Tests/Boards/streaming/profile.toml"
  }

  /// Sends a fix from the receiver, `second` seconds after the first one.
  func sendFix(_ second: Int64) {
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

  /// The number of fixes stored in the ring since it was created.
  func fixes() throws -> UInt64 {
    var connection = try LocationConnection(path: socket)
    guard case .status(let status) = try connection.call(.getStatus) else { return 0 }
    return status.nextSequence ?? 0
  }

  /// Runs the command with this service's socket.
  func run(_ arguments: [String]) -> Command.Result {
    Command.run(arguments + ["--socket", socket])
  }
}

@Suite("The command and the service", .tags(.process))
struct DaemonTests {
  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("a profile given by its path needs no folder of boards")
  func boardByPath() {
    let result = Daemon.runWithoutBoards(
      ["--board", Daemon.streamingProfile, "--line", "/dev/null/no-line", "--state", "/nowhere"])
    #expect(result.status == 69 && result.errors.contains("no-line"), "\(result.errors)")
    let named = Daemon.runWithoutBoards(["--board", "simulated"])
    #expect(named.status == 78 && named.errors.contains("TORPOR_BOARDS"), "\(named.errors)")
  }

  @Test("DEF-1, DEF-7, STD-10: a board without a receiver is supported; a deferral ends with 11")
  func noReceiver() throws {
    let text = try #require(Command.read(Daemon.streamingProfile))
    let begin = try #require(text.range(of: "[receiver]\n")).lowerBound
    let end = try #require(text.range(of: "[cache]\n")).lowerBound
    let profile = "\(Command.directory())/profile.toml"
    Command.write(Array((text[..<begin] + text[end...]).utf8), to: profile)
    #expect(Command.run(["board", "check", profile]).status == 0)
    let daemon = try #require(Daemon(profile: profile, hasReceiver: false))
    #expect(daemon.answersFirstCall)
    let status = daemon.run(["status"])
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
    // --line for a board without a receiver is an error.
    let result = Daemon.runWithoutBoards(
      ["--board", profile, "--line", "/dev/ttyS7", "--state", "/nowhere"])
    #expect(result.status == 78 && result.errors.contains("has no receiver, so --line /dev/ttyS7"))
  }

  @Test("TORPOR_SOCKET sets the socket for commands and programs; --socket takes precedence")
  func socketVariable() throws {
    let daemon = try #require(Daemon())
    func status(_ more: [String]) -> Command.Result {
      Command.run(
        ["TORPOR_SOCKET=\(daemon.socket)", Command.path, "status"] + more, program: "/usr/bin/env")
    }
    #expect(status([]).output.contains("torpord 0.1.0 on streaming"))
    #expect(status(["--socket", "/nowhere/socket"]).status == 69)
  }

  @Test("a wrong --line and a wrong --state are reported, and the lines that --no-pins excludes")
  func wrongPaths() {
    for path in ["/dev/null", "/", Daemon.streamingProfile] {
      let result = Daemon.runWithoutBoards(
        ["--board", Daemon.streamingProfile, "--line", path, "--state", "/nowhere"])
      #expect(result.status == 69)
      #expect(result.errors.contains("'\(path)' is not a serial line: name the device"))
    }
    let (master, slave, line) = SerialTests.terminal()
    defer { for end in [master, slave] { close(end) } }
    let boards = Daemon.streamingProfile.dropLast("Tests/Boards/streaming/profile.toml".count)
    let inFile = Daemon.runWithoutBoards([
      "--board", "\(boards)Boards/zero2w-max-m10s/profile.toml", "--no-pins", "--line", line,
      "--state",
      Daemon.streamingProfile,
    ])
    #expect(inFile.status == 69)
    #expect(inFile.errors.contains("its parent is a file, not a folder"))
    #expect(
      inFile.errors.contains(
        "--no-pins: these lines are not used: wake_line GPIO17, batch line GPIO27"))
  }

  @Test("status, energy, flush and clients work with a running service")
  func statusCommands() throws {
    let daemon = try #require(Daemon())
    let result = daemon.run(["status"])
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.output.contains("torpord 0.1.0 on streaming"))
    #expect(result.output.contains("receiver  searching for a fix, for "))
    let status = try object(daemon.run(["status", "--json"]).output)["status"] as? [String: Any]
    #expect((status?["receiver"] as? [String: Any])?["state"] as? String == "acquiring")
    let energy = daemon.run(["energy"])
    #expect(energy.output.contains("estimated with the powers in the board's profile"))
    #expect(energy.output.contains("acquiring") && energy.output.contains("total"))
    #expect(try object(daemon.run(["energy", "--json"]).output)["energy"] != nil)
    #expect(daemon.run(["flush"]).status == 0)
    #expect(daemon.run(["clients", "list"]).output == "no client has connected yet\n")
    let unknownClient = daemon.run(["clients", "deny", "0/nobody"])
    #expect(
      unknownClient.status == 69
        && unknownClient.errors.contains(
          "`torpor clients list` shows all clients")
    )
  }

  @Test("torpor metrics prints the text that --metrics writes to a file")
  func metrics() throws {
    let folder = TestFolder()
    let daemon = try #require(Daemon(options: ["--metrics", folder.path]))
    let printed = PrometheusSamples(daemon.run(["metrics"]).output)
    let written = PrometheusSamples(String(decoding: folder.read("torpor.prom"), as: UTF8.self))
    #expect(printed.problems == [] && written.problems == [])
    #expect(printed.kinds == written.kinds && !printed.kinds.isEmpty)
    #expect(Set(printed.values.keys) == Set(written.values.keys))
    #expect(printed["torpor_info{version=\"0.1.0\",board=\"streaming\"}"] == 1)
  }

  private static let promtool = "/usr/bin/promtool"

  @Test(
    "promtool accepts the metrics",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: promtool),
      "promtool is not installed; make test-deb runs it"))
  func metricsFormat() throws {
    let daemon = try #require(Daemon())
    let metrics = daemon.run(["metrics"]).output
    let check = Command.run(
      ["check", "metrics"], input: Array(metrics.utf8), program: Self.promtool)
    #expect(check.status == 0 && check.errors.isEmpty, "\(check.output)\(check.errors)")
  }

  @Test("of several --clock options the last one counts, and status shows whether it is fed")
  func clock() throws {
    let fed = try #require(Daemon(options: ["--clock", "none", "--clock=/run/no-such.sock"]))
    #expect(fed.run(["status"]).output.contains("\nclock     not fed; no fix yet: no client"))
    let unfed = try #require(Daemon(options: ["--clock", "/run/no-such.sock", "--clock", "none"]))
    #expect(!unfed.run(["status"]).output.contains("\nclock "))
  }

  @Test(
    "RNG-7: an unreadable or truncated ring is renamed, and the service starts",
    arguments: [525_312, 100])
  func damagedRing(bytes: Int) throws {
    let daemon = try #require(
      Daemon { folder in
        let noise = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        Command.write(noise, to: "\(folder)/ring")
      })
    #expect(daemon.answersFirstCall, "a client that connects while the ring is renamed waits")
    #expect(daemon.run(["status"]).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.folder)
    #expect(names.contains("ring"))
    #expect(names.contains { $0.hasPrefix("ring.damaged-") })
    let log = try String(contentsOfFile: "\(daemon.folder)/log", encoding: .utf8)
    #expect(log.contains("was damaged beyond use and is now '\(daemon.folder)/ring.damaged-"))
  }

  @Test("torpor visits requests visits only while it runs")
  func visits() throws {
    let daemon = try #require(Daemon())
    let running = Running(["visits", "--socket", daemon.socket])
    #expect(running.reports("waiting for visits"))
    var uses = ""
    for _ in 0..<1_000 where !uses.contains("visits") { uses = daemon.run(["status"]).output }
    #expect(uses.contains("torpor") && uses.contains("visits"))
    running.signal(SIGINT)
    #expect(running.finish().status == -SIGINT)
    #expect(daemon.run(["status"]).output.contains("no active requests"))
    let clients = daemon.run(["clients", "list"]).output
    #expect(clients.contains("torpor") && clients.contains("none"))
  }

  @Test("RNG-3: export writes a client's undelivered fixes, and they stay undelivered")
  func export() throws {
    let daemon = try #require(Daemon())
    var program = try ClientSession(name: "trail-log", path: daemon.socket)
    // The receiver runs only for a subscribed client.
    try program.subscribe()
    _ = try program.call(.startUpdating)
    for second in 0..<3 as Range<Int64> {
      daemon.sendFix(second)
      for _ in 0..<5_000 where try daemon.fixes() <= second { usleep(1_000) }
    }
    for _ in 0..<2 {
      let result = daemon.run(["export", "--client", "trail-log", "--format", "csv"])
      #expect(result.status == 0 && result.errors == "torpor: 3 fixes\n", "\(result.errors)")
      let lines = result.output.split(separator: "\r\n")
      #expect(lines.count == 4 && lines.last?.hasPrefix("1893456002,52.372172,4.909677,") == true)
    }
    let file = "\(daemon.folder)/track.gpx"
    #expect(daemon.run(["export", "--client", "trail-log", "-q", "-o", file]).errors.isEmpty)
    #expect(Command.read(file)?.contains("<trkpt lat=\"52.371972000\"") == true)
    #expect(try program.nextNotice(within: .zero) != nil, "the client still gets them")
    _ = try ClientSession(name: "other", path: daemon.socket)
    let nothing = daemon.run(["export", "--json", "--client", "other"])
    #expect(nothing.status == 0 && nothing.output.isEmpty)
    #expect(nothing.errors.contains("'other' has no undelivered fixes"))
    let unknownClient = daemon.run(["export", "--client", "trial-log"])
    #expect(unknownClient.status == 69 && unknownClient.errors.contains("no client 'trial-log'"))
  }

  @Test("monitor prints lines for programs, and shows no screen without a terminal")
  func monitor() throws {
    let daemon = try #require(Daemon())
    let running = Running(["monitor", "--json", "--socket", daemon.socket])
    #expect(running.line()?.hasPrefix("{\"status\":{") == true)
    running.signal(SIGTERM)
    #expect(running.finish().status == -SIGTERM)
    let screen = daemon.run(["monitor"])
    #expect(screen.status == 64 && screen.errors.contains("use `torpor status`"))
  }

  @Test("a monitor that another one replaces reports that and ends, without reconnecting")
  func monitors() throws {
    let daemon = try #require(Daemon())
    let first = Running(["monitor", "--json", "--location", "--socket", daemon.socket])
    #expect(first.line()?.hasPrefix("{\"status\":{") == true)
    let second = Running(["monitor", "--json", "--location", "--socket", daemon.socket])
    #expect(second.line()?.hasPrefix("{\"status\":{") == true)
    while let line = first.line(), !line.isEmpty {}
    let end = first.finish()
    #expect(end.status == 69 && first.errors.contains("another torpor command uses location now"))
    #expect(second.line()?.hasPrefix("{\"status\":{") == true, "the second one continues")
    second.signal(SIGTERM)
    #expect(second.finish().status == -SIGTERM)
  }

  @Test(
    "without a service each command reports that and ends with 69",
    arguments: [
      ["status"], ["energy"], ["flush"], ["clients", "list"], ["visits"],
      ["export", "--client", "a"],
      ["monitor", "--json"], ["clients", "allow", "0/x"],
    ])
  func absent(_ arguments: [String]) {
    let result = Command.run(arguments + ["--socket", "/tmp/torpor-no-such-socket"])
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(result.errors.contains("check that torpord runs; if it listens at another path"))
    #expect(result.errors.hasSuffix("set TORPOR_SOCKET to its path, or give --socket\n"))
  }

  @Test(
    "a client that is not given as user/name is rejected",
    arguments: ["trail-log", "/x", "0/", "no such user/x", "0/a\u{7}"])
  func names(_ name: String) {
    #expect(Command.run(["clients", "deny", name]).status == 64)
  }
}
