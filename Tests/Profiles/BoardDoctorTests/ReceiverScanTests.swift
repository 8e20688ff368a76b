import BoardProfiles
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import BoardDoctor

@Suite("Scan of serial lines", .tags(.realTime))
struct ReceiverScanTests {
  static let position =
    "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"
  private static let satellites = "$GPGSV,1,1,00*79\r\n"

  @Test("an unspecified line may be a modem: nothing is sent unless it reports positions")
  func unspecified() throws {
    for words in ["", "\r\nRING\r\n\r\nRING\r\n", Self.satellites + Self.satellites] {
      let board = FakeBoard()
      let line = FakeLine()
      board.link("/dev/ttyUSB0", to: line.path)
      line.send(words)
      let findings = board.findings(DoctorTests.options())
      #expect(line.received.isEmpty, "\(words)")
      let lines = try #require(findings["serial lines"])
      #expect(lines.outcome == .skipped && lines.found.contains("1 line exists: /dev/ttyUSB0"))
      #expect(lines.suggestion == nil, "the suggestion is in the finding of the cause")
      if words.hasPrefix("$") {
        #expect(findings["identity"]?.outcome == .skipped)
        #expect(findings["identity"]?.suggestion == "if it is the receiver: --line /dev/ttyUSB0")
      } else {
        #expect(findings["receiver"]?.suggestion?.contains("--line /dev/ttyUSB0") == true)
      }
    }
  }

  @Test("a receiver that is detected, or on a specified line, is queried")
  func queried() throws {
    let detected = FakeLine()
    let board = FakeBoard()
    board.link("/dev/ttyUSB0", to: detected.path)
    detected.send(Self.position + Self.position)
    let findings = board.findings(DoctorTests.options())
    #expect(findings["receiver"]?.outcome == .passed && findings["fix"]?.outcome == .passed)
    #expect(detected.received.starts(with: ReceiverIdentity.queries))
    let specified = FakeLine()
    board.link("/dev/ttyUSB1", to: specified.path)
    _ = board.findings(DoctorTests.options(line: "/dev/ttyUSB1"))
    #expect(specified.received.starts(with: ReceiverIdentity.queries))
  }

  @Test("line settings are restored and exclusive mode ends, with and without a receiver")
  func restored() {
    for words in ["", Self.position + Self.position] {
      let board = FakeBoard()
      let line = FakeLine()
      board.link("/dev/ttyUSB0", to: line.path)
      if words.isEmpty { line.makeCooked() }
      line.send(words)
      let before = line.settings
      let findings = board.findings(DoctorTests.options(line: "/dev/ttyUSB0"))
      #expect(findings["serial line"]?.outcome == .passed)
      #expect(line.settings == before && !line.isExclusive)
    }
  }

  @Test("a line in another process's exclusive mode is kept so, even if root can open it")
  func claimed() {
    for isLocked in [true, false] {
      let board = FakeBoard()
      let line = FakeLine()
      board.link("/dev/ttyUSB0", to: line.path)
      let other = unsafe open(line.path, O_RDWR | O_NOCTTY)
      defer { close(other) }
      #expect(ioctl(other, UInt(TIOCEXCL)) == 0)
      if isLocked { #expect(flock(other, LOCK_EX) == 0) }
      let before = line.settings
      let findings = board.findings(DoctorTests.options(line: "/dev/ttyUSB0"))
      if isLocked { #expect(findings["serial line"]?.outcome == .failed) }
      #expect(line.isExclusive && line.settings == before)
    }
  }

  @Test("lines are checked in order of likelihood, each once and only if a port exists")
  func order() {
    let board = FakeBoard()
    board.link("/dev/ttyUSB10", to: "/dev/full")
    board.link("/dev/ttyUSB2", to: "/dev/zero")
    board.link("/dev/ttyACM0", to: "/dev/random")
    board.link("/dev/ttyS0", to: "/dev/null")
    board.link("/dev/ttyAMA0", to: "/dev/urandom")
    board.link("/dev/serial0", to: "ttyAMA0")
    board.link("/dev/gps0", to: "ttyUSB2")
    board.link("/dev/ttyS5", to: "/dev/tty")
    board.write("0\n", to: "/sys/class/tty/ttyS5/type")
    board.write("", to: "/dev/ttyS6")
    board.link("/dev/ttyS7", to: "/nowhere")
    board.link("/dev/ttyprintk", to: "/dev/tty")
    let doctor = Doctor(
      DoctorTests.options(), files: board.files, gpio: GPIOAccess.none, timeouts: .init())
    #expect(
      doctor.candidateLines == [
        "/dev/gps0", "/dev/serial0", "/dev/ttyACM0", "/dev/ttyUSB10", "/dev/ttyS0",
      ])
  }

  @Test("at most four free lines are scanned; the others are reported")
  func limit() throws {
    let board = FakeBoard()
    let lines = (0..<6).map { _ in FakeLine() }
    for (number, line) in lines.enumerated() { board.link("/dev/ttyUSB\(number)", to: line.path) }
    board.process(512, "ModemManager", holding: lines[0].path)
    let findings = board.findings(DoctorTests.options())
    #expect(findings["holder"]?.found == "ModemManager (process 512) has /dev/ttyUSB0 open")
    #expect(findings["serial lines"]?.found.contains("6 lines exist") == true)
    #expect(
      findings["receiver"]?.found
        == "no receiver detected on /dev/ttyUSB1, /dev/ttyUSB2, /dev/ttyUSB3, /dev/ttyUSB4")
    let unscanned = try #require(findings["lines left out"])
    #expect(unscanned.found == "not checked: /dev/ttyUSB5")
    #expect(unscanned.suggestion == "--line /dev/ttyUSB5 checks that line")
    // The first detected receiver ends the scan.
    lines[1].send(Self.position + Self.position)
    let found = board.findings(DoctorTests.options())
    #expect(found["receiver"]?.outcome == .passed)
    #expect(
      found["lines left out"]?.found.hasPrefix(
        "not checked, because a receiver was found: /dev/ttyUSB2")
        == true)
  }

  @Test("a stop request is honoured: nothing more is sent, and the line is restored")
  func stopped() {
    let board = FakeBoard()
    let line = FakeLine()
    line.makeCooked()
    board.link("/dev/ttyUSB0", to: line.path)
    let before = line.settings
    var options = DoctorTests.options(line: "/dev/ttyUSB0")
    options.isStopped = { true }
    let findings = board.findings(options)
    #expect(findings["serial line"]?.outcome == .passed, "it was opened")
    #expect(findings["receiver"] == nil && findings["suspend"] == nil)
    #expect(line.settings == before)
  }
}
