import LocationSimulation
import SimulatedHAL

// The service in the guest, and its clients.

extension Bench {
  /// How a scenario wants its board.
  struct Wish {
    /// Text of the profile that is another one here.
    var edits: [(old: String, new: String)] = []
    /// Tables and keys that are not there.
    var without: [String] = []
    /// The board may suspend.
    var suspends = false
    /// What is other with the receiver.
    var receiver: (inout SimulationSetup) -> Void = { _ in }
  }

  /// A board on which no program of ours runs, all its lines pulled down.
  func clear(suspends: Bool = false) throws {
    try boot(suspends: suspends)
    try shell(
      "for p in $torpord $client0 $client1; do kill -9 $p; wait $p; done; "
        + "torpord= client0= client1=; rm -rf /data/state/*", fails: true)
    clients.removeAll()
    for line in lineNames { pull(line, false) }
  }

  /// A service that begins anew, with a receiver that was never switched on.
  func start(_ wish: Wish = Wish()) throws {
    try clear(suspends: wish.suspends)
    let profile = try edited(wish)
    var setup = try read(profile, in: parts.run).simulationSetup
    wish.receiver(&setup)
    receiver.replace(setup)
    changes.removeAll()
    followsBatchPin = true
    givesPulses = false
    let lines = profile.split(separator: "\n").map { "'\($0)'" }.joined(separator: " ")
    try shell("printf '%s\\n' \(lines) > /data/board.toml; sync")
    try serve()
  }

  private func edited(_ wish: Wish) throws -> String {
    var text = profileText
    for edit in wish.edits {
      guard text.contains(edit.old) else { throw Failure("the profile has no '\(edit.old)'") }
      text = text.replacing(edit.old, with: edit.new)
    }
    var isLeftOut = false
    let without = wish.without + (wish.suspends ? [] : ["[board.suspended]"])
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.hasPrefix("[") { isLeftOut = without.contains(String(line)) }
      return !isLeftOut && !line.hasPrefix("#")
        && !without.contains { line.hasPrefix($0 + " =") }
    }
    return lines.joined(separator: "\n")
  }

  /// Starts the service on what its disk holds.
  func serve(_ options: String = "") throws {
    try launch(options)
    let end = try shell(
      "until [ -S /run/torpor/torpor.sock ]; do kill -0 $torpord 2>/dev/null || break; usleep 50000; done; "
        + "[ -S /run/torpor/torpor.sock ]; echo $?",
      within: 20)
    guard end == "0" else { throw Failure("torpord does not serve") }
  }

  /// Starts the service, whatever comes of it.
  func launch(_ options: String = "") throws {
    logBegin = try text(of: parts.run + "/torpord.log").utf8.count
    try shell(
      "rm -f /run/torpor/torpor.sock; "
        + "torpord --board /data/board.toml --state /data/state \(options) >/ports/log 2>&1 & "
        + "torpord=$!")
  }

  /// What the service has said since it was launched.
  var log: String {
    get throws {
      String(
        decoding: try text(of: parts.run + "/torpord.log").utf8.dropFirst(logBegin), as: UTF8.self)
    }
  }

  /// Waits until the service has said so.
  func hears(_ words: String, within seconds: Double) throws {
    try wait("torpord says '\(words)'", within: seconds) { (try? log.contains(words)) == true }
  }

  /// A client in the guest that is led from here.
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
}

/// A program in the guest, with what it has been told.
final class GuestClient {
  struct Told: Hashable {
    var generation: Int
    var sequence: Int
    /// Microseconds since 1970.
    var utc: Int
  }

  /// Fixes were lost.
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
  private(set) var told: [Told] = []
  /// UTC of the guest's boot by each fix that it was told, microseconds: UTC less the boot clock.
  private(set) var bootUTC: [Int] = []
  /// Fixes of no running updates.
  private(set) var reports: [Told] = []
  private(set) var batches: [Int] = []
  private(set) var gaps: [Gap] = []
  private(set) var finishes: [String] = []
  private(set) var settled: Told?
  private(set) var failures: [Int] = []
  /// What is given up for the battery; 0 for nothing.
  private(set) var degraded = 0
  /// How often the board was woken, by reason, how long it was in each state (ms), and how often it was woken.
  private(set) var wakes: [Int] = []
  /// The guest's boot clock and monotonic clock, microseconds.
  private(set) var clocks = (boot: 0, monotonic: 0)
  /// All that it said, in order.
  private(set) var lines: [String] = []
  private var done = 0
  private var asked = 0

  init(_ name: String, _ port: LinePort, _ bench: Bench) {
    self.name = name
    self.port = port
    self.bench = bench
  }

  func hear(_ line: String) {
    lines.append(line)
    let words = line.split(separator: " ")
    func number(_ index: Int) -> Int { words.count > index ? Int(words[index]) ?? 0 : 0 }
    switch words.first {
    case "ready": isReady = true
    case "ok", "refused": done += 1
    case "batch": batches.append(number(1))
    case "told":
      told.append(Told(generation: number(1), sequence: number(2), utc: number(3)))
      bootUTC.append(number(3) - number(4))
    case "report":
      reports.append(Told(generation: number(1), sequence: number(2), utc: number(3)))
    case "failed": failures.append(number(1))
    case "degraded": degraded = number(1)
    case "clocks": clocks = (number(1), number(2))
    case "wakes": wakes = words.dropFirst().map { Int($0) ?? 0 }
    case "finished": finishes.append(words.count > 1 ? String(words[1]) : "")
    case "gap":
      gaps.append(
        Gap(
          count: number(1), range: number(2)..<max(number(2), number(3)),
          mayBeMore: words.count > 4 && words[4] == "true", from: number(5)))
    case "settled":
      settled = told.last { $0.generation == number(1) && $0.sequence == number(2) }
    default: break
    }
  }

  /// Says something, and waits for the answer.
  func say(_ line: String) throws {
    asked += 1
    port.write(line + "\n")
    try bench.wait("'\(name)' has its answer to '\(line)'", within: 10) { self.done >= self.asked }
    if let refusal = lines.last(where: { $0.hasPrefix("refused") }) { throw Failure(refusal) }
  }

  /// How often the board was woken for its reasons: alarm, bytes, batch pin, request, motion; then how
  /// many milliseconds it was awake, idle, suspended, off; then how often altogether.
  func countWakes() throws -> [Int] {
    try say("wakes")
    return wakes
  }

  /// It has the answer to all that it said.
  var isQuiet: Bool { done >= asked }

  /// Says something, and does not wait.
  func murmur(_ line: String) {
    asked += 1
    port.write(line + "\n")
  }

  /// Waits until it has been told so many fixes more than now.
  func fixes(_ more: Int, within seconds: Double) throws {
    let count = told.count + more
    try bench.wait("'\(name)' is told \(more) fixes more", within: seconds) {
      self.told.count >= count
    }
  }
}
