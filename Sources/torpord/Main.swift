import AccessPolicy
import BoardProfiles
import BoardSetup
import CBuildDate
import EnergyAccounting
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
  static let clients = 64

  static func main() {
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .tell(let text): print(text)
    case .wrong(let reason):
      complain("\(reason); `torpord --help` tells what there is")
      exit(EX_USAGE)
    case .run(let options): exit(run(options))
    }
  }

  private static func run(_ options: Options) -> Int32 {
    let profile: BoardProfile
    do {
      profile = try BoardCatalog.standard().find(options.board)
    } catch {
      complain("\(error)")
      return EX_CONFIG
    }
    guard let device = options.line ?? profile.receiver?.device, let receiver = profile.receiver
    else {
      complain(
        "the profile '\(profile.name)' names no `device` of its receiver; add it, or say --line")
      return EX_CONFIG
    }
    do {
      return try serve(profile, device, UInt32(receiver.lineSpeed_baud), options)
    } catch {
      complain("\(error)")
      return EX_UNAVAILABLE
    }
  }

  private static func serve(
    _ profile: BoardProfile, _ device: String, _ speed: UInt32, _ options: Options
  ) throws -> Int32 {
    let log = SystemLog()
    let events = try EventWait()
    let signals = try SignalWatch()
    let line = try SerialLine(opening: device, speed: speed, in: events)
    let capacity = profile.cache.capacity
    let ring = try RingFile(
      options.state + "/ring", size: LocationService.ringSize(capacity: capacity))
    let state = try StateStore(path: options.state + "/state.db", at: SystemClock().wall)
    for line in state.repairs.lines { log.write(.notice, line) }
    if let trouble = state.trouble { log.write(.error, "state: \(trouble)") }
    let server = try LocationServer(
      Listener(path: options.socket), on: events, policy(options), facts(profile),
      state: state, log: log, starter: ClientStarter(socket: options.socket).start)
    var setup = profile.engineSetup
    // No date of a receiver is before the day of this build (STD-13).
    setup.epochs.earliestDate = CalendarDate(
      year: Int(build_year()), month: Int(build_month()), day: Int(build_day()))
    var service = try LocationService(
      setup, ring: ring, capacity: capacity, clients: clients,
      syncInterval: profile.cache.syncInterval,
      board: LinuxBoard(events, line: line, pins: NoPins()),
      server: server, boot: BootIdentity.current(), signals: signals, notifier: ServiceNotifier(),
      log: log)
    log.write(.notice, "serving '\(options.socket)' with \(profile.name) on \(device)")
    switch service.run() {
    case .stopped: log.write(.notice, "stopped; the receiver rests")
    case .receiverBusy: log.write(.warning, "stopped, but the receiver did not go to rest")
    }
    return EX_OK
  }

  /// What the server must know of board and process.
  private static func facts(_ profile: BoardProfile) -> LocationServer.Facts {
    var facts = LocationServer.Facts(
      version: Options.version, board: profile.name, clients: clients)
    facts.power = profile.powerFigures
    facts.usage = {
      BoardUsage(
        processor: ProcessUsage.processor, suspended: ProcessUsage.suspended, wakes: $0.wakeCount)
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
