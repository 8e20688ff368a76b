import ArgumentParser
import Glibc
import LocationClient
import LocationTypes
import LocationWire

/// `torpor monitor`.
struct MonitorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Show on the terminal what the service does, as it changes.",
    discussion: """
      The service is asked once a second for as long as the screen is shown, which wakes the board \
      as often. q or Ctrl-C ends it. With --location it asks for updates as a client named torpor, \
      and shows them: that keeps receiver and board awake. There can be one torpor of a user that \
      asks for location or visits; a later one takes its place.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "Ask for location, too, and show it.")
  var location = false

  @Flag(help: "One JSON object a line, a status a second and what is told; no screen.")
  var json = false

  func run() throws {
    var monitor = try Monitor(socket.path, location: location)
    if json { return try monitor.print() }
    let screen = try Screen()
    defer { screen.close() }
    try monitor.show(on: screen)
  }
}

/// What a monitor has seen.
struct Monitor: ~Copyable {
  private let path: String
  private let wantsLocation: Bool
  private var asking: LocationConnection?
  private var session: ClientSession?
  /// Another torpor is the client now: two would take it from each other for ever.
  private var isTakenOver = false
  private var newest: StoredFix?
  private var remarks: [String] = []
  private let clock = Interval.seconds(1)

  /// Remarks that are kept to be shown.
  private static let remarksLimit = 5

  init(_ path: String, location: Bool) throws {
    self.path = path
    wantsLocation = location
    try StopSignals.install()
  }

  // MARK: Lines

  /// A line for each status and each notice, until an interrupt.
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

  /// The screen, until `q` or an interrupt. A service that is away is waited for.
  mutating func show(on screen: Screen) throws {
    let style = Style.ofStandardOutput
    var due = POSIX.uptime
    while true {
      if POSIX.uptime >= due {
        screen.show(lines(style))
        due = POSIX.uptime + clock.seconds
      } else {
        // A notice, or another size of the terminal.
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
          "", style.paint("q ends it", .plain),
        ]
    } catch {
      asking = nil
      session = nil
      shown = [style.paint("\(error)", .bad), "", "It is looked for once a second; q ends it."]
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

  /// Whether a key says that it is enough; a terminal that is gone does.
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
      throw .malformed("another answer than a status")
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
        // What was shown is handled. Who took over is told of by a notice that comes behind this.
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
    case .paused: remark("updates pause: the board seems to stay where it is")
    case .resumed: remark("updates go on")
    case .authorization(let authorization, let isReduced):
      remark(
        "may use location: \(ClientsList.words(authorization))\(isReduced ? ", reduced" : "")")
    case .degraded(let promises):
      remark(promises == .none ? "the battery is better" : "the battery is low")
    case .takenOver: remark("another torpor asks for location now; this one hears no more of it")
    case .gap(let gap) where gap.count == 0: remark("fixes may be missing")
    case .gap(let gap): remark("\(gap.count) fixes were lost")
    case .finished, .visit, .region, .live, .session: break
    }
  }

  private mutating func remark(_ text: String) {
    remarks.append(text)
    if remarks.count > Monitor.remarksLimit { remarks.removeFirst() }
  }
}

/// A fix as people read it.
enum FixText {
  /// Place, accuracy, height, speed and course, as far as known.
  static func line(_ fix: Fix) -> String {
    var text = VisitText.degrees(fix.coordinate)
    if let accuracy = fix.horizontalAccuracy_mm {
      text += " (within \(HumanFormat.distance(Double(accuracy) / 1_000)))"
    }
    if let altitude = fix.altitude_mm {
      text += ", \(HumanFormat.decimal(Double(altitude) / 1_000, places: 0)) m high"
    }
    if let speed = fix.speed_mmps {
      text += ", \(HumanFormat.decimal(Double(speed) * 0.003_6, places: 1)) km/h"
    }
    if let course = fix.course_e4 {
      // Rounded, a course just west of north is north.
      text += ", course \((Int(course) + 5_000) / 10_000 % 360)°"
    }
    return text
  }
}
