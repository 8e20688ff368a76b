import ArgumentParser
import Glibc
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// `torpor receiver`: emulates a board's receiver on a pseudo-terminal.
struct ReceiverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receiver",
    abstract: "Emulate a board's receiver in real time on a serial line, for tests of the service.",
    discussion: """
      The line is a pseudo-terminal, whose path is the first line of standard output: torpord and \
      `torpor decode` open it like the line of a receiver. It sends the output of the board's \
      receiver along a scenario or a track that begins now, needs its time to the first fix, \
      accepts commands at the right speed, sleeps and batches. Changes of its state are printed on \
      standard error.

      The supply is on from the start and the pins are not used, unless --pins is given.

        mkdir state
        torpor receiver --link gnss &
        torpord --no-pins --board simulated --line gnss --socket torpor.sock --state state
      """)

  @OptionGroup var board: BoardOption

  @OptionGroup var route: RouteOptions

  @OptionGroup var random: RandomOptions

  @Option(
    help: ArgumentHelp(
      "Create a symbolic link to the line at this path; removed at the end.", valueName: "path"),
    completion: .file())
  var link: String?

  @Flag(
    help:
      "Read changes of the board's pins from standard input, one a line: supply on, supply off, wake, deaf, hearing."
  )
  var pins = false

  @Flag(
    name: .shortAndLong, help: "Do not print changes of the receiver's state on standard error.")
  var quiet = false

  func run() throws {
    let boardProfile = try board.profile()
    let profile = pins ? boardProfile : boardProfile.withoutGPIOLines
    let path =
      try route.track.map { track throws in
        try TrackFile.read(track, longest: nil, for: "receiver")
      }
      ?? (route.scenario ?? .drive).track(seed: random.seed, duration: nil)
    var setup = profile.simulationSetup
    setup.noise = random.noise.model
    setup.seed = random.seed
    let now = POSIX.utc
    let track = Track(
      start: now - path.points[0].offset, points: path.points, gapLimit: path.gapLimit)
    try StopSignals.install()
    let line = try PseudoTerminal(link: link, baud: Int(setup.receiver.defaultSpeed))
    var output = Output()
    try output.write(Array((line.path + "\n").utf8))
    try output.flush()
    var emulator = ReceiverEmulator(
      VirtualReceiver(setup, track: track), line, readsPins: pins, isQuiet: quiet)
    try emulator.run()
  }
}

/// Connects a simulated receiver to a pseudo-terminal in real time, until a stop signal.
struct ReceiverEmulator: ~Copyable {
  private var receiver: VirtualReceiver
  private let line: PseudoTerminal
  private var readsPins: Bool
  private let isQuiet: Bool
  private let startTime = POSIX.uptime
  /// Whether the receiver's output is discarded (`deaf`), as while the board is suspended.
  private var discardsOutput = false
  private var lastReport = ""
  /// Current line of standard input, truncated to ``maximumLineLength``, because a longer line is no command.
  private var inputLine: [UInt8] = []
  private static let maximumLineLength = 32

  /// Shortest time between two writes; a serial driver does not deliver single bytes either.
  private static let minimumWriteInterval = Interval.milliseconds(5)
  /// Interval at which an unopened line is checked for an opener.
  private static let openPollInterval = Interval.milliseconds(50)

  init(
    _ receiver: VirtualReceiver, _ line: PseudoTerminal, readsPins: Bool, isQuiet: Bool
  ) {
    self.receiver = receiver
    self.line = line
    self.readsPins = readsPins
    self.isQuiet = isQuiet
  }

  private var now: Instant { .boot + Interval(seconds: POSIX.uptime - startTime) }

  mutating func run() throws {
    while true {
      let now = self.now
      let bytes = receiver.read(at: now, speed: speed)
      let isOpen = line.isOpen
      if isOpen, !discardsOutput { line.write(bytes) }
      reportChange()
      let due = max(receiver.nextEventTime - self.now, ReceiverEmulator.minimumWriteInterval)
      // poll(2) does not report that a pseudo-terminal is opened, so check periodically.
      let timeout = isOpen ? due : min(due, ReceiverEmulator.openPollInterval)
      switch try ServiceWait.wait(
        for: [isOpen ? line.descriptor : -1, readsPins ? STDIN_FILENO : -1],
        timeout: timeout < .seconds(3_600) ? timeout : nil)
      {
      case .ready(0): receiver.write(line.read(), at: self.now, speed: speed)
      case .ready: readPinCommands()
      case .timeout, .outputClosed: break
      case .stopped: return
      }
    }
  }

  /// Speed that the board has set, baud; the receiver's own if it cannot be read.
  private var speed: UInt32 { line.speed.map { UInt32($0) } ?? receiver.speed }

  private mutating func readPinCommands() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else {
      readsPins = false
      return
    }
    for byte in bytes[..<count] {
      if byte == 0x0A {
        applyPinCommand(String(decoding: inputLine.filter { $0 != 0x0D }, as: UTF8.self))
        inputLine.removeAll()
      } else if inputLine.count < ReceiverEmulator.maximumLineLength {
        inputLine.append(byte)
      }
    }
  }

  private mutating func applyPinCommand(_ word: String) {
    switch word {
    case "supply on": receiver.setSupply(true, at: now)
    case "supply off": receiver.setSupply(false, at: now)
    case "wake": receiver.wake(at: now)
    case "deaf": discardsOutput = true
    case "hearing": discardsOutput = false
    default:
      POSIX.printError(
        "torpor: unknown command '\(word)'; expected supply on, supply off, wake, deaf or hearing")
    }
  }

  private mutating func reportChange() {
    guard !isQuiet else { return }
    let pin = receiver.isBatchPinActive ? ", batch pin active" : ""
    let report = "\(receiver.state.name), \(receiver.speed) baud\(pin)"
    guard report != lastReport else { return }
    lastReport = report
    POSIX.printError("torpor: receiver \(report)")
  }
}
