import BoardHardware
import BoardProfiles
import CLinux
import Glibc
import LinuxHAL
import LocationEngine
import LocationService
import LocationTypes
import ServiceState

/// The service `torpord`: reads options, policy and board profile, connects the modules, and serves until a signal
/// ends it. The behaviour is in the modules; this file decides only what is opened and in which order.
@main
struct Main {
  /// Capacity of the engine's client table.
  static let clientCapacity = 256
  /// Limit of open files: two for each connection, because its process is watched, one for each connection of gpsd's
  /// protocol, and the service's own.
  static let descriptorLimit = 1_408

  static func main() {
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .output(let text): print(text)
    case .invalid(let reason):
      printError("\(reason); run `torpord --help` for the options")
      exit(EX_USAGE)
    case .run(let options): exit(run(options))
    }
  }

  /// The administrator's settings, as last read without an error.
  private struct Configuration {
    /// The board's profile, with the serial line given by the options.
    var profile: BoardProfile
    var policy: AccessPolicy
  }

  /// Serves with a profile until a signal ends the service, or `SIGHUP` has read a new profile. If the service cannot
  /// start with the new profile, it continues with the previous one (Docs/Decisions/0110).
  private static func run(_ options: Options) -> Int32 {
    let log = SystemLog()
    DescriptorLimit.raise(to: descriptorLimit)
    var configuration: Configuration
    do {
      configuration = Configuration(profile: try profile(options, log), policy: try policy(options))
    } catch {
      printError("\(error)")
      return EX_CONFIG
    }
    var previous: BoardProfile?
    // Kept across restarts within the process, so that a client that connects in between waits and is not refused.
    var listener: Listener?
    var gpsd: GPSDListeners?
    while true {
      do {
        let profile = configuration.profile
        guard try serve(&configuration, on: &listener, &gpsd, options, log) else { return EX_OK }
        previous = profile
      } catch let problem as RingProblem where problem.isDamage && moveAside(problem.path, log) {
        continue
      } catch RingFileError.wrongSize(let path, let found, _)
        where !LocationService.isRingSize(found) && moveAside(path, log)
      {
        continue
      } catch {
        guard let profile = previous else {
          printError("\(error)")
          return EX_UNAVAILABLE
        }
        log.write(
          .error,
          "cannot serve with the new profile; continuing with the previous one: \(error)")
        configuration.profile = profile
        previous = nil
      }
    }
  }

  /// Moves an unreadable ring file aside, so that the service creates a new one. Returns whether that succeeded. The
  /// file is kept for analysis, like a damaged state.
  private static func moveAside(_ path: String, _ log: SystemLog) -> Bool {
    let newPath = unusedPath(forDamaged: path, at: SystemClock().wallTime)
    guard unsafe rename(path, newPath) == 0 else { return false }
    log.write(
      .error,
      "'\(path)' was damaged beyond use and is now '\(newPath)'; a new ring is created, "
        + "and the undelivered fixes of the old one are lost")
    return true
  }

  /// The board's profile, with the serial line given by the options.
  private static func profile(_ options: Options, _ log: SystemLog) throws -> BoardProfile {
    // A profile given as a file does not need the folder of boards.
    var profile =
      try BoardCatalog.isPath(options.board)
      ? BoardProfile.load(path: BoardCatalog.profileFile(at: options.board))
      : BoardCatalog.standard().find(options.board)
    if options.ignoresPins {
      let lines = profile.gpioLines.map { "\($0.name) \($0.text)" }.joined(separator: ", ")
      if !lines.isEmpty { log.write(.notice, "--no-pins: these lines are not used: \(lines)") }
      profile = profile.withoutGPIOLines
    }
    if let line = options.line {
      guard profile.receiver != nil else {
        throw StartProblem(
          "the profile '\(profile.name)' has no receiver, so --line \(line) cannot be used: add a [receiver] table "
            + "with its family to the profile, or start without --line to serve a board without a receiver"
        )
      }
      profile.receiver?.device = line
    }
    // A board without a receiver is served as well (DEF-1).
    if let receiver = profile.receiver, receiver.device == nil {
      throw StartProblem(
        "the profile '\(profile.name)' does not name the `device` of its receiver; add it to the profile, or start "
          + "with --line")
    }
    return profile
  }

  /// Serves until the service ends. Returns true if a new profile is the reason.
  private static func serve(
    _ configuration: inout Configuration, on listener: inout Listener?,
    _ gpsd: inout GPSDListeners?, _ options: Options, _ log: SystemLog
  ) throws -> Bool {
    let profile = configuration.profile
    let events = try EventWait()
    let signals = try SignalWatch()
    let line = try line(of: profile, isPipe: options.isLinePipe, in: events)
    let capacity = profile.cache.capacity
    let ring = try RingFile(
      options.state + "/ring", size: LocationService.ringSize(capacity: capacity))
    let state = try state(options)
    for line in state.repairs.lines { log.write(state.repairs.isEmpty ? .notice : .warning, line) }
    if let error = state.lastError { log.write(.error, "state: \(error)") }
    let socket = try listener ?? Listener(path: options.socket)
    listener = socket
    let gpsdSockets =
      try gpsd ?? GPSDListeners(programs: options.gpsd, helpers: options.gpsdHelper)
    gpsd = gpsdSockets
    let server = try LocationServer(
      socket, on: events, configuration.policy,
      environment(profile, options),
      state: state, log: log, gpsd: gpsdSockets,
      starter: ClientStarter(socket: options.socket).start)
    var setup = profile.engineSetup
    // Receiver dates before the day of this build are rejected (STD-13).
    setup.epochs.earliestDate = CalendarDate(
      year: Int(build_year()), month: Int(build_month()), day: Int(build_day()))
    setup.isAccessory = profile.receiver?.device.map { SerialBus.isAccessory($0) } ?? false
    let suspender = profile.suspender
    let boot = try BootIdentity.current()
    let powerOff = profile.powerOff(state: options.state, boot: boot)
    let start = consumeStart(powerOff, log)
    var service = try LocationService(
      setup, ring: ring, capacity: capacity, clients: clientCapacity,
      syncInterval: profile.cache.syncInterval,
      board: LinuxBoard(
        events, line: line, pins: try GPIOPins(profile.wiring(), in: events),
        gauge: profile.batteryGauge, suspender: suspender),
      suspender: suspender, powerOff: powerOff, start: start,
      server: server, boot: boot, signals: signals,
      notifier: ServiceNotifier(),
      log: log)
    log.write(
      .notice,
      "serving '\(options.socket)' with board '\(profile.name)' "
        + (profile.receiver?.device.map { "and the receiver on \($0)" }
          ?? "and no receiver, because the profile has no [receiver] table"))
    switch service.run(reload: { reload(&configuration, options, log) }) {
    case .stopped: log.write(.notice, "stopped; the receiver is asleep")
    case .receiverBusy: log.write(.warning, "stopped, but the receiver did not go to sleep in time")
    case .replaced: return true
    case .poweringOff: try switchOff(powerOff, log)
    }
    return false
  }

  /// Switches the board off, and returns when the system ends this program.
  private static func switchOff(_ powerOff: BoardPowerOff?, _ log: SystemLog) throws {
    let code = BoardPowerOff.powerOff()
    guard code == 0, BoardPowerOff.waitForTermination() else {
      // The board is still on: exit with an error, so that the service manager restarts the service.
      powerOff?.cancel()
      throw SystemError(
        "the board should have been switched off, but is still "
          + "on", code: code == 0 ? ETIMEDOUT : code)
    }
    let failure = powerOff?.confirmAlarm() ?? 0
    guard failure != 0 else { return }
    log.write(
      .error,
      "the alarm's clock was set, and the alarm cannot be set again: switch the board on by hand: "
        + SystemError.reason(failure))
  }

  /// The receiver's serial line, or a placeholder on a board without a receiver.
  private static func line(
    of profile: BoardProfile, isPipe: Bool, in events: EventWait
  ) throws -> SerialLine {
    guard let receiver = profile.receiver, let device = receiver.device else {
      return SerialLine(noneIn: events)
    }
    return try SerialLine(
      opening: device, speed: UInt32(receiver.lineSpeed_baud), in: events, isPipe: isPipe)
  }

  /// Reads and logs why the board was switched on, once; nil if the service had not switched it off.
  private static func consumeStart(_ powerOff: BoardPowerOff?, _ log: SystemLog) -> BoardStart? {
    guard let powerOff else { return nil }
    let start = powerOff.consumeIntent()
    if let start { log.write(.notice, "\(start.cause)") }
    if !powerOff.isPossible {
      log.write(
        .warning,
        "the board is never switched off, because no alarm was found that switches it on again")
    }
    return start
  }

  /// Reads policy and profile again. A file with an error is logged, and its previous content stays in force.
  private static func reload(
    _ configuration: inout Configuration, _ options: Options, _ log: SystemLog
  ) -> Reload {
    var reload = Reload(policy: nil, isProfileNew: false)
    do {
      configuration.policy = try policy(options)
      reload.policy = configuration.policy
      log.write(.notice, "the policy was reloaded")
    } catch {
      log.write(.error, "the policy is unchanged, because the new one has errors: \(error)")
    }
    do {
      let newProfile = try profile(options, log)
      reload.isProfileNew = newProfile != configuration.profile
      configuration.profile = newProfile
      log.write(
        .notice,
        reload.isProfileNew
          ? "the profile '\(newProfile.name)' has changed; the service restarts with it"
          : "the profile '\(newProfile.name)' is unchanged")
    } catch {
      log.write(.error, "the profile is unchanged, because the new one has errors: \(error)")
    }
    return reload
  }

  /// Opens the durable state.
  private static func state(_ options: Options) throws -> StateStore {
    let path = options.state + "/state.db"
    do {
      return try StateStore(path: path, at: SystemClock().wallTime)
    } catch {
      // The error contains the path, which may be that of the write-ahead log.
      if case .notAFile = error { throw error }
      throw StartProblem("'\(path)': \(error)")
    }
  }

  /// Properties of board and process that `LocationServer` uses.
  private static func environment(
    _ profile: BoardProfile, _ options: Options
  ) -> LocationServer.Environment {
    var environment = LocationServer.Environment(
      version: Options.version, board: profile.name, clients: clientCapacity)
    environment.socket = options.socket
    environment.ignoresPins = options.ignoresPins
    environment.clockSocket = options.clock
    environment.metricsFolder = options.metrics
    environment.hasPulseLine = profile.receiver?.pulseLine != nil
    environment.subordinates = SubordinateFile(path: SubordinateUsers.standardPath)
    if let receiver = profile.receiver { environment.receiver = receiver.lineSettings }
    environment.power = profile.powerFigures
    environment.usage = {
      BoardUsage(
        processor: ProcessUsage.processorTime,
        // The kernel's clocks do not count every suspend-to-idle.
        suspended: max(ProcessUsage.suspendedTime, $0.suspendedTime), wakes: $0.wakeCount)
    }
    return environment
  }

  /// The administrator's policy. A file named by an option must exist; the standard file may be missing.
  private static func policy(_ options: Options) throws -> AccessPolicy {
    if let path = options.clients { return try AccessPolicy.load(path: path) }
    guard unsafe access(Options.standardClients, F_OK) == 0 else {
      return .builtIn(owner: geteuid())
    }
    return try AccessPolicy.load(path: Options.standardClients)
  }

  private static func printError(_ text: String) {
    let line = Array("torpord: \(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The service cannot start: the reason, and what helps.
struct StartProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
