import BoardProfiles
import Glibc
import LocationSimulation
import LocationTypes
import TextFormats

/// Test bench of a virtual board: the machine, its receiver, its GPIO lines and its clients.
final class Bench {
  /// A change of a line that the board drives.
  struct Change: Equatable {
    var line: String
    var isUp: Bool
    /// Time by ``HostClock/now``, in seconds.
    var time: Double
  }

  let folders: VirtualMachine.Folders
  let profileText: String
  let lineNames: [String]
  private(set) var receiver: RealTimeReceiver
  private(set) var machine: VirtualMachine?
  /// Changes of the driven lines since the service started.
  var changes: [Change] = []
  /// Number of completed suspends, and whether the board is suspended now.
  private(set) var suspends = 0
  private(set) var isSuspended = false
  /// Whether a wake-up was sent for the current suspend.
  private var isWakeUpSent = false
  private(set) var resumedAt = Moment()
  /// Whether the board has powered itself off.
  private(set) var isOff = false
  /// Whether the batch line follows the receiver's batch pin; a scenario may drive the line instead.
  var followsBatchPin = true
  /// Whether the receiver generates its pulse per second while it tracks.
  var generatesPulses = false
  private var pulsedSecond = 0.0
  /// Whether each wait is printed with its duration.
  var isVerbose = false
  /// End of the scenario's time limit.
  private var deadline = Moment(clock: .infinity, guest: .infinity)
  private var guestTime = GuestTime(of: [getpid()], at: HostClock.now)

  private var firstLineNumber = 0
  private var batchPin = false
  private var pendingCommands: [CommandResult] = []
  private var isGuestReady = false
  var clients: [GuestClient] = []
  /// Length of the service's log file at the last launch, in bytes.
  var logStart = 0

  /// Output and exit code of a command in the guest.
  final class CommandResult {
    var lines: [String] = []
    var code: Int?
  }

  init(_ folders: VirtualMachine.Folders, board: String, lines: String) throws {
    self.folders = folders
    _ = unsafe mkdir(folders.run, 0o700)
    profileText = try text(of: board)
    lineNames = try text(of: lines).split(separator: "\n").map(String.init)
    let profile = try BoardProfile.parse(profileText, file: board)
    receiver = try RealTimeReceiver(profile.simulationSetup)
  }

  // MARK: The machine

  /// Boots a machine, unless a suitable one is running.
  func boot(suspends: Bool) throws {
    if let machine, machine.isRunning, isGuestReady, machine.canSuspend == suspends { return }
    discard()
    for name in ["console.log", "torpord.log", "qemu.log"] {
      _ = unsafe unlink("\(folders.run)/\(name)")
    }
    let machine = try VirtualMachine(folders, serial: receiver.path, suspends: suspends)
    self.machine = machine
    // The receiver runs in this process, so its delays count as well.
    guestTime.replaceProcesses([getpid(), machine.process], at: HostClock.now)
    try waitForGuest()
  }

  /// Resets the machine, as if its supply were interrupted.
  func reset() throws {
    try restart { $0.reset() }
  }

  /// Powers the machine on after it has powered itself off.
  func switchOn() throws {
    try restart { $0.powerOn() }
  }

  /// Wakes the board if it is suspended; at most once per suspend.
  func wakeUp() {
    guard isSuspended, !isWakeUpSent else { return }
    isWakeUpSent = true
    machine?.wakeUp()
  }

  private func restart(_ start: (VirtualMachine) -> Void) throws {
    guard let machine else { throw Failure("no machine") }
    isGuestReady = false
    pendingCommands.removeAll()
    receiver.setSupply(false)
    for client in clients { client.port.clear() }
    clients.removeAll()
    machine.agent.clear()
    start(machine)
    try waitForGuest()
  }

  private func waitForGuest() throws {
    isOff = false
    isSuspended = false
    receiver.isBoardSuspended = false
    batchPin = false
    try wait("the guest's agent is ready", within: 60) { self.isGuestReady }
  }

  /// Ends the machine; the next scenario starts a new one.
  func discard() {
    machine?.end()
    machine = nil
    isGuestReady = false
    pendingCommands.removeAll()
    clients.removeAll()
  }

  // MARK: Time

  /// A time, or the difference of two, by two clocks, in seconds.
  struct Moment {
    /// By the host's clock, which the guest's clocks follow: for minimum durations.
    var clock = 0.0
    /// Without the time that a busy host withheld from the guest (``GuestTime``): for all limits.
    var guest = 0.0

    static func - (a: Moment, b: Moment) -> Moment {
      Moment(clock: a.clock - b.clock, guest: a.guest - b.guest)
    }

    /// Time that a busy host withheld.
    var withheld: Double { clock - guest }

    /// The duration with two decimals.
    var text: String {
      func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100) s" }
      return withheld < 0.05
        ? rounded(clock) : "\(rounded(guest)) (\(rounded(clock)) by the clock)"
    }
  }

  /// Limit by the host's clock, as a multiple of the limit in guest time. It ends a wait if the guest runs without end.
  static let clockPerGuest = 10.0

  /// The current time.
  var now: Moment {
    let clock = HostClock.now
    return Moment(clock: clock, guest: guestTime.now(at: clock))
  }

  /// Sets the time limit of the scenario in seconds.
  func limit(to seconds: Double) { deadline = end(of: seconds, from: now) }

  private func end(of seconds: Double, from begin: Moment) -> Moment {
    Moment(clock: begin.clock + seconds * Bench.clockPerGuest, guest: begin.guest + seconds)
  }

  // MARK: Waiting

  /// Runs bench and receiver until `condition` holds.
  ///
  /// - Parameter seconds: Time limit in guest time.
  func wait(_ what: String, within seconds: Double, _ condition: () -> Bool) throws {
    let begin = now
    defer {
      if isVerbose { printLine("  \((now - begin).text): \(what)") }
    }
    let end = end(of: seconds, from: begin)
    while !condition() {
      let now = now
      if now.guest >= deadline.guest || now.clock >= deadline.clock {
        throw Failure("the scenario's time limit has passed while waiting for: \(what)")
      }
      if now.guest >= end.guest || now.clock >= end.clock {
        throw Failure("not within \(seconds) s, waited \((now - begin).text) for: \(what)")
      }
      runOnce(for: min(end.guest, deadline.guest) - now.guest)
    }
  }

  /// Runs for a duration in guest time.
  func advance(_ seconds: Double) throws {
    let end = now.guest + seconds
    try wait("nothing", within: seconds + 1) { now.guest >= end }
  }

  /// Runs until a time of the host's clock.
  func advance(until moment: Double) throws {
    while HostClock.now < moment { runOnce(for: moment - HostClock.now) }
  }

  private func runOnce(for time: Double) {
    receiver.advance()
    updateBatchLine()
    generatePulseIfDue()
    var ports: [LinePort] = []
    if let machine {
      ports = ([machine.management, machine.agent, machine.lines] + machine.clients)
        .filter(\.isOpen)
    }
    var waiting = ports.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    waiting.append(pollfd(fd: receiver.descriptor, events: Int16(POLLIN), revents: 0))
    let second = generatesPulses ? pulsedSecond + 1 - HostClock.wall : 1
    let remaining = max(min(time, receiver.timeToNextEvent, second), 0)
    _ = unsafe poll(&waiting, nfds_t(waiting.count), Int32(remaining * 1_000) + 1)
    for (port, state) in zip(ports, waiting) where state.revents != 0 { port.read() }
    handleInput()
  }

  private func handleInput() {
    guard let machine else { return }
    for line in takeLines(of: machine.management) { handleEvent(line) }
    for line in takeLines(of: machine.agent) { handleAgentLine(line) }
    for line in takeLines(of: machine.lines) { recordLineChange(line) }
    for client in clients {
      for line in takeLines(of: client.port) { client.handleLine(line) }
    }
  }

  private func takeLines(of port: LinePort) -> [String] {
    defer { port.lines.removeAll() }
    return port.lines
  }

  private func handleEvent(_ line: String) {
    if line.contains("\"SUSPEND\"") || line.contains("\"SUSPEND_DISK\"") {
      isSuspended = true
      isWakeUpSent = false
      receiver.isBoardSuspended = true
    } else if line.contains("\"SHUTDOWN\"") {
      isOff = true
    } else if line.contains("\"WAKEUP\""), isSuspended {
      isSuspended = false
      receiver.isBoardSuspended = false
      suspends += 1
      resumedAt = now
    }
  }

  /// Parses `gpio_value: 1009 set 1`, the kernel's trace of a driven line.
  private func recordLineChange(_ line: String) {
    guard let key = line.firstRange(of: "gpio_value: ") else { return }
    let words = line[key.upperBound...].split(separator: " ")
    guard words.count == 3, words[1] == "set", let number = Int(words[0]),
      lineNames.indices.contains(number - firstLineNumber)
    else { return }
    let name = lineNames[number - firstLineNumber]
    let isUp = words[2] == "1"
    changes.append(Change(line: name, isUp: isUp, time: HostClock.now))
    switch name {
    case "GNSS_SUPPLY": receiver.setSupply(isUp)
    case "GNSS_WAKE": if isUp { receiver.wake() }
    default: break
    }
  }

  private func updateBatchLine() {
    guard followsBatchPin, isGuestReady, !isSuspended, receiver.isBatchPinActive != batchPin else {
      return
    }
    batchPin = receiver.isBatchPinActive
    pull("GNSS_BATCH", batchPin)
  }

  /// Generates a pulse at each second of the host's UTC, which is also the receiver's.
  private func generatePulseIfDue() {
    let second = HostClock.wall.rounded(.down)
    guard generatesPulses, isGuestReady, !isSuspended, receiver.state == "tracking",
      second > pulsedSecond
    else { return }
    pulsedSecond = second
    pulse()
  }

  /// A rising and a falling edge of the receiver's pulse per second.
  func pulse() {
    pull("GNSS_PULSE", true)
    pull("GNSS_PULSE", false)
  }

  // MARK: The guest

  private func handleAgentLine(_ line: String) {
    if line.hasPrefix("hello ") {
      firstLineNumber = Int(line.dropFirst(6)) ?? 0
      isGuestReady = true
      return
    }
    guard let first = pendingCommands.first else { return }
    if line.hasPrefix(". "), let code = Int(line.dropFirst(2)) {
      first.code = code
      pendingCommands.removeFirst()
    } else {
      first.lines.append(line)
    }
  }

  /// Sends a command to the guest's shell, without waiting.
  @discardableResult func sendCommand(_ command: String) -> CommandResult {
    let result = CommandResult()
    pendingCommands.append(result)
    machine?.agent.write(command + "\n")
    return result
  }

  /// Executes a command in the guest's shell; returns its output.
  @discardableResult
  func shell(_ command: String, within seconds: Double = 15, fails: Bool = false) throws -> String {
    let result = sendCommand(command)
    try wait("the guest executes: \(command.prefix(60))", within: seconds) { result.code != nil }
    let output = result.lines.joined(separator: "\n")
    guard fails || result.code == 0 else {
      throw Failure("the guest's command failed: \(command.prefix(60)): \(output)")
    }
    return output
  }

  /// Pulls an input line of the board up or down.
  func pull(_ line: String, _ isUp: Bool) {
    guard let path = pullPath(of: line) else { return }
    sendCommand("echo pull-\(isUp ? "up" : "down") > \(path)")
  }

  /// The guest's file that pulls an input line up or down; nil if there is no such line.
  func pullPath(of line: String) -> String? {
    lineNames.firstIndex(of: line).map { "/gpio/sim_gpio\($0)/pull" }
  }

  /// The level of a line.
  func level(_ line: String) throws -> Bool {
    guard let number = lineNames.firstIndex(of: line) else { throw Failure("no line '\(line)'") }
    return try shell("cat /gpio/sim_gpio\(number)/value") == "1"
  }
}

/// The contents of a file.
func text(of path: String) throws -> String {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw Failure("'\(path)' cannot be read: errno \(errno)") }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe read(descriptor, &part, part.count)
    guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
    bytes += part[..<count]
  }
}
