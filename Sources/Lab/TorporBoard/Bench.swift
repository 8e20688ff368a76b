import BoardProfiles
import Glibc
import LocationSimulation
import LocationTypes

/// A board with all that hangs on it: the machine, its receiver, the hands that move its pins.
final class Bench {
  /// A change of a line that the board drives.
  struct Change: Equatable {
    var line: String
    var isUp: Bool
    /// By ``Clock/now``.
    var time: Double
  }

  let parts: Machine.Parts
  let profileText: String
  let lineNames: [String]
  private(set) var receiver: PlayedReceiver
  private(set) var machine: Machine?
  /// What the board has done with its lines since the service began.
  var changes: [Change] = []
  /// Suspends that are over, and whether one goes on.
  private(set) var suspends = 0
  private(set) var isSuspended = false
  /// Somebody wakes it.
  private var isWaking = false
  private(set) var resumedAt = Moment()
  /// It has switched itself off.
  private(set) var isOff = false
  /// The board drives its pins itself; a scenario may do so in its place.
  var followsBatchPin = true
  /// The receiver's pulse per second is there while it tracks.
  var givesPulses = false
  private var pulsedSecond = 0.0
  /// Tells how long was waited for what.
  var isVerbose = false
  /// When the scenario must be over.
  private var deadline = Moment(clock: .infinity, guest: .infinity)
  private var guestTime = GuestTime(of: [getpid()], at: Clock.now)

  private var base = 0
  private var batchPin = false
  private var answers: [Answer] = []
  private var isUp = false
  var clients: [GuestClient] = []
  /// How long the service's log was when it was launched.
  var logBegin = 0

  /// What the guest says to a command.
  final class Answer {
    var lines: [String] = []
    var code: Int?
  }

  init(_ parts: Machine.Parts, board: String, lines: String) throws {
    self.parts = parts
    _ = unsafe mkdir(parts.run, 0o700)
    profileText = try text(of: board)
    lineNames = try text(of: lines).split(separator: "\n").map(String.init)
    receiver = try PlayedReceiver(try read(profileText, in: parts.run).simulationSetup)
  }

  // MARK: The machine

  /// A machine that runs and answers.
  func boot(suspends: Bool) throws {
    if let machine, machine.isRunning, isUp, machine.suspends == suspends { return }
    discard()
    for name in ["console.log", "torpord.log", "qemu.log"] {
      _ = unsafe unlink("\(parts.run)/\(name)")
    }
    let machine = try Machine(parts, serial: receiver.path, suspends: suspends)
    self.machine = machine
    // What the harness does late, the receiver does late.
    guestTime.follow([getpid(), machine.process], at: Clock.now)
    try awaitHello()
  }

  /// Cuts its supply, and lets it come back.
  func reset() throws {
    try begin { $0.reset() }
  }

  /// Switches it on after it switched itself off.
  func switchOn() throws {
    try begin { $0.switchOn() }
  }

  /// Ends its suspend, if it is suspended; once for each.
  func wakeUp() {
    guard isSuspended, !isWaking else { return }
    isWaking = true
    machine?.wakeUp()
  }

  private func begin(_ start: (Machine) -> Void) throws {
    guard let machine else { throw Failure("no machine") }
    isUp = false
    answers.removeAll()
    receiver.setSupply(false)
    for client in clients { client.port.clear() }
    clients.removeAll()
    machine.agent.clear()
    start(machine)
    try awaitHello()
  }

  private func awaitHello() throws {
    isOff = false
    isSuspended = false
    receiver.isBoardSuspended = false
    batchPin = false
    try wait("the guest says hello", within: 60) { self.isUp }
  }

  /// Throws the machine away: the next scenario begins with a new one.
  func discard() {
    machine?.end()
    machine = nil
    isUp = false
    answers.removeAll()
    clients.removeAll()
  }

  // MARK: Time

  /// A moment, or the time between two, by two clocks, in seconds.
  struct Moment {
    /// By the host's clock, which the guest's clocks follow: for what must last so long at least.
    var clock = 0.0
    /// Without what a busy host withheld from the guest (``GuestTime``): for all limits.
    var guest = 0.0

    static func - (a: Moment, b: Moment) -> Moment {
      Moment(clock: a.clock - b.clock, guest: a.guest - b.guest)
    }

    /// What a busy host withheld.
    var withheld: Double { clock - guest }

    /// With two digits behind the point.
    var text: String {
      func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100) s" }
      return withheld < 0.05
        ? rounded(clock) : "\(rounded(guest)) (\(rounded(clock)) by the clock)"
    }
  }

  /// Against a guest that spins for ever, no wait is longer by the host's clock than so many times its limit.
  static let clockPerGuest = 10.0

  /// Now.
  var now: Moment {
    let clock = Clock.now
    return Moment(clock: clock, guest: guestTime.now(at: clock))
  }

  /// Gives everything that follows so many seconds altogether.
  func limit(to seconds: Double) { deadline = end(of: seconds, from: now) }

  private func end(of seconds: Double, from begin: Moment) -> Moment {
    Moment(clock: begin.clock + seconds * Bench.clockPerGuest, guest: begin.guest + seconds)
  }

  // MARK: Waiting

  /// Lets everything go on until `condition` holds.
  ///
  /// - Parameter seconds: How long the guest may take, by its own time.
  func wait(_ what: String, within seconds: Double, _ condition: () -> Bool) throws {
    let begin = now
    defer {
      if isVerbose { say("  \((now - begin).text): \(what)") }
    }
    let end = end(of: seconds, from: begin)
    while !condition() {
      let now = now
      if now.guest >= deadline.guest || now.clock >= deadline.clock {
        throw Failure("the scenario's time is over; waited for: \(what)")
      }
      if now.guest >= end.guest || now.clock >= end.clock {
        throw Failure("not within \(seconds) s, but \((now - begin).text): \(what)")
      }
      turn(for: min(end.guest, deadline.guest) - now.guest)
    }
  }

  /// Lets everything go on until the guest has lived for so long.
  func pass(_ seconds: Double) throws {
    let end = now.guest + seconds
    try wait("nothing", within: seconds + 1) { now.guest >= end }
  }

  /// Lets everything go on until a moment of the host's clock.
  func pass(until moment: Double) throws {
    while Clock.now < moment { turn(for: moment - Clock.now) }
  }

  private func turn(for time: Double) {
    receiver.play()
    followPin()
    followSecond()
    var ports: [LinePort] = []
    if let machine {
      ports = ([machine.management, machine.agent, machine.lines] + machine.clients)
        .filter(\.isOpen)
    }
    var waiting = ports.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    waiting.append(pollfd(fd: receiver.descriptor, events: Int16(POLLIN), revents: 0))
    let second = givesPulses ? pulsedSecond + 1 - Clock.wall : 1
    let rest = max(min(time, receiver.patience, second), 0)
    _ = unsafe poll(&waiting, nfds_t(waiting.count), Int32(rest * 1_000) + 1)
    for (port, state) in zip(ports, waiting) where state.revents != 0 { port.read() }
    takeNews()
  }

  private func takeNews() {
    guard let machine else { return }
    for line in take(machine.management) { event(line) }
    for line in take(machine.agent) { answer(line) }
    for line in take(machine.lines) { change(line) }
    for client in clients {
      for line in take(client.port) { client.hear(line) }
    }
  }

  private func take(_ port: LinePort) -> [String] {
    defer { port.lines.removeAll() }
    return port.lines
  }

  private func event(_ line: String) {
    if line.contains("\"SUSPEND\"") || line.contains("\"SUSPEND_DISK\"") {
      isSuspended = true
      isWaking = false
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

  /// `gpio_value: 1009 set 1`: what the kernel traces of a line that is driven.
  private func change(_ line: String) {
    guard let place = line.firstRange(of: "gpio_value: ") else { return }
    let words = line[place.upperBound...].split(separator: " ")
    guard words.count == 3, words[1] == "set", let number = Int(words[0]),
      lineNames.indices.contains(number - base)
    else { return }
    let name = lineNames[number - base]
    let isUp = words[2] == "1"
    changes.append(Change(line: name, isUp: isUp, time: Clock.now))
    switch name {
    case "GNSS_SUPPLY": receiver.setSupply(isUp)
    case "GNSS_WAKE": if isUp { receiver.wake() }
    default: break
    }
  }

  private func followPin() {
    guard followsBatchPin, isUp, !isSuspended, receiver.isBatchPinActive != batchPin else { return }
    batchPin = receiver.isBatchPinActive
    pull("GNSS_BATCH", batchPin)
  }

  /// A receiver's UTC is the machine's, and so are its seconds.
  private func followSecond() {
    let second = Clock.wall.rounded(.down)
    guard givesPulses, isUp, !isSuspended, receiver.state == "tracking", second > pulsedSecond
    else { return }
    pulsedSecond = second
    pulse()
  }

  /// An edge up of the receiver's pulse per second, and one down.
  func pulse() {
    pull("GNSS_PULSE", true)
    pull("GNSS_PULSE", false)
  }

  // MARK: The guest

  private func answer(_ line: String) {
    if line.hasPrefix("hello ") {
      base = Int(line.dropFirst(6)) ?? 0
      isUp = true
      return
    }
    guard let first = answers.first else { return }
    if line.hasPrefix(". "), let code = Int(line.dropFirst(2)) {
      first.code = code
      answers.removeFirst()
    } else {
      first.lines.append(line)
    }
  }

  /// Has the guest's shell do something, and does not wait for it.
  @discardableResult func tell(_ command: String) -> Answer {
    let answer = Answer()
    answers.append(answer)
    machine?.agent.write(command + "\n")
    return answer
  }

  /// Has the guest's shell do something; gives what it says.
  @discardableResult
  func shell(_ command: String, within seconds: Double = 15, fails: Bool = false) throws -> String {
    let answer = tell(command)
    try wait("the guest does: \(command.prefix(60))", within: seconds) { answer.code != nil }
    let said = answer.lines.joined(separator: "\n")
    guard fails || answer.code == 0 else {
      throw Failure("the guest does not: \(command.prefix(60)): \(said)")
    }
    return said
  }

  /// Pulls a line that the board hears up or down.
  func pull(_ line: String, _ isUp: Bool) {
    guard let number = lineNames.firstIndex(of: line) else { return }
    tell("echo pull-\(isUp ? "up" : "down") > /gpio/sim_gpio\(number)/pull")
  }

  /// What a line's level is.
  func level(_ line: String) throws -> Bool {
    guard let number = lineNames.firstIndex(of: line) else { throw Failure("no line '\(line)'") }
    return try shell("cat /gpio/sim_gpio\(number)/value") == "1"
  }
}

/// What is in a file.
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

/// A profile out of its text.
func read(_ profile: String, in folder: String) throws -> BoardProfile {
  let path = folder + "/profile.toml"
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  let bytes = Array(profile.utf8)
  guard descriptor >= 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
    throw Failure("'\(path)' cannot be written: errno \(errno)")
  }
  close(descriptor)
  return try BoardCatalog.standard().find(path)
}
