import BoardProfiles
import GNSSProtocols
import Glibc
import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats

// Decodes recordings and simulates days with the core, and writes the complete output, so that two processors
// can be compared byte by byte (Docs/HowTo/check-arm64.md). Does not use Foundation.
//
//   CoreProbe deferred PROFILE OUT      a simulated day on a board, with a client that defers every fix:
//                                       OUT.trace, OUT.ring, and OUT.bytes, sent by the receiver
//   CoreProbe visits PROFILE OUT        the same with a client that monitors visits
//   CoreProbe decode PROFILE FILE OUT   a recording: OUT.epochs; replayed through the engine, OUT.trace and OUT.ring

/// Ends the program with a message.
func fail(_ message: String) -> Never {
  printLine("CoreProbe: \(message)", to: STDERR_FILENO)
  exit(1)
}

/// Reads a whole file.
func read(_ path: String) -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { fail("'\(path)' cannot be opened: errno \(errno)") }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var block = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe Glibc.read(descriptor, &block, block.count)
    guard count >= 0 else { fail("'\(path)' cannot be read: errno \(errno)") }
    guard count > 0 else { return bytes }
    bytes += block[..<count]
  }
}

/// Writes a whole file.
func write(_ bytes: [UInt8], to path: String) {
  let code = TextFile.replace(path, with: bytes, for: .all)
  guard code == 0 else { fail("'\(path)' cannot be written: errno \(code)") }
}

/// Lines of integers and words. Does not use reflection, because a day has half a million lines and one of the two
/// processors is emulated.
struct TextLines: ~Copyable {
  private var text = TextBuffer()

  var bytes: [UInt8] { text.bytes }

  mutating func add(_ value: some BinaryInteger) {
    text.add(Int64(value))
    text.add(byte: UInt8(ascii: " "))
  }

  mutating func add(_ value: (some BinaryInteger)?) {
    if let value { add(value) } else { add("-") }
  }

  mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }

  mutating func add(_ word: String) {
    text.add(word)
    text.add(byte: UInt8(ascii: " "))
  }

  mutating func end() { text.add(byte: UInt8(ascii: "\n")) }
}

extension TextLines {
  mutating func add(_ fix: Fix) {
    add(fix.acquired.microseconds)
    add(fix.utc?.microseconds)
    add(fix.coordinate.latitude_e9)
    add(fix.coordinate.longitude_e9)
    let measured = [
      fix.ellipsoidalAltitude_mm, fix.altitude_mm, fix.speed_mmps, fix.course_e4,
      fix.horizontalAccuracy_mm, fix.verticalAccuracy_mm, fix.speedAccuracy_mmps,
      fix.courseAccuracy_e2,
    ]
    for value in measured { add(value) }
    add(fix.satellites)
    add(fix.mode.rawValue)
    add(fix.quality.rawValue)
    add(fix.isDateUncertain)
    add(fix.isSimulated)
  }

  mutating func add(_ epoch: Epoch) {
    add(epoch.mode.rawValue)
    add(epoch.origin.rawValue)
    add(epoch.isDateUncertain)
    add(epoch.utc?.microseconds)
    add(epoch.timeOfDay_us)
    for value in [epoch.hdop_e2, epoch.vdop_e2, epoch.pdop_e2] { add(value) }
    for value in [epoch.satellitesInView, epoch.meanSignal_dBHz, epoch.bestSignal_dBHz] {
      add(value)
    }
    add(epoch.geoidSeparation_mm)
    add(epoch.climb_mmps)
    add(epoch.timeAccuracy_ns)
    add(epoch.latitudeError_mm)
    add(epoch.longitudeError_mm)
    if let fix = epoch.fix { add(fix) }
    end()
  }

  /// Adds the notice counts in a fixed order, because the order of a dictionary differs between runs.
  mutating func add(_ summary: TraceSummary) {
    var copy = summary
    copy.noticesByKind = [:]
    add("\(copy)")
    for kind in TraceNotice.Kind.allCases { add(summary.noticesByKind[kind]) }
    end()
  }

  mutating func add(_ record: TraceRecord) {
    add(record.at.microseconds)
    switch record.kind {
    case .fix(let fix):
      add(fix.name.generation)
      add(fix.name.sequence)
      add(fix.utc?.microseconds)
      add(fix.coordinate.latitude_e9)
      add(fix.coordinate.longitude_e9)
      add(fix.horizontalAccuracy_mm)
    case .receiver(let state, let power_mw): add("receiver \(state.rawValue) \(power_mw)")
    case .board(let state, let power_mw): add("board \(state.rawValue) \(power_mw)")
    case .wake(let reason): add("wake \(reason.rawValue)")
    case .ack(let client, let sequence):
      add(client)
      add(sequence)
    case .battery, .batteryEmpty, .batch, .finish, .gap, .notice: add("\(record.kind)")
    }
    end()
  }
}

/// Reads a board's profile.
func profile(_ path: String) -> BoardProfile {
  do { return try BoardProfile.load(path: path) } catch { fail("\(error)") }
}

/// Simulates a day with receiver noise.
func simulate(_ service: ScriptedService, _ profile: BoardProfile, _ out: String) {
  let day = Interval.seconds(86_400)
  var plan = SimulationPlan(track: Scenario.day.track(seed: 1, duration: day), duration: day)
  plan.noise = .real
  plan.samplesTimeToFirstFix = true
  var trace = TextLines()
  var sent: [UInt8] = []
  var ring: [UInt8] = []
  var script = ClientScript()
  script.service = service
  let result = SimulationRun(profile, script).simulate(
    plan, bytes: { sent += $0 }, ring: { ring = $0 }, sink: { trace.add($0) })
  guard result.violations.isEmpty, result.summary.fixes > 0 else {
    fail("the day on \(profile.name) failed: \(result.violations)")
  }
  trace.add(result.summary)
  write(trace.bytes, to: out + ".trace")
  write(sent, to: out + ".bytes")
  write(ring, to: out + ".ring")
}

/// Every field of every epoch, one epoch per line.
func epochs(of file: [UInt8], date: CalendarDate?) -> [UInt8] {
  var lines = TextLines()
  var options = EpochOptions()
  options.recordingDate = date
  options.waitsForSentences = true
  var filter = RecordingFilter()
  var decoder = GNSSDecoder()
  var assembler = EpochAssembler(options)
  func add(_ epoch: Epoch?) {
    if let epoch { lines.add(epoch) }
  }
  func add(_ message: GNSSMessage) {
    add(assembler.add(message, at: .boot))
    while let epoch = assembler.next() { add(epoch) }
  }
  let bytes = file.span
  var offset = 0
  while let piece = filter.next(bytes, &offset) {
    guard case .bytes(let range) = piece else { continue }
    let part = bytes.extracting(range)
    var position = 0
    while let message = decoder.next(part, &position) { add(message) }
  }
  while let message = decoder.finish() { add(message) }
  while assembler.isOpen { add(assembler.close()) }
  lines.add("\(decoder.counters)")
  return lines.bytes
}

/// Decodes a recording, then replays it for a client that receives every fix.
func decode(_ profile: BoardProfile, _ path: String, _ out: String) {
  let file = read(path)
  let scan = RecordingScan(file, date: nil, interval: .seconds(1), lineSpeed: 115_200)
  write(epochs(of: file, date: scan.date), to: out + ".epochs")
  var trace = TextLines()
  var ring: [UInt8] = []
  var script = ClientScript()
  script.defers = false
  let result = SimulationRun(profile, script).replay(
    scan, ring: { ring = $0 }, sink: { trace.add($0) })
  trace.add(result.summary)
  write(trace.bytes, to: out + ".trace")
  write(ring, to: out + ".ring")
}

let words = CommandLine.arguments.dropFirst()
let command = Array(words.dropFirst())
switch (words.first, command.count) {
case ("deferred", 2): simulate(.updates, profile(command[0]), command[1])
case ("visits", 2): simulate(.visits, profile(command[0]), command[1])
case ("decode", 3): decode(profile(command[0]), command[1], command[2])
case _: fail("deferred PROFILE OUT, visits PROFILE OUT, or decode PROFILE FILE OUT")
}
