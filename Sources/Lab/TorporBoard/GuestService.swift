import BoardProfiles
import LocationSimulation
import SimulatedHAL

// The service in the guest, and its clients, as the scenarios start and control them.

extension Bench {
  /// The board that a scenario needs.
  struct BoardSetup {
    /// Replacements in the text of the profile.
    var edits: [(old: String, new: String)] = []
    /// Tables and keys to remove.
    var removed: [String] = []
    /// Whether the board can suspend.
    var canSuspend = false
    /// Changes of the receiver's simulation.
    var receiver: (inout SimulationSetup) -> Void = { _ in }
  }

  /// Boots a board without Torpor processes, with all lines pulled down.
  func clear(suspends: Bool = false) throws {
    try boot(suspends: suspends)
    try shell(
      "for p in $torpord $client0 $client1; do kill -9 $p; wait $p; done; "
        + "torpord= client0= client1=; rm -rf /data/state/*", fails: true)
    clients.removeAll()
    for line in lineNames { pull(line, false) }
  }

  /// Starts the service with empty state and a receiver that was never powered.
  ///
  /// - Parameter options: Further options of the service.
  func start(_ boardSetup: BoardSetup = BoardSetup(), options: String = "") throws {
    try clear(suspends: boardSetup.canSuspend)
    let profile = try edited(boardSetup)
    var setup = try BoardProfile.parse(profile, file: "board.toml").simulationSetup
    boardSetup.receiver(&setup)
    receiver.replace(setup)
    changes.removeAll()
    followsBatchPin = true
    generatesPulses = false
    let lines = profile.split(separator: "\n").map { "'\($0)'" }.joined(separator: " ")
    try shell("printf '%s\\n' \(lines) > /data/board.toml; sync")
    try serve(options)
  }

  private func edited(_ boardSetup: BoardSetup) throws -> String {
    var text = profileText
    for edit in boardSetup.edits {
      guard text.contains(edit.old) else { throw Failure("the profile has no '\(edit.old)'") }
      text = text.replacing(edit.old, with: edit.new)
    }
    var isRemoved = false
    let removed = boardSetup.removed + (boardSetup.canSuspend ? [] : ["[board.suspended]"])
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.hasPrefix("[") { isRemoved = removed.contains(String(line)) }
      return !isRemoved && !line.hasPrefix("#")
        && !removed.contains { line.hasPrefix($0 + " =") }
    }
    return lines.joined(separator: "\n")
  }

  /// Starts the service with the state on the disk, and waits until it listens.
  func serve(_ options: String = "") throws {
    try launch(options)
    let status = try shell(
      "until [ -S /run/torpor/torpor.sock ]; do kill -0 $torpord 2>/dev/null || break; usleep 50000; done; "
        + "[ -S /run/torpor/torpor.sock ]; echo $?",
      within: 20)
    guard status == "0" else { throw Failure("torpord does not serve") }
  }

  /// Starts the service without waiting.
  func launch(_ options: String = "") throws {
    logStart = try text(of: folders.run + "/torpord.log").utf8.count
    try shell(
      "rm -f /run/torpor/torpor.sock; "
        + "torpord --board /data/board.toml --state /data/state \(options) >/ports/log 2>&1 & "
        + "torpord=$!")
  }

  /// The service's log since its launch.
  var log: String {
    get throws {
      String(
        decoding: try text(of: folders.run + "/torpord.log").utf8.dropFirst(logStart), as: UTF8.self
      )
    }
  }

  /// Waits until the service's log contains the words.
  func waitForLog(_ words: String, within seconds: Double) throws {
    try wait("torpord logs '\(words)'", within: seconds) { (try? log.contains(words)) == true }
  }

  /// Starts a client in the guest, which the scenario controls with commands.
  func client(_ name: String, _ number: Int = 0) throws -> GuestClient {
    guard let port = machine?.clients[number] else { throw Failure("no machine") }
    let client = GuestClient(name, port, self)
    port.clear()
    clients.append(client)
    try shell(
      "ClientProbe talk /run/torpor/torpor.sock \(name) 0<>/ports/client\(number) 1>&0 2>&0 & "
        + "client\(number)=$!")
    try wait("the client '\(name)' is ready", within: 10) { client.isReady }
    return client
  }

  /// Starts a client that starts updates, and waits until it has received the first fixes.
  func updatingClient(_ name: String, fixes: Int) throws -> GuestClient {
    let client = try client(name)
    try client.execute("start")
    try client.waitForFixes(fixes, within: 20)
    return client
  }
}

/// A client process in the guest, with everything it has received.
final class GuestClient {
  struct FixReport: Hashable {
    var generation: Int
    var sequence: Int
    /// Microseconds since 1970.
    var utc: Int
  }

  /// A gap: lost fixes.
  struct Gap {
    var count: Int
    var range: Range<Int>
    var mayBeMore: Bool
    var from: Int
  }

  let name: String
  let port: LinePort
  private unowned let bench: Bench
  private(set) var isReady = false
  private(set) var received: [FixReport] = []
  /// UTC at the guest's boot according to each delivered fix: UTC less boot time, microseconds.
  private(set) var bootUTC: [Int] = []
  /// Fixes delivered outside the running updates.
  private(set) var reports: [FixReport] = []
  private(set) var batches: [Int] = []
  private(set) var gaps: [Gap] = []
  private(set) var finishes: [String] = []
  private(set) var confirmed: FixReport?
  private(set) var failures: [Int] = []
  /// Shed service levels as bits; 0 for none.
  private(set) var shedLevels = 0
  /// Number of wakes per reason, time per board state (ms), and total number of wakes.
  private(set) var wakes: [Int] = []
  /// The guest's boot clock and monotonic clock, microseconds.
  private(set) var clocks = (boot: 0, monotonic: 0)
  /// All lines that the client printed, in order.
  private(set) var lines: [String] = []
  private var completedCommands = 0
  private var sentCommands = 0

  init(_ name: String, _ port: LinePort, _ bench: Bench) {
    self.name = name
    self.port = port
    self.bench = bench
  }

  func handleLine(_ line: String) {
    lines.append(line)
    let words = line.split(separator: " ")
    func number(_ index: Int) -> Int { words.count > index ? Int(words[index]) ?? 0 : 0 }
    switch words.first {
    case "ready": isReady = true
    case "ok", "refused": completedCommands += 1
    case "batch": batches.append(number(1))
    case "told":
      received.append(FixReport(generation: number(1), sequence: number(2), utc: number(3)))
      bootUTC.append(number(3) - number(4))
    case "report":
      reports.append(FixReport(generation: number(1), sequence: number(2), utc: number(3)))
    case "failed": failures.append(number(1))
    case "degraded": shedLevels = number(1)
    case "clocks": clocks = (number(1), number(2))
    case "wakes": wakes = words.dropFirst().map { Int($0) ?? 0 }
    case "finished": finishes.append(words.count > 1 ? String(words[1]) : "")
    case "gap":
      gaps.append(
        Gap(
          count: number(1), range: number(2)..<max(number(2), number(3)),
          mayBeMore: words.count > 4 && words[4] == "true", from: number(5)))
    case "settled":
      confirmed = received.last { $0.generation == number(1) && $0.sequence == number(2) }
    default: break
    }
  }

  /// Sends a command, and waits for its completion.
  func execute(_ line: String) throws {
    sentCommands += 1
    port.write(line + "\n")
    try bench.wait(
      "'\(name)' completes '\(line)'", within: 10
    ) { self.completedCommands >= self.sentCommands }
    if let refusal = lines.last(where: { $0.hasPrefix("refused") }) { throw Failure(refusal) }
  }

  /// Number of wakes of the board by alarm, bytes, batch pin, request, motion; then milliseconds awake, idle,
  /// suspended, off; then the total number of wakes.
  func countWakes() throws -> [Int] {
    try execute("wakes")
    return wakes
  }

  /// Whether all commands are completed.
  var isIdle: Bool { completedCommands >= sentCommands }

  /// Sends a command without waiting.
  func send(_ line: String) {
    sentCommands += 1
    port.write(line + "\n")
  }

  /// Waits until `more` further fixes are delivered.
  func waitForFixes(_ more: Int, within seconds: Double) throws {
    let count = received.count + more
    try bench.wait("'\(name)' receives \(more) more fixes", within: seconds) {
      self.received.count >= count
    }
  }
}
