import ArgumentParser
import Glibc
import LocationClient
import LocationTypes
import LocationWire

/// `torpor monitor`.
struct MonitorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Show the service's status on the terminal, updated every second.",
    discussion: """
      The command queries the service once a second while it runs, which also wakes the board once \
      a second. Press q or Ctrl-C to end it. With --location, it starts updates as a client named \
      torpor and shows the location; this keeps receiver and board awake. Each user can have only one \
      torpor command that uses location or visits; a later one replaces it.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "Also start location updates and show the location.")
  var location = false

  @Flag(help: "Print JSON Lines, a status every second and all notices, instead of the screen.")
  var json = false

  func run() throws {
    var monitor = try Monitor(socket.path, location: location)
    if json { return try monitor.print() }
    let screen = try Screen()
    defer { screen.close() }
    try monitor.show(on: screen)
  }
}

/// State of `torpor monitor`: connections to the service, and the last location and remarks.
struct Monitor: ~Copyable {
  private let path: String
  private let showsLocation: Bool
  private var statusConnection: LocationConnection?
  private var session: ClientSession?
  /// Whether another torpor process has taken over the client name. The command does not take it back, because the
  /// two processes would then displace each other repeatedly.
  private var isTakenOver = false
  private var newestFix: StoredFix?
  private var remarks: [String] = []
  private let interval = Interval.seconds(1)

  /// Largest number of remarks shown.
  private static let remarksLimit = 5

  init(_ path: String, location: Bool) throws {
    self.path = path
    showsLocation = location
    try StopSignals.install()
  }

  // MARK: Lines

  /// Prints a line for each status and each notice, until a signal ends it or the output pipe is closed.
  mutating func print() throws {
    var output = Output()
    while true {
      do throws(ClientError) {
        try connect()
        let status = try status()
        try write(ReplyEncoder.object(of: .status(status)), to: &output)
        for notice in try notices() { try write(ReplyEncoder.object(of: notice), to: &output) }
      } catch {
        throw CommandError(error)
      }
      if isTakenOver { throw CommandError.takenOver(service: "location") }
      do { try output.flush() } catch is BrokenPipe { return }
      switch try ServiceWait.wait(for: [], output: output.outputPipe, timeout: interval) {
      case .stopped(let number): SignalCleanup.removeAllAndRaise(number)
      case .outputClosed: return
      case .ready, .timeout: break
      }
    }
  }

  private func write(_ line: [UInt8], to output: inout Output) throws(ClientError) {
    do { try output.write(line + [UInt8(ascii: "\n")]) } catch {
      throw .system("writing failed", code: EIO)
    }
  }

  // MARK: The screen

  /// Shows the screen until `q` or a signal. If the service is not available, tries to connect once a second.
  mutating func show(on screen: Screen) throws {
    let style = Style.ofStandardOutput
    var due = POSIX.uptime
    while true {
      if POSIX.uptime >= due {
        screen.show(lines(style))
        due = POSIX.uptime + interval.seconds
      } else {
        // A key was pressed, or the terminal was resized.
        screen.show(shownLines)
      }
      let remaining = Interval(seconds: max(due - POSIX.uptime, 0.001))
      switch try ServiceWait.wait(for: [STDIN_FILENO], timeout: remaining) {
      case .ready: if readsQuit() { return }
      case .timeout: break
      case .outputClosed: return
      case .stopped(let number):
        screen.close()
        SignalCleanup.removeAllAndRaise(number)
      }
    }
  }

  private var shownLines: [String] = []

  private mutating func lines(_ style: Style) -> [String] {
    do throws(ClientError) {
      try connect()
      let status = try status()
      for notice in try notices() { handle(notice) }
      shownLines =
        StatusText(status, style: style).lines + locationLines(status, style) + [
          "", style.paint("press q to quit", .plain),
        ]
    } catch {
      statusConnection = nil
      session = nil
      shownLines = [style.paint("\(error)", .bad), "", "Retrying once a second; press q to quit."]
    }
    return shownLines
  }

  private func locationLines(_ status: WireStatus, _ style: Style) -> [String] {
    guard showsLocation else { return [] }
    var lines = [""]
    if let newestFix {
      lines.append(style.paint("location  ", .strong) + FixText.text(newestFix.fix))
    } else {
      lines.append(style.paint("location  ", .strong) + "none yet")
    }
    return lines + remarks.map { "          " + $0 }
  }

  /// Whether the key read is `q`, or the terminal was closed.
  private func readsQuit() -> Bool {
    var key: UInt8 = 0
    let count = unsafe read(STDIN_FILENO, &key, 1)
    return count <= 0 || key == UInt8(ascii: "q") || key == UInt8(ascii: "Q")
  }

  // MARK: The service

  private mutating func connect() throws(ClientError) {
    if statusConnection == nil { statusConnection = try LocationConnection(path: path) }
    guard showsLocation, !isTakenOver, session == nil else { return }
    var newSession = try ClientSession(name: ClientName.own, path: path)
    guard newSession.session.authorization.isGranted else {
      throw .locationNotPermitted(client: ClientName.own)
    }
    try newSession.subscribe()
    try newSession.call(.startUpdating)
    session = consume newSession
  }

  private mutating func status() throws(ClientError) -> WireStatus {
    guard let status = try statusConnection?.getStatus() else { throw .disconnected }
    return status
  }

  private mutating func notices() throws(ClientError) -> [WireNotice] {
    var all: [WireNotice] = []
    while let notice = try session?.nextNotice(within: .zero) {
      all.append(notice)
      if case .takenOver = notice {
        isTakenOver = true
        session = nil
        break
      }
      if case .fixes(let fixes) = notice, let last = fixes.last {
        // Acknowledge the fixes shown. Errors are ignored: after a takeover, the notice `takenOver` follows.
        _ = try? session?.call(.acknowledge(last.name))
      }
    }
    return all
  }

  private mutating func handle(_ notice: WireNotice) {
    switch notice {
    case .fixes(let fixes): newestFix = fixes.last ?? newestFix
    case .report(let fix): newestFix = fix
    case .failure: addRemark("no location now")
    case .paused: addRemark("updates paused: the device is stationary")
    case .resumed: addRemark("updates resumed")
    case .authorization(let authorization, let isReduced):
      addRemark(
        "may use location: \(ClientsList.text(authorization))\(isReduced ? ", reduced" : "")")
    case .degraded(let levels):
      addRemark(levels == .none ? "the battery has recovered" : "the battery is low")
    case .takenOver:
      addRemark(
        "another torpor command uses location now; this one receives no more fixes")
    case .gap(let gap) where gap.count == 0: addRemark("fixes may have been lost")
    case .gap(let gap): addRemark("\(gap.count) fixes were lost")
    case .finished, .visit, .region, .live, .session: break
    }
  }

  private mutating func addRemark(_ text: String) {
    remarks.append(text)
    if remarks.count > Monitor.remarksLimit { remarks.removeFirst() }
  }
}

/// Human-readable form of a fix.
enum FixText {
  /// Coordinate, and accuracy, altitude, speed and course if known.
  static func text(_ fix: Fix) -> String {
    var text = VisitText.degrees(fix.coordinate)
    if let accuracy = fix.horizontalAccuracy_mm {
      text += " (within \(HumanFormat.distance(Double(accuracy) / 1_000)))"
    }
    if let altitude = fix.altitude_mm {
      text += ", \(HumanFormat.decimal(Double(altitude) / 1_000, places: 0)) m altitude"
    }
    if let speed = fix.speed_mmps {
      text += ", \(HumanFormat.decimal(Double(speed) * 0.003_6, places: 1)) km/h"
    }
    if let course = fix.course_e4 {
      // Rounding can give 360°, which is 0°.
      text += ", course \((Int(course) + 5_000) / 10_000 % 360)°"
    }
    return text
  }
}
