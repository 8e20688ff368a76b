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
  private let wantsLocation: Bool
  private var asking: LocationConnection?
  private var session: ClientSession?
  /// Whether another torpor process has taken over the client name. The command does not take it back, because the
  /// two would then displace each other repeatedly.
  private var isTakenOver = false
  private var newest: StoredFix?
  private var remarks: [String] = []
  private let clock = Interval.seconds(1)

  /// Largest number of remarks shown.
  private static let remarksLimit = 5

  init(_ path: String, location: Bool) throws {
    self.path = path
    wantsLocation = location
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
      if isTakenOver { throw CommandError.takenOver(what: "location") }
      do { try output.flush() } catch is ReaderGone { return }
      switch try ServiceWait.wait(for: [], reader: output.reader, atMost: clock) {
      case .stopped(let number): Interrupts.end(number)
      case .readerGone: return
      case .ready, .pause: break
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
        due = POSIX.uptime + clock.seconds
      } else {
        // A key was pressed, or the terminal was resized.
        screen.show(shown)
      }
      let rest = Interval(seconds: max(due - POSIX.uptime, 0.001))
      switch try ServiceWait.wait(for: [STDIN_FILENO], atMost: rest) {
      case .ready: if isQuit() { return }
      case .pause: break
      case .readerGone: return
      case .stopped(let number):
        screen.close()
        Interrupts.end(number)
      }
    }
  }

  private var shown: [String] = []

  private mutating func lines(_ style: Style) -> [String] {
    do throws(ClientError) {
      try connect()
      let status = try status()
      for notice in try notices() { note(notice) }
      shown =
        StatusText(status, style: style).lines + place(status, style) + [
          "", style.paint("press q to quit", .plain),
        ]
    } catch {
      asking = nil
      session = nil
      shown = [style.paint("\(error)", .bad), "", "Retrying once a second; press q to quit."]
    }
    return shown
  }

  private func place(_ status: WireStatus, _ style: Style) -> [String] {
    guard wantsLocation else { return [] }
    var lines = [""]
    if let newest {
      lines.append(style.paint("location  ", .strong) + FixText.line(newest.fix))
    } else {
      lines.append(style.paint("location  ", .strong) + "none yet")
    }
    return lines + remarks.map { "          " + $0 }
  }

  /// Whether the key read is `q`, or the terminal was closed.
  private func isQuit() -> Bool {
    var key: UInt8 = 0
    let count = unsafe read(STDIN_FILENO, &key, 1)
    return count <= 0 || key == UInt8(ascii: "q") || key == UInt8(ascii: "Q")
  }

  // MARK: The service

  private mutating func connect() throws(ClientError) {
    if asking == nil { asking = try LocationConnection(path: path) }
    guard wantsLocation, !isTakenOver, session == nil else { return }
    var own = try ClientSession(name: ClientName.own, path: path)
    guard own.session.authorization.isGranted else { throw .mayNotUse(client: ClientName.own) }
    try own.listen()
    _ = try own.call(.startUpdating)
    session = consume own
  }

  private mutating func status() throws(ClientError) -> WireStatus {
    guard case .status(let status)? = try asking?.call(.getStatus) else {
      throw .malformed("the reply to GetStatus is not a status")
    }
    return status
  }

  private mutating func notices() throws(ClientError) -> [WireNotice] {
    var all: [WireNotice] = []
    while let notice = try session?.notice(within: .zero) {
      all.append(notice)
      if case .takenOver = notice {
        isTakenOver = true
        session = nil
        break
      }
      if case .fixes(let fixes) = notice, let last = fixes.last {
        // Acknowledge the fixes shown. An error after a takeover is ignored: the notice `takenOver` follows.
        _ = try? session?.call(.acknowledge(last.name))
      }
    }
    return all
  }

  private mutating func note(_ notice: WireNotice) {
    switch notice {
    case .fixes(let fixes): newest = fixes.last ?? newest
    case .report(let fix): newest = fix
    case .failure: remark("no location now")
    case .paused: remark("updates paused: the device is stationary")
    case .resumed: remark("updates resumed")
    case .authorization(let authorization, let isReduced):
      remark(
        "may use location: \(ClientsList.words(authorization))\(isReduced ? ", reduced" : "")")
    case .degraded(let promises):
      remark(promises == .none ? "the battery has recovered" : "the battery is low")
    case .takenOver:
      remark(
        "another torpor command uses location now; this one receives no "
          + "more fixes")
    case .gap(let gap) where gap.count == 0: remark("fixes may have been lost")
    case .gap(let gap): remark("\(gap.count) fixes were lost")
    case .finished, .visit, .region, .live, .session: break
    }
  }

  private mutating func remark(_ text: String) {
    remarks.append(text)
    if remarks.count > Monitor.remarksLimit { remarks.removeFirst() }
  }
}

/// Human-readable form of a fix.
enum FixText {
  /// Coordinate, and accuracy, altitude, speed and course if known.
  static func line(_ fix: Fix) -> String {
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
