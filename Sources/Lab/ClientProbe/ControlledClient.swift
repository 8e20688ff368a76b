import CLinux
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import TextFormats

/// A client that executes commands from standard input and prints each notice that it receives, one line each.
struct ControlledClient: ~Copyable {
  private var session: ClientSession
  private var inputLine: [UInt8] = []
  /// Whether each notice of fixes is acknowledged on arrival.
  private var acknowledges = false
  /// Number of consecutive reads at which standard input was at its end.
  private var endOfInputCount = 0
  /// Limit of ``endOfInputCount``, at 50 ms per read. After a suspend of a virtual machine, its virtio ports are at
  /// their end until the host has reconnected them.
  private static let endOfInputLimit = 200

  init(_ path: String, _ name: String) throws(ClientError) {
    var session = try ClientSession(name: name, path: path)
    try session.subscribe()
    self.session = session
  }

  /// Runs until standard input has been at its end for ten seconds.
  mutating func run() throws(ClientError) {
    printLine("ready")
    while true {
      var waiting = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&waiting, 2, -1) >= 0 || errno == EINTR else { return }
      if waiting[1].revents != 0 {
        while let notice = try session.nextNotice(within: .zero) { try printNotice(notice) }
      }
      if waiting[0].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else {
          inputLine.removeAll()
          endOfInputCount += 1
          if endOfInputCount > ControlledClient.endOfInputLimit { return }
          usleep(50_000)
          continue
        }
        endOfInputCount = 0
        for byte in bytes[..<count] { try handleByte(byte) }
      }
    }
  }

  private mutating func handleByte(_ byte: UInt8) throws(ClientError) {
    guard byte == 0x0A else { return inputLine.append(byte) }
    let line = String(decoding: inputLine, as: UTF8.self)
    inputLine.removeAll()
    guard !line.isEmpty else { return }
    do throws(ClientError) {
      try execute(line.split(separator: " ").map(String.init))
    } catch .refused(let error) {
      printLine("refused \(line): \(error)")
    }
  }

  private mutating func execute(_ words: [String]) throws(ClientError) {
    switch words[0] {
    case "start": try call(.startUpdating)
    case "stop": try call(.stopUpdating)
    case "significant": try call(.startSignificantChange)
    case "background": try call(.setExecution(.background))
    case "foreground": try call(.setExecution(.foreground))
    case "defer":
      try call(
        .allowDeferred(
          distance: Double(words[1]) ?? .greatestFiniteMagnitude,
          timeout: Double(words[2]) ?? .greatestFiniteMagnitude))
    case "settle":
      guard let generation = UInt32(words[1]), let sequence = UInt64(words[2]) else { break }
      try call(.acknowledge(FixName(generation: generation, sequence: sequence)))
      printLine("settled \(generation) \(sequence)")
    case "acknowledge":
      acknowledges = true
      printLine("ok")
    case "wakes": try printWakes()
    case "clocks":
      printLine("clocks \(clinux_boot_us()) \(clinux_monotonic_us())")
      printLine("ok")
    case "light": try call(.openBackgroundSession)
    case "dark": try call(.closeBackgroundSession)
    default: printLine("refused \(words[0])")
    }
  }

  private mutating func call(_ call: WireCall) throws(ClientError) {
    try session.call(call)
    printLine("ok")
  }

  /// Prints the number of wakes per reason, the time per board state in milliseconds, and the total number of wakes.
  private mutating func printWakes() throws(ClientError) {
    let energy = try session.getEnergy()
    let wakes = energy.wakes.map { "\($0)" }.joined(separator: " ")
    let times = energy.boardTime.map { "\($0.microseconds / 1_000)" }.joined(separator: " ")
    printLine("wakes \(wakes) \(times) \(energy.hostWakes)")
    printLine("ok")
  }

  private mutating func printNotice(_ notice: WireNotice) throws(ClientError) {
    switch notice {
    case .fixes(let fixes):
      printLine("batch \(fixes.count)")
      for fix in fixes {
        printLine(
          "told \(fix.name.generation) \(fix.name.sequence) \(fix.fix.utc?.microseconds ?? 0) "
            + "\(fix.fix.acquired.microseconds)")
      }
      if acknowledges, let last = fixes.last { try session.acknowledge(last.name) }
    case .finished(let code): printLine("finished \(code.map { "\($0.rawValue)" } ?? "ok")")
    case .gap(let gap):
      printLine(
        "gap \(gap.count) \(gap.range.lowerBound) \(gap.range.upperBound) \(gap.mayBeMore) "
          + "\(gap.from?.utc?.microseconds ?? 0)")
    case .failure(let code): printLine("failed \(code.rawValue)")
    case .degraded(let levels): printLine("degraded \(levels.rawValue)")
    case .paused: printLine("paused")
    case .resumed: printLine("resumed")
    case .report(let fix):
      printLine(
        "report \(fix.name.generation) \(fix.name.sequence) \(fix.fix.utc?.microseconds ?? 0)")
    case .visit, .region, .live, .authorization, .session, .takenOver: printLine("other")
    }
  }
}
