import BoardDoctor
import BoardHardware
import BoardProfiles
import GNSSProtocols
import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("torpor doctor with an emulated receiver", .serialized, .tags(.process))
struct DoctorCommandTests {
  /// An emulated receiver on its own pseudo-terminal.
  private static func emulated(_ board: String, pins: Bool = false) throws -> (Running, String) {
    let link = Command.directory() + "/gnss"
    let running = Running(
      ["receiver", "--board", board, "--link", link, "--quiet"] + (pins ? ["--pins"] : []))
    _ = try #require(running.line())
    return (running, link)
  }

  private static func end(_ running: Running) {
    running.signal(SIGTERM)
    _ = running.finish()
  }

  @Test("an M10 that matches the profile: no check fails")
  func right() throws {
    let (receiver, link) = try Self.emulated("zero2w-max-m10s")
    defer { Self.end(receiver) }
    let result = Command.run(
      ["doctor", "--board", "zero2w-max-m10s", "--no-pins", "--line", link, "--state", "/"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("pass  receiver            sends NMEA and UBX at 9600 baud"))
    #expect(result.output.contains("pass  identity            u-blox MAX-M10S, firmware ROM SPG"))
    #expect(result.output.contains(" 0 failed"))
  }

  @Test("a profile of another receiver fails with a suggestion; the proposed profile passes")
  func wrong() throws {
    let (receiver, link) = try Self.emulated("zero2w-max-m10s")
    defer { Self.end(receiver) }
    let folder = Command.directory()
    let board = folder + "/slow/profile.toml"
    let created = Command.run([
      "board", "new", "slow", "--yes", "--output", folder, "--set", "receiver.family=ublox-m10",
      "--set", "receiver.line_speed_baud=57600", "--set",
      "receiver.default_line_speed_baud=57600", "--set", "receiver.device=\(link)",
    ])
    #expect(created.status == 0, "\(created.errors)")
    let proposal = folder + "/better.toml"
    let result = Command.run(["doctor", "--board", board, "--state", "/", "--write", proposal])
    #expect(result.status == 1)
    #expect(
      result.output.contains(
        "fail  receiver            it sends NMEA and UBX at 9600 baud; the profile says 57600"))
    #expect(result.output.contains("first: receiver: default_line_speed_baud = 9600 in [receiver]"))
    #expect(Command.run(["board", "check", proposal]).status == 0)
    let again = Command.run(["doctor", "--board", proposal, "--state", "/"])
    #expect(again.status == 0, "\(again.output)")
  }

  @Test("a wrong family is reported first; a speed set by torpord is not reported as the default")
  func causes() throws {
    let (receiver, link) = try Self.emulated("zero2w-max-m10s")
    defer { Self.end(receiver) }
    let folder = Command.directory()
    let created = Command.run([
      "board", "new", "other", "--yes", "--output", folder, "--set", "receiver.family=airoha",
      "--set", "receiver.line_speed_baud=115200", "--set",
      "receiver.default_line_speed_baud=115200", "--set", "receiver.device=\(link)",
    ])
    #expect(created.status == 0, "\(created.errors)")
    let result = Command.run(["doctor", "--board", folder + "/other/profile.toml", "--state", "/"])
    let fails = result.output.split(separator: "\n").filter { $0.hasPrefix("fail") }
    #expect(fails.count == 2, "\(result.output)")
    #expect(fails.first?.contains("identity") == true && fails.last?.contains("receiver") == true)
    #expect(result.output.contains("first: identity: family = \"ublox-m10\" in [receiver]"))
  }

  @Test("a receiver that only streams: without a board, the proposed profile passes")
  func plain() throws {
    let (receiver, link) = try Self.emulated("\(PackageBoards.testFolder)/streaming/profile.toml")
    defer { Self.end(receiver) }
    let proposal = Command.directory() + "/found.toml"
    let result = Command.run(
      ["doctor", "--line", link, "--state", "/", "--write", proposal, "--json"])
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("{\"") && $0.hasSuffix("}") })
    #expect(lines.contains { $0.hasPrefix(#"{"check":"receiver","outcome":"pass","#) })
    #expect(lines.last?.hasPrefix(#"{"pass":"#) == true)
    #expect(Command.run(["board", "check", proposal]).output.contains("found is valid"))
    let profile = try BoardProfile.load(path: proposal)
    #expect(profile.receiver?.device == link && profile.receiver?.family == .passive)
    #expect(profile.receiver?.lineSpeed_baud == 9_600)
  }

  @Test(
    "--timeout is rejected with the reason if no check waits for a first fix",
    arguments: [
      (["--board", "pi4-l76k-hat"], "names no supply_line"), ([], "name the board with --board"),
      (["--board", "zero2w-pa1616s", "--no-pins"], "--no-pins leaves"),
      (["--board", "zero2w-pa1616s", "--quick"], "--quick leaves"),
    ])
  func timeout(_ options: [String], _ reason: String) {
    let result = Command.run(
      ["doctor", "--line", "/dev/nope", "--state", "/", "--timeout", "5"] + options)
    #expect(result.status == 64 && result.errors.contains(reason), "\(result.errors)")
  }

  @Test("an existing file and a profile with errors are not overwritten")
  func notOverwritten() throws {
    let folder = Command.directory()
    let path = folder + "/mine.toml"
    Command.write(Array("keep".utf8), to: path)
    let refused = Command.run(["doctor", "--line", "/dev/nope", "--state", "/", "--write", path])
    #expect(refused.status == 73 && refused.errors.contains("--force replaces it"))
    let wrong = Command.run([
      "doctor", "--board", path, "--line", "/dev/nope", "--state", "/", "--write",
      folder + "/new.toml",
    ])
    #expect(wrong.errors.contains("is invalid; correct it first"), "\(wrong.errors)")
    #expect(Command.read(path) == "keep" && Command.read(folder + "/new.toml") == nil)
  }

  @Test(
    "a receiver's responses identify its family",
    arguments: [
      ("pi4-l76k-hat", ReceiverFamily.casic), ("zero2w-pa1616s", .mtk),
      ("imx8mm-max-m8q", .ubloxM8),
    ])
  func family(_ board: String, _ family: ReceiverFamily) throws {
    let (receiver, link) = try Self.emulated(board)
    defer { Self.end(receiver) }
    let proposal = Command.directory() + "/found.toml"
    _ = Command.run(["doctor", "--line", link, "--state", "/", "--quick", "--write", proposal])
    #expect(try BoardProfile.load(path: proposal).receiver?.family == family)
  }

  @Test("times from power-on to first byte and first fix are measured with a supply line")
  func times() throws {
    let folder = Command.directory()
    let settings = [
      "receiver.family=ublox-m10", "receiver.supply_line=SUPPLY", "receiver.time_to_fix.cold_s=3",
    ]
    let created = Command.run(
      ["board", "new", "fast", "--yes", "--output", folder] + settings.flatMap { ["--set", $0] })
    #expect(created.status == 0, "\(created.errors)")
    let board = folder + "/fast/profile.toml"
    let (receiver, link) = try Self.emulated(board, pins: true)
    defer { Self.end(receiver) }
    var options = Doctor.Options()
    options.profile = try BoardProfile.named(board)
    options.line = link
    options.state = "/"
    options.fixTimeout = .seconds(60)
    let pins = GPIOAccess(
      chips: { ["gpiochip0"] }, check: { _ throws(GPIOFault) in },
      holder: { _ throws(GPIOFault) in nil },
      request: { _, isOn throws(GPIOFault) in
        let drive: GPIOAccess.Drive = { isOn in
          receiver.send(isOn ? "supply on\n" : "supply off\n")
          return true
        }
        _ = drive(isOn)
        return drive
      })
    var doctor = Doctor(options, gpio: pins)
    doctor.examine()
    let byName = Dictionary(doctor.findings.map { ($0.name, $0) }) { first, _ in first }
    #expect(byName["identity"]?.outcome == .passed)
    #expect(byName["first byte"]?.outcome == .passed)
    #expect(byName["first fix"]?.outcome == .passed, "\(doctor.findings)")
    let time = try #require(doctor.facts.timeToFix)
    #expect(time > .seconds(1) && time < .seconds(60))
  }

  @Test("an interrupt ends the command immediately and restores the line")
  func interrupted() throws {
    let (master, first, path) = SerialTests.terminal()
    var slave = first
    try #require(master >= 0)
    defer { for end in [master, slave] { close(end) } }
    func settings() -> [UInt32] {
      var line = termios()
      _ = unsafe tcgetattr(slave, &line)
      return [line.c_iflag, line.c_oflag, line.c_cflag, line.c_lflag, unsafe cfgetospeed(&line)]
    }
    let before = settings()
    // Close this process's descriptor: as root, doctor would report it as a holder.
    close(slave)
    slave = -1
    let doctor = Running(["doctor", "--line", path, "--state", "/"])
    while let line = doctor.line(), !line.contains("serial line") {}
    doctor.signal(SIGINT)
    let end = doctor.finish()
    #expect(end.status == -SIGINT && !end.output.contains("passed"), "\(end)")
    slave = unsafe open(path, O_RDWR | O_NOCTTY)
    #expect(slave >= 0 && settings() == before)
  }

  @Test("a receiver on an unspecified line is detected from its output, and then queried")
  func searched() throws {
    let (receiver, link) = try Self.emulated("zero2w-max-m10s")
    defer { Self.end(receiver) }
    let root = Command.directory()
    unsafe mkdir(root + "/dev", 0o755)
    try #require(unsafe symlink(link, root + "/dev/ttyUSB0") == 0)
    var doctor = Doctor(Doctor.Options(), files: BoardFiles(root: root))
    doctor.examine()
    #expect(doctor.facts.device == "/dev/ttyUSB0" && doctor.facts.identity?.model == "MAX-M10S")
  }

  @Test("invalid options, an invalid profile and a missing line have their own exit codes")
  func badUse() throws {
    #expect(Command.run(["doctor", "--board", "nowhere"]).status == 78)
    #expect(Command.run(["doctor", "--timeout", "0"]).status == 64)
    #expect(Command.run(["doctor", "--timeout", "unlimited"]).status == 64)
    let folder = Command.directory()
    let bad = Command.run(["doctor", "--write", folder + "/No Board.toml"])
    #expect(bad.status == 64 && bad.errors.contains("lower-case letters"))
    Command.write(Array("name = 1\n".utf8), to: folder + "/bad.toml")
    let broken = Command.run(
      ["doctor", "--board", folder + "/bad.toml", "--line", folder + "/none", "--state", "/"])
    #expect(broken.status == 1)
    #expect(broken.output.contains("fail  profile") && broken.output.contains("bad.toml:1:"))
    #expect(broken.output.contains("GPIO chip           not checked: the profile is not valid"))
    #expect(!broken.output.contains("names no line"))
    let none = Command.run(
      ["doctor", "--line", folder + "/none", "--write", folder + "/new.toml", "--state", "/"])
    #expect(none.status == 69 && Command.read(folder + "/new.toml") == nil)
  }
}
