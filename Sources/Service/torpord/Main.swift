import BoardHardware
import BoardProfiles
import CLinux
import Glibc
import LinuxHAL
import LocationEngine
import LocationService
import LocationTypes
import ServiceState

/// The service `torpord`.
@main
struct Main {
  /// How many clients the engine has room for.
  static let clients = 256
  /// How many files may be open: two for each connection, for its program is watched, and the service's own.
  static let descriptors = 1_280

  static func main() {
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .tell(let text): print(text)
    case .wrong(let reason):
      complain("\(reason); `torpord --help` tells what there is")
      exit(EX_USAGE)
    case .run(let options): exit(run(options))
    }
  }

  /// What an administrator decides, as it was last read without a fault.
  private struct Decisions {
    /// With the line that the options say.
    var profile: BoardProfile
    var policy: AccessPolicy
  }

  /// Serves with one profile after the other: `SIGHUP` may bring a new one, and where that cannot be
  /// served with, the one before goes on (Docs/Decisions/0110).
  private static func run(_ options: Options) -> Int32 {
    let log = SystemLog()
    DescriptorLimit.raise(to: descriptors)
    var now: Decisions
    do {
      now = Decisions(profile: try profile(options, log), policy: try policy(options))
    } catch {
      complain("\(error)")
      return EX_CONFIG
    }
    var last: BoardProfile?
    // Kept from one start to the next, so that a client that connects meanwhile waits and is not refused.
    var listener: Listener?
    while true {
      do {
        let before = now.profile
        guard try serve(&now, on: &listener, options, log) else { return EX_OK }
        last = before
      } catch let problem as RingProblem where problem.isDamage && setAside(problem.path, log) {
        continue
      } catch RingFileError.wrongSize(let path, let found, _)
        where !LocationService.isRingSize(found) && setAside(path, log)
      {
        continue
      } catch {
        guard let before = last else {
          complain("\(error)")
          return EX_UNAVAILABLE
        }
        log.write(.error, "the new profile cannot be served with; the one before goes on: \(error)")
        now.profile = before
        last = nil
      }
    }
  }

  /// Moves a ring away in which nothing can be read, so that the service begins a new one; says whether it did.
  /// What is in it stays for people to look at, as with a damaged state.
  private static func setAside(_ path: String, _ log: SystemLog) -> Bool {
    guard let place = RingFile.moveAside(path, stamp: SystemClock().wall.stamp) else {
      return false
    }
    log.write(
      .error,
      "'\(path)' was damaged beyond use and is '\(place)' now; a new ring is begun, "
        + "and what clients were owed of the old one is lost")
    return true
  }

  /// The board's profile, with the line that the options say.
  private static func profile(_ options: Options, _ log: SystemLog) throws -> BoardProfile {
    // Who names a file needs no folder of boards.
    var profile =
      try BoardCatalog.isPath(options.board)
      ? BoardProfile.load(path: BoardCatalog.profileFile(at: options.board))
      : BoardCatalog.standard().find(options.board)
    if options.isUnwired {
      let lines = profile.gpioLines.map { "\($0.name) \($0.text)" }.joined(separator: ", ")
      if !lines.isEmpty { log.write(.notice, "--no-pins leaves alone: \(lines)") }
      profile = profile.unwired
    }
    if let line = options.line {
      guard profile.receiver != nil else { throw NoReceiver(board: profile.name, line: line) }
      profile.receiver?.device = line
    }
    // A board without a receiver is served too (DEF-1).
    if let receiver = profile.receiver, receiver.device == nil {
      throw NoDevice(board: profile.name)
    }
    return profile
  }

  /// Serves until a signal ends it; says whether that is because there is a new profile.
  private static func serve(
    _ decisions: inout Decisions, on listener: inout Listener?, _ options: Options, _ log: SystemLog
  ) throws -> Bool {
    let profile = decisions.profile
    let events = try EventWait()
    let signals = try SignalWatch()
    let line = try line(of: profile, isPipe: options.isLinePipe, in: events)
    let capacity = profile.cache.capacity
    let ring = try RingFile(
      options.state + "/ring", size: LocationService.ringSize(capacity: capacity))
    let state = try state(options)
    for line in state.repairs.lines { log.write(state.repairs.isEmpty ? .notice : .warning, line) }
    if let trouble = state.trouble { log.write(.error, "state: \(trouble)") }
    let socket = try listener ?? Listener(path: options.socket)
    listener = socket
    let server = try LocationServer(
      socket, on: events, decisions.policy,
      facts(profile, isUnwired: options.isUnwired),
      state: state, log: log, starter: ClientStarter(socket: options.socket).start)
    var setup = profile.engineSetup
    // No date of a receiver is before the day of this build (STD-13).
    setup.epochs.earliestDate = CalendarDate(
      year: Int(build_year()), month: Int(build_month()), day: Int(build_day()))
    setup.isAccessory = profile.receiver?.device.map { SerialBus.isAccessory($0) } ?? false
    let suspender = profile.suspender
    let boot = try BootIdentity.current()
    let powerOff = profile.powerOff(state: options.state, boot: boot)
    tellStart(powerOff, log)
    var service = try LocationService(
      setup, ring: ring, capacity: capacity, clients: clients,
      syncInterval: profile.cache.syncInterval,
      board: LinuxBoard(
        events, line: line, pins: try GPIOPins(profile.wiring(), in: events),
        gauge: profile.batteryGauge, suspender: suspender),
      suspender: suspender, powerOff: powerOff, server: server, boot: boot, signals: signals,
      notifier: ServiceNotifier(),
      log: log)
    log.write(
      .notice,
      "serving '\(options.socket)' with \(profile.name) "
        + (profile.receiver?.device.map { "on \($0)" } ?? "and no receiver: it has no [receiver]"))
    switch service.run(reload: { reload(&decisions, options, log) }) {
    case .stopped: log.write(.notice, "stopped; the receiver rests")
    case .receiverBusy: log.write(.warning, "stopped, but the receiver did not go to rest")
    case .replaced: return true
    case .poweringOff:
      let code = BoardPowerOff.powerOff()
      if code == 0, BoardPowerOff.isEnding() { return false }
      // It is on, and is served again: an exit with an error has the service manager start anew.
      powerOff?.cancel()
      throw SystemError(
        "the board was to be switched off, and is still on", code: code == 0 ? ETIMEDOUT : code)
    }
    return false
  }

  /// The receiver's line, or that of a board without one.
  private static func line(
    of profile: BoardProfile, isPipe: Bool, in events: EventWait
  ) throws -> SerialLine {
    guard let receiver = profile.receiver, let device = receiver.device else {
      return SerialLine(noneIn: events)
    }
    return try SerialLine(
      opening: device, speed: UInt32(receiver.lineSpeed_baud), in: events, isPipe: isPipe)
  }

  /// How this start came about, if the service had the board switched off.
  private static func tellStart(_ powerOff: BoardPowerOff?, _ log: SystemLog) {
    guard let powerOff else { return }
    if let (_, start) = powerOff.takeIntent() { log.write(.notice, "\(start)") }
    if !powerOff.isPossible {
      log.write(
        .warning, "the board is never switched off: nothing is found that switches it on again")
    }
  }

  /// Reads policy and profile anew; what is wrong with one is told, and it stays as it was.
  private static func reload(
    _ decisions: inout Decisions, _ options: Options, _ log: SystemLog
  ) -> Reload {
    var reload = Reload(policy: nil, isProfileNew: false)
    do {
      decisions.policy = try policy(options)
      reload.policy = decisions.policy
      log.write(.notice, "who may use location was read anew")
    } catch {
      log.write(.error, "who may use location stays as it was: \(error)")
    }
    do {
      let read = try profile(options, log)
      reload.isProfileNew = read != decisions.profile
      decisions.profile = read
      log.write(
        .notice,
        reload.isProfileNew
          ? "there is a new profile, '\(read.name)': the service begins anew with it"
          : "the profile '\(read.name)' is as it was")
    } catch {
      log.write(.error, "the profile stays as it was: \(error)")
    }
    return reload
  }

  /// What outlives the service.
  private static func state(_ options: Options) throws -> StateStore {
    let path = options.state + "/state.db"
    do {
      return try StateStore(path: path, at: SystemClock().wall)
    } catch {
      throw StateProblem(path: path, error: error)
    }
  }

  /// What the server must know of board and process.
  private static func facts(
    _ profile: BoardProfile, isUnwired: Bool
  ) -> LocationServer.Facts {
    var facts = LocationServer.Facts(
      version: Options.version, board: profile.name, clients: clients)
    facts.isUnwired = isUnwired
    facts.subordinates = SubordinateFile(path: SubordinateUsers.standardPath)
    if let receiver = profile.receiver { facts.receiver = receiver.terms }
    facts.power = profile.powerFigures
    facts.usage = {
      BoardUsage(
        processor: ProcessUsage.processor,
        // The kernel's clocks do not tell of every suspend to idle.
        suspended: max(ProcessUsage.suspended, $0.suspended), wakes: $0.wakeCount)
    }
    return facts
  }

  /// The administrator's file, if there is one; where it was named there must be.
  private static func policy(_ options: Options) throws -> AccessPolicy {
    if let path = options.clients { return try AccessPolicy.load(path: path) }
    guard unsafe access(Options.standardClients, F_OK) == 0 else {
      return .owned(by: geteuid())
    }
    return try AccessPolicy.load(path: Options.standardClients)
  }

  private static func complain(_ text: String) {
    let line = Array("torpord: \(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The durable state cannot be used; nothing of it was changed.
struct StateProblem: Error, CustomStringConvertible {
  var path: String
  var error: StateError

  var description: String {
    // It names the file itself, which may be the log beside this one.
    if case .notAFile = error { return "\(error)" }
    return "'\(path)': \(error)"
  }
}

/// A line was named on a board without a receiver.
struct NoReceiver: Error, CustomStringConvertible {
  var board: String
  var line: String

  var description: String {
    "the profile '\(board)' has no receiver, so --line \(line) names the line of nothing: add a [receiver] "
      + "table with its family to the profile, or start without --line to serve a board without a receiver"
  }
}

/// Nobody said where the receiver is.
struct NoDevice: Error, CustomStringConvertible {
  var board: String

  var description: String {
    "the profile '\(board)' names no `device` of its receiver; add it, or say --line"
  }
}
