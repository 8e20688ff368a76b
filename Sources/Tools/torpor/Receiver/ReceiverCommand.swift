import ArgumentParser
import Glibc
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// `torpor receiver`.
struct ReceiverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receiver",
    abstract: "Play a board's receiver in real time on a serial line, to try the service with.",
    discussion: """
      The line is a pseudo-terminal, whose name is the first line of standard output: torpord and \
      `torpor decode` open it as they would a receiver's. It sends what the board's receiver would \
      along a scenario or a track that begins now, needs its time to the first fix, takes commands \
      at the right speed, sleeps and batches. What it does is told on standard error.

      Its supply is on from the start, and nobody drives its pins, unless --pins is given.

        mkdir state
        torpor receiver --link gnss &
        torpord --no-pins --board simulated --line gnss --socket torpor.sock --state state
      """)

  @OptionGroup var board: BoardOption

  @OptionGroup var way: WayOptions

  @OptionGroup var chance: ChanceOptions

  @Option(
    help: ArgumentHelp(
      "Give the line this name, too, until the end.", valueName: "path"), completion: .file())
  var link: String?

  @Flag(
    help:
      "Read the board's pins from standard input, a line for each change: supply on, supply off, wake, deaf, hearing."
  )
  var pins = false

  @Flag(name: .shortAndLong, help: "Do not tell on standard error what it does.")
  var quiet = false

  func run() throws {
    let wired = try board.profile()
    let profile = pins ? wired : wired.unwired
    let way =
      try way.track.map { track throws in
        try TrackFile.read(track, longest: nil, for: "receiver")
      }
      ?? (way.scenario ?? .drive).track(seed: chance.seed, duration: nil)
    var setup = profile.simulationSetup
    setup.noise = chance.noise.model
    setup.seed = chance.seed
    let now = POSIX.utc
    let track = Track(
      start: now - way.points[0].offset, points: way.points, gapLimit: way.gapLimit)
    try StopSignals.install()
    let line = try PseudoTerminal(link: link, baud: Int(setup.receiver.defaultSpeed))
    var output = Output()
    try output.write(Array((line.path + "\n").utf8))
    try output.flush()
    var player = ReceiverPlayer(
      VirtualReceiver(setup, track: track), line, readsPins: pins, isQuiet: quiet)
    try player.play()
  }
}

/// Plays a receiver until an interrupt.
struct ReceiverPlayer: ~Copyable {
  private var receiver: VirtualReceiver
  private let line: PseudoTerminal
  private var readsPins: Bool
  private let isQuiet: Bool
  private let begin = POSIX.uptime
  /// The board is suspended: what is sent to it is lost.
  private var isDeaf = false
  private var told = ""
  /// The line of standard input so far; what is longer than any of our words is none of them.
  private var words: [UInt8] = []
  private static let longestWord = 32

  /// Bytes go out in pieces of this long: a line's driver hands on no single ones either.
  private static let piece = Interval.milliseconds(5)
  /// So often is looked for somebody who opens the line.
  private static let look = Interval.milliseconds(50)

  init(
    _ receiver: VirtualReceiver, _ line: PseudoTerminal, readsPins: Bool, isQuiet: Bool
  ) {
    self.receiver = receiver
    self.line = line
    self.readsPins = readsPins
    self.isQuiet = isQuiet
  }

  private var now: Instant { .boot + Interval(seconds: POSIX.uptime - begin) }

  mutating func play() throws {
    while true {
      let now = self.now
      let bytes = receiver.read(at: now, speed: speed)
      let isOpen = line.isOpen
      if isOpen, !isDeaf { line.write(bytes) }
      tell()
      let due = max(receiver.next - self.now, ReceiverPlayer.piece)
      // A line that nobody has opened tells of nobody who opens it.
      let rest = isOpen ? due : min(due, ReceiverPlayer.look)
      switch try ServiceWait.wait(
        for: [isOpen ? line.descriptor : -1, readsPins ? STDIN_FILENO : -1],
        atMost: rest < .seconds(3_600) ? rest : nil)
      {
      case .ready(0): receiver.write(line.read(), at: self.now, speed: speed)
      case .ready: readWords()
      case .pause, .readerGone: break
      case .stopped: return
      }
    }
  }

  /// What the board has set; where that is nothing, as if it were right.
  private var speed: UInt32 { line.speed.map { UInt32($0) } ?? receiver.speed }

  private mutating func readWords() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else {
      readsPins = false
      return
    }
    for byte in bytes[..<count] {
      if byte == 0x0A {
        change(String(decoding: words.filter { $0 != 0x0D }, as: UTF8.self))
        words.removeAll()
      } else if words.count < ReceiverPlayer.longestWord {
        words.append(byte)
      }
    }
  }

  private mutating func change(_ word: String) {
    switch word {
    case "supply on": receiver.setSupply(true, at: now)
    case "supply off": receiver.setSupply(false, at: now)
    case "wake": receiver.wake(at: now)
    case "deaf": isDeaf = true
    case "hearing": isDeaf = false
    default:
      POSIX.tell(
        "torpor: '\(word)' is none of supply on, supply off, wake, deaf, hearing")
    }
  }

  private mutating func tell() {
    guard !isQuiet else { return }
    let pin = receiver.isBatchPinActive ? ", its batch pin is up" : ""
    let news = "\(receiver.state.word), \(receiver.speed) baud\(pin)"
    guard news != told else { return }
    told = news
    POSIX.tell("torpor: receiver \(news)")
  }
}
