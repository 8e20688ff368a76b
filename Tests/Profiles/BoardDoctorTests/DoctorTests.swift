import BoardHardware
import BoardProfiles
import DeferralCache
import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@testable import BoardDoctor

@Suite("Doctor on boards simulated with folders", .tags(.realTime))
struct DoctorTests {
  /// A profile whose receiver is on the line `device`, with changed settings.
  static func profile(_ device: String, _ settings: [(String, String)] = []) throws -> BoardProfile
  {
    var new = NewProfile()
    let all = [("name", "my-board"), ("receiver.device", device)] + settings
    for (path, value) in all { try new.answer(path, value, deferringRules: true) }
    return try new.profile(file: "profile.toml")
  }

  static func options(_ profile: BoardProfile? = nil, line: String? = nil) -> Doctor.Options {
    var options = Doctor.Options()
    options.profile = profile
    options.line = line
    return options
  }

  @Test("an unknown board without a profile: every check has a finding under its name")
  func bare() {
    let board = FakeBoard()
    board.write("Some Board Rev 1\0", to: "/proc/device-tree/model")
    let findings = board.findings(Self.options())
    #expect(findings["board"]?.found == "Some Board Rev 1, Linux 6.1.0")
    #expect(findings["service"]?.outcome == .skipped)
    #expect(findings["GPIO chip"]?.outcome == .skipped)
    #expect(findings["serial line"]?.outcome == .failed, "no line exists")
    #expect(findings["battery"]?.outcome == .skipped)
    #expect(findings["state"]?.outcome == .passed)
    for finding in findings where finding.outcome == .failed { #expect(finding.suggestion != nil) }
  }

  @Test("a missing boot ID fails: the service could not distinguish boots")
  func boot() {
    let board = FakeBoard()
    board.write("", to: "/proc/sys/kernel/random/boot_id")
    #expect(board.findings(Self.options())["board"]?.outcome == .failed)
  }

  // MARK: The system clock

  @Test("the socket of chronyd must exist, and belong to a group that may write to it")
  func clockSocket() {
    let board = FakeBoard()
    func finding() -> Finding? { board.findings(Self.options())["clock"] }
    #expect(finding()?.outcome == .skipped)
    board.make("/run")
    let path = board.files.fullPath(Doctor.clockSocket)
    let chrony = FakeChrony(path, mode: 0o755)
    #expect(finding()?.outcome == .failed)
    #expect(finding()?.suggestion?.contains("chgrp torpor-clock") == true)
    #expect(unsafe chmod(chrony.path, 0o777) == 0)
    #expect(finding()?.outcome == .passed)
    chrony.kill()
    #expect(finding()?.outcome == .skipped, "the socket of a chronyd that has ended")
    #expect(finding()?.suggestion?.contains("journalctl -u chrony") == true)
    // Only root may give a file to another group.
    guard geteuid() == 0 else { return }
    let next = FakeChrony(path, mode: 0o775)
    #expect(unsafe chown(next.path, 0, 12_345) == 0)
    board.write("root:x:0:\ntorpor-clock:x:12346:\n", to: "/etc/group")
    #expect(finding()?.outcome == .failed, "another group")
    board.write("root:x:0:\ntorpor-clock:x:12345:\n", to: "/etc/group")
    #expect(finding()?.outcome == .passed)
  }

  @Test(
    "a running service's report of the clock is shown, and a socket that refuses samples fails",
    arguments: [(true, false), (false, false), (false, true)])
  func clockReport(_ isFeeding: Bool, _ isRefused: Bool) {
    var options = Self.options()
    options.clock = Doctor.ClockReport(
      isFeeding: isFeeding, isRefused: isRefused, text: "last 1 s ago")
    let finding = FakeBoard().findings(options)["clock"]
    #expect(finding?.found == "last 1 s ago")
    #expect(finding?.outcome == (isFeeding ? .passed : isRefused ? .failed : .skipped))
  }

  @Test("what is missing for a first sample is named: chronyd's socket, its reader, or a client")
  func clockHint() {
    let board = FakeBoard()
    var options = Self.options()
    options.clock = Doctor.ClockReport(isFeeding: false, isRefused: false, text: "not fed")
    func suggestion() -> String? { board.findings(options)["clock"]?.suggestion }
    #expect(suggestion()?.contains("/usr/share/doc/torpor/chrony.conf") == true)
    board.make("/run")
    let chrony = FakeChrony(board.files.fullPath(Doctor.clockSocket), mode: 0o777)
    #expect(suggestion()?.contains("start a client") == true)
    chrony.kill()
    #expect(suggestion()?.contains("journalctl -u chrony") == true)
  }

  @Test("a service that was started without a clock is no reason to examine chronyd's socket")
  func noClock() {
    let board = FakeBoard()
    board.make("/run")
    let chrony = FakeChrony(board.files.fullPath(Doctor.clockSocket), mode: 0o777)
    var options = Self.options()
    options.servesWithoutClock = true
    let finding = board.findings(options)["clock"]
    #expect(finding?.outcome == .skipped)
    #expect(finding?.suggestion?.contains("--clock none") == true)
    chrony.kill()
  }

  // MARK: The ring

  /// The bytes of a ring file with three fixes.
  private static func ring(capacity: Int) throws -> [UInt8] {
    let memory = RingMemory(capacity: capacity)
    var ring = try memory.open()
    for second in 1...3 as ClosedRange<Int64> {
      ring.append(
        Fix(
          acquired: Instant(microseconds: second),
          coordinate: Coordinate(latitude_e9: second, longitude_e9: 0)))
    }
    return memory.bytes
  }

  @Test("the ring file is checked as the service opens it, and is not changed")
  func ring() throws {
    let board = FakeBoard()
    board.make("/var/lib/torpor")
    func finding(_ bytes: [UInt8]?) throws -> Finding {
      if let bytes { board.write(bytes, to: "/var/lib/torpor/ring") }
      let profile = try Self.profile("/dev/nope", [("cache.capacity_fixes", "200")])
      let finding = try #require(board.findings(Self.options(profile))["ring"])
      if let bytes { #expect(board.bytes("/var/lib/torpor/ring") == bytes) }
      return finding
    }
    let none = try finding(nil)
    #expect(none.outcome == .skipped && none.found.contains("torpord creates"))
    let whole = try Self.ring(capacity: 200)
    let right = try finding(whole)
    #expect(right.outcome == .passed && right.found == "3 of 200 slots in use")
    let blank = try finding([UInt8](repeating: 0, count: whole.count))
    #expect(blank.outcome == .passed && blank.found.contains("none written"))
    var half = whole
    half[600] ^= 1
    half[40] ^= 1
    let repaired = try finding(half)
    #expect(repaired.outcome == .passed && repaired.found.contains("headers are damaged"))
    let other = try finding(try Self.ring(capacity: 100))
    #expect(other.outcome == .failed && other.suggestion?.contains("capacity_fixes = 100") == true)
    let foreign = try finding([UInt8](repeating: 0x55, count: whole.count))
    #expect(
      foreign.outcome == .failed && foreign.suggestion?.contains("undelivered fixes") == true)
    let short = try finding([UInt8](whole.dropLast()))
    #expect(short.outcome == .failed && short.found.contains("not the size of a ring"))
    board.remove("/var/lib/torpor/ring")
    board.link("/var/lib/torpor/ring", to: "/dev/null")
    #expect(try finding(nil).found.contains("is not a regular file"))
  }

  // MARK: The serial line

  @Test("a missing line: the finding lists existing lines, without a PC's unused ports")
  func missingLine() throws {
    let board = FakeBoard()
    board.link("/dev/ttyUSB0", to: "/dev/null")
    board.link("/dev/ttyS5", to: "/dev/zero")
    board.write("0\n", to: "/sys/class/tty/ttyS5/type")
    let findings = board.findings(Self.options(line: "/dev/ttyAMA0"))
    let line = try #require(findings["serial line"])
    #expect(line.outcome == .failed && line.found.contains("serial lines found: /dev/ttyUSB0"))
    #expect(!line.found.contains("ttyS5"))
    #expect(findings["receiver"]?.outcome == .skipped)
  }

  @Test(
    "console, login and gpsd on the line: each fails, with how to release the line",
    arguments: [true, false])
  func inUse(_ isSpecified: Bool) throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    board.link("/dev/serial0", to: "ttyAMA0")
    board.write("tty1 ttyAMA0\n", to: "/sys/class/tty/console/active")
    board.link(
      "/etc/systemd/system/getty.target.wants/serial-getty@ttyAMA0.service", to: "/nowhere")
    board.process(512, "gpsd", holding: line.path)
    board.process(513, "sshd", holding: "/dev/null")
    let findings = board.findings(Self.options(line: isSpecified ? "/dev/serial0" : nil))
    let outcome: Finding.Outcome = isSpecified ? .failed : .skipped
    #expect(findings["console"]?.outcome == outcome)
    #expect(findings["console"]?.suggestion?.contains("console=ttyAMA0") == true)
    #expect(findings["login"]?.outcome == outcome)
    #expect(
      findings["login"]?.suggestion == "sudo systemctl disable --now serial-getty@ttyAMA0.service")
    #expect(findings["holder"]?.outcome == outcome)
    #expect(findings["holder"]?.found.contains("gpsd (process 512)") == true)
    #expect(
      findings["holder"]?.suggestion == "sudo systemctl disable --now gpsd.socket gpsd.service")
    #expect(findings.filter { $0.name == "holder" }.count == 1, "others hold other files")
    #expect(findings["receiver"]?.outcome == (isSpecified ? .skipped : .failed))
    guard !isSpecified else { return }
    // How to release the line comes first, before suggestions to check other lines.
    let suggestions = findings.compactMap(\.suggestion)
    #expect(suggestions.first?.contains("console=ttyAMA0") == true, "\(suggestions)")
    #expect(findings["receiver"]?.suggestion == findings["console"]?.suggestion)
    #expect(findings["serial lines"]?.suggestion == nil)
  }

  @Test("a console that is only in the kernel's command line fails")
  func commandLine() {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyS0", to: line.path)
    board.write("quiet console=ttyS0,115200n8 console=tty1", to: "/proc/cmdline")
    #expect(board.findings(Self.options(line: "/dev/ttyS0"))["console"]?.outcome == .failed)
    board.write("quiet console=ttyS01", to: "/proc/cmdline")
    #expect(board.findings(Self.options(line: "/dev/ttyS0"))["console"] == nil)
  }

  @Test("a line that torpord itself has open does not fail")
  func service() {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    board.process(700, "torpord", holding: line.path)
    let findings = board.findings(Self.options(line: "/dev/ttyAMA0"))
    #expect(findings["service"]?.found.contains("torpord (process 700)") == true)
    #expect(findings["service"]?.suggestion?.contains("systemctl stop torpord") == true)
    #expect(findings["holder"]?.outcome == .skipped && findings["receiver"]?.outcome == .skipped)
    #expect(!findings.contains { $0.outcome == .failed })
  }

  @Test("a line that another program has locked fails")
  func busy() throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    let other = unsafe open(line.path, O_RDWR | O_NOCTTY)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    let findings = board.findings(Self.options(line: "/dev/ttyAMA0"))
    #expect(findings["serial line"]?.outcome == .failed)
  }

  @Test("a file that is not a serial line fails, without a suggestion to stop its holders")
  func noLine() throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyUSB0", to: line.path)
    board.write("", to: "/dev/ttyS9")
    board.link("/dev/ttyS8", to: "/dev/null")
    board.make("/dev/folder")
    #expect(unsafe mkfifo(board.files.fullPath("/dev/pipe"), 0o600) == 0)
    board.link("/dev/people", to: "/dev/tty")
    board.process(512, "sshd", holding: "/dev/null")
    for (name, what) in [
      ("ttyS9", "a file"), ("ttyS8", "another kind of device"), ("folder", "a folder"),
      ("pipe", "a pipe, a socket or a disk"), ("people", "an interactive terminal"),
    ] {
      let findings = board.findings(Self.options(line: "/dev/\(name)"))
      let found = try #require(findings["serial line"])
      #expect(found.outcome == .failed)
      #expect(
        found.found
          == "'/dev/\(name)' is \(what) and not a serial line; "
          + "serial lines found: /dev/ttyUSB0, /dev/ttyS8")
      #expect(found.suggestion?.contains("specify the receiver's serial device") == true)
      #expect(findings["holder"] == nil && findings["receiver"]?.outcome == .skipped)
    }
  }

  // MARK: The receiver

  @Test("a silent line fails with a suggestion of what to check first")
  func silence() throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    let silent = try #require(board.findings(Self.options(line: "/dev/ttyAMA0"))["receiver"])
    #expect(silent.outcome == .failed && silent.suggestion?.contains("TX and RX") == true)
    // Without --line it is one of the scanned lines.
    let searched = try #require(board.findings(Self.options())["receiver"])
    #expect(searched.outcome == .failed && searched.found == "no receiver detected on /dev/ttyAMA0")
  }

  @Test(
    "the program that listens on gpsd's port is named",
    arguments: [
      ("gpsd", false, Finding.Outcome.skipped), ("torpor-gpsd", false, .passed),
      ("systemd", false, .passed), ("systemd", true, .skipped),
    ])
  func gpsdPort(_ name: String, _ isForGPSD: Bool, _ outcome: Finding.Outcome) {
    let board = FakeBoard()
    if isForGPSD {
      board.write(
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
          + "0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/gpsd.sock\n",
        to: "/proc/net/unix")
    }
    board.write(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        + "   0: 0100007F:0B83 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n",
      to: "/proc/net/tcp")
    board.process(512, name)
    board.link("/proc/512/fd/4", to: "socket:[777]")
    let finding = board.findings(Self.options(line: nil))["gpsd port"]
    #expect(finding?.outcome == outcome)
    #expect(finding?.found.contains("\(name) (process 512)") == true)
    if outcome == .skipped {
      #expect(finding?.suggestion?.contains("disable --now gpsd.socket gpsd.service") == true)
    }
    board.remove("/proc/net/tcp")
    #expect(board.findings(Self.options(line: nil))["gpsd port"] == nil)
  }

  @Test("with an invalid profile, checks that depend on it are skipped and make no statement")
  func invalidProfile() throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    board.write("Battery\n", to: "/sys/class/power_supply/BAT1/type")
    board.write("55\n", to: "/sys/class/power_supply/BAT1/capacity")
    var options = Self.options()
    options.isProfileInvalid = true
    let findings = board.findings(options)
    for name in ["GPIO chip", "receiver", "battery"] {
      let finding = try #require(findings[name])
      #expect(finding.outcome == .skipped, "\(name)")
      #expect(finding.found == "not checked: the profile is not valid", "\(name)")
    }
    #expect(findings["receiver"]?.suggestion?.contains("--line") == true)
    #expect(line.received.isEmpty && findings["serial lines"] == nil)
    #expect(!findings.contains { $0.found.contains("the profile names") })
    // A line given with --line needs no profile.
    options.line = "/dev/ttyAMA0"
    line.send(ReceiverScanTests.position + ReceiverScanTests.position)
    let named = board.findings(options)
    #expect(named["receiver"]?.outcome == .passed)
    #expect(named["times"]?.found == "not checked: the profile is not valid")
  }

  // MARK: Lines, battery, disk

  @Test("free, held and missing GPIO lines and a chip without permission are distinguished")
  func pins() throws {
    let board = FakeBoard()
    let profile = try Self.profile(
      "/dev/ttyAMA0",
      [
        ("receiver.family", "ublox-m10"), ("receiver.wake_line", "WAKE"),
        ("receiver.supply_line", "SUPPLY"), ("motion.line", "MOTION"),
      ])
    let findings = board.findings(
      Self.options(profile),
      pins: .chip { line throws(GPIOFault) in
        if line.text == "MOTION" { throw .noLine(line) }
        return line.text == "SUPPLY" ? "leds-gpio" : nil
      })
    #expect(findings["GPIO chip"]?.outcome == .passed)
    #expect(findings["wake_line"]?.outcome == .passed)
    #expect(findings["supply_line"]?.found == "SUPPLY is held by leds-gpio")
    #expect(findings["motion line"]?.suggestion?.contains("gpio-line-names") == true)
    let denied = GPIOFault.notPermitted(path: "/dev/gpiochip0", group: "gpio")
    let closed = board.findings(
      Self.options(profile), pins: .chip(fault: denied) { _ throws(GPIOFault) in throw denied })
    for name in ["GPIO chip", "wake_line", "supply_line", "motion line"] {
      #expect(closed[name]?.outcome == .failed)
      #expect(closed[name]?.suggestion?.contains("to the group 'gpio'") == true, "\(name)")
    }
    let none = board.findings(Self.options(profile))
    #expect(none["GPIO chip"]?.outcome == .failed && none["wake_line"] == nil)
    let heldByService = board.findings(
      Self.options(profile), pins: .chip { _ throws(GPIOFault) in "torpord" })
    #expect(heldByService["supply_line"]?.outcome == .passed)
  }

  @Test("lines excluded with --no-pins are reported as excluded, not as missing")
  func excludedLines() throws {
    let board = FakeBoard()
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    let profile = try Self.profile(
      "/dev/ttyAMA0", [("receiver.supply_line", "SUPPLY"), ("motion.line", "MOTION")])
    var options = Self.options(profile)
    options.excludesGPIO = true
    let pins = GPIOAccess.chip { line throws(GPIOFault) in throw .noLine(line) }
    let silent = board.findings(options, pins: pins)
    #expect(
      silent["GPIO chip"]
        == Finding(
          "GPIO chip", .skipped,
          "not checked because of --no-pins; excluded lines: supply_line SUPPLY, motion line MOTION"
        ))
    #expect(silent["supply_line"] == nil)
    #expect(
      silent["receiver"]?.suggestion?.contains("--no-pins excludes supply_line SUPPLY") == true)
    line.send(ReceiverScanTests.position + ReceiverScanTests.position)
    let doctor = board.examined(options, pins: pins)
    #expect(
      doctor.findings["times"]?.found == "not measured: --no-pins excludes supply_line SUPPLY")
    // Excluded lines stay in the proposed profile.
    let proposal = try #require(try ProposedProfile(doctor, name: "other"))
    #expect(try proposal.new.profile(file: "a.toml").receiver?.supplyLine == "SUPPLY")
  }

  @Test("PWR-10: a missing gauge fails, and an existing one that the profile omits is suggested")
  func battery() throws {
    let board = FakeBoard()
    let plain = try Self.profile("/dev/ttyAMA0")
    let gauged = try Self.profile("/dev/ttyAMA0", [("battery.gauge", "BAT0")])
    #expect(board.findings(Self.options(gauged))["battery"]?.suggestion?.contains("driver") == true)
    board.write("Battery\n", to: "/sys/class/power_supply/BAT1/type")
    board.write("55\n", to: "/sys/class/power_supply/BAT1/capacity")
    board.write("Mains\n", to: "/sys/class/power_supply/AC/type")
    let other = try #require(board.findings(Self.options(gauged))["battery"])
    #expect(other.outcome == .failed && other.suggestion == "gauge = \"BAT1\" in [battery]")
    let unnamed = try #require(board.findings(Self.options(plain))["battery"])
    #expect(unnamed.outcome == .passed && unnamed.suggestion?.contains("BAT1") == true)
    board.write("Battery\n", to: "/sys/class/power_supply/BAT0/type")
    board.write("81\n", to: "/sys/class/power_supply/BAT0/capacity")
    #expect(board.findings(Self.options(gauged))["battery"]?.found == "BAT0 reports 81 %")
  }

  @Test("RNG-1: a disk without enough space for the ring fails")
  func disk() throws {
    let board = FakeBoard()
    #expect(board.findings(Self.options())["state"]?.outcome == .passed)
    board.make("/var/lib/torpor")
    #expect(board.findings(Self.options())["state"]?.outcome == .passed)
    board.write("", to: "/var/lib/file")
    for path in ["/var/lib/file", "/var/lib/file/torpor"] {
      var options = Self.options()
      options.state = path
      var doctor = Doctor(options, files: board.files, gpio: GPIOAccess.none, timeouts: .init())
      doctor.examineState()
      #expect(doctor.findings["state"]?.outcome == .failed)
      #expect(doctor.findings["state"]?.found == "'/var/lib/file' is a file and not a folder")
    }
    var options = Self.options()
    options.state = "/proc"
    // /proc is not a disk and has no free space.
    var doctor = Doctor(options, files: BoardFiles(), gpio: GPIOAccess.none, timeouts: .init())
    doctor.examineState()
    #expect(doctor.findings["state"]?.outcome == .failed)
  }

  // MARK: Sleep

  @Test("PWR-9: sleep states of the kernel are compared with the profile")
  func sleep() throws {
    let board = FakeBoard()
    let plain = try Self.profile("/dev/ttyAMA0")
    let sleeping = try Self.profile(
      "/dev/ttyAMA0",
      [("board.suspended", "yes"), ("board.suspended.wakes_on", "alarm, bytes")])
    let none = board.findings(Self.options(plain))
    #expect(none["suspend"]?.outcome == .skipped && none["alarm"]?.outcome == .skipped)
    let refused = board.findings(Self.options(sleeping))
    #expect(refused["suspend"]?.suggestion?.contains("remove [board.suspended] from") == true)
    #expect(refused["alarm"]?.outcome == .failed)
    #expect(refused["wake by bytes"]?.outcome == .skipped, "the line does not exist")
    #expect(
      refused["wake by bytes"]?.found == "'/dev/ttyAMA0' is not an existing serial line, see above")
    let line = FakeLine()
    board.link("/dev/ttyAMA0", to: line.path)
    let onExistingLine = try #require(board.findings(Self.options(sleeping))["wake by bytes"])
    #expect(onExistingLine.outcome == .failed)
    #expect(onExistingLine.found.contains("cannot wake the board"))

    board.write("freeze mem\n", to: "/sys/power/state")
    board.write("s2idle [deep]\n", to: "/sys/power/mem_sleep")
    #expect(board.findings(Self.options(sleeping))["suspend"]?.outcome == .failed, "no count")
    board.write("0\n", to: "/sys/power/wakeup_count")
    board.write("", to: "/sys/class/rtc/rtc0/wakealarm")
    board.write("1000\n", to: "/sys/class/rtc/rtc0/since_epoch")
    board.write("disabled\n", to: "/sys/class/tty/ttyAMA0/power/wakeup")
    let supported = board.findings(Self.options(sleeping))
    #expect(supported["suspend"]?.found == "supported by the kernel: mem (deep)")
    #expect(supported["suspend"]?.suggestion == nil && supported["alarm"]?.outcome == .passed)
    #expect(supported["sleep"]?.outcome == .skipped, "suspend is tried only on request")
    let unused = board.findings(Self.options(plain))
    #expect(unused["suspend"]?.outcome == .passed && unused["suspend"]?.suggestion != nil)
  }

  @Test("a suspended state that the kernel does not support is not in the proposed profile")
  func proposedSleep() throws {
    let board = FakeBoard()
    let sleeping = try Self.profile("/dev/ttyAMA0", [("board.suspended", "yes")])
    let proposal = try #require(
      try ProposedProfile(board.examined(Self.options(sleeping)), name: "other"))
    #expect(proposal.changedPaths == ["board.suspended"] && proposal.new.name == "other")
    let read = try BoardProfile.parse(proposal.text(file: "a.toml"), file: "a.toml")
    #expect(read.board.suspended == nil && read.receiver == sleeping.receiver)
    #expect(try ProposedProfile(board.examined(Self.options()), name: nil) == nil)
  }
}
