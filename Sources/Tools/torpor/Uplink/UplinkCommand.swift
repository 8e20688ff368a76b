import ArgumentParser
import Glibc
import LocationTypes
import TextFormats

/// `torpor uplink`: the group of commands for the uploads of torpor-uplink.
struct UplinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uplink",
    abstract: "Show and check the uploads of fixes to a store.",
    discussion: """
      The program torpor-uplink, a package of its own, sends the fixes of this board to a store, as \
      /etc/torpor/uplink.toml specifies.
      """,
    subcommands: [UplinkStatusCommand.self, UplinkCheckCommand.self]
  )
}

/// `torpor uplink status`.
struct UplinkStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the last upload, what is not confirmed yet, and the last problem.",
    discussion: """
      torpor-uplink writes its status after each upload. The numbers count since it was started.
      """)

  /// Where the unit's program writes its status.
  static let standardFile = "/run/torpor-uplink/status.json"

  @Option(
    help: ArgumentHelp(
      "The status that torpor-uplink --status writes.", valueName: "file"), completion: .file())
  var file = UplinkStatusCommand.standardFile

  @Flag(help: "Print the JSON object that torpor-uplink has written.")
  var json = false

  func run() throws {
    guard POSIX.kind(of: file) == .regular else {
      throw CommandError(
        .unavailable,
        "there is no status at '\(file)': torpor-uplink does not run; "
          + "see `systemctl status torpor-uplink`")
    }
    var input = try InputFile(file, expected: "the status of torpor-uplink")
    let bytes = try input.readAll(limit: 65_536)
    guard let status = UplinkStatusText(bytes) else {
      throw CommandError(.protocolFault, "'\(file)' is not a status of torpor-uplink")
    }
    try Output.print(json ? bytes : Array(status.text(at: POSIX.utc).utf8))
  }
}

/// `torpor uplink check`.
struct UplinkCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Connect to each destination, send a test message, and wait for the store's answer.",
    discussion: """
      Prints a line for each destination: that it works, or what is wrong and what helps. Run it as \
      root: other users may not read passwords and keys.
      """)

  @Option(
    help: ArgumentHelp("The settings.", valueName: "file"), completion: .file())
  var config = "/etc/torpor/uplink.toml"

  func run() throws {
    let program = "torpor-uplink"
    let arguments = [program, "--check", "--config", config]
    // The program next to this one, then that of PATH.
    let folder = POSIX.programPath.map(POSIX.parent)
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    if let folder { _ = unsafe execv("\(folder)/\(program)", pointers) }
    _ = unsafe execvp(program, pointers)
    let reason =
      errno == ENOENT ? "install the package torpor-uplink" : POSIX.reason(errno)
    throw CommandError(.unavailable, "the program torpor-uplink cannot be started: \(reason)")
  }
}

/// Human-readable output of `torpor uplink status`.
struct UplinkStatusText {
  private let device: String
  private let status: JSONValue

  /// Decodes the status; nil if it is none.
  init?(_ bytes: [UInt8]) {
    guard let document = try? JSONDocument(bytes, limits: JSONLimits(nodes: 64)),
      let device = document.root["device"]?.string
    else { return nil }
    self.device = device
    status = document.root
  }

  private func number(_ name: String) -> Int64? { status[name]?.integer }

  private func word(_ name: String) -> String? { status[name]?.string }

  /// Lines with the last upload, what is pending and the problem.
  func text(at now: UTCTime) -> String {
    func since(_ name: String) -> Interval? {
      number(name).map { Interval(microseconds: now.microseconds - $0) }
    }
    func count(_ name: String) -> String { HumanFormat.count(Int(clamping: number(name) ?? 0)) }
    let broker = word("broker").map { " to " + $0 } ?? ""
    let last =
      since("last_upload_us").map { ServiceClock.short(max($0, .zero)) + " ago" + broker }
      ?? "none yet"
    var lines = [
      "board     \(device)", "uploaded  \(last)",
      "total     \(count("fixes")) fixes in \(count("uploads")) uploads",
      "pending   \(count("pending"))",
    ]
    if let problem = word("problem") { lines.append("problem   \(problem)") }
    if let wait = since("next_attempt_us"), let failures = number("failures"), failures > 0 {
      let next = wait < .zero ? "in " + ServiceClock.short(.zero - wait) : "at the next wake"
      lines.append("attempts  \(count("failures")) failed, the next one \(next)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
