import BoardProfiles
import GNSSProtocols
import Glibc
import LocationSimulation
import LocationTypes
import SimulatedHAL

// Decodes recordings and simulates days through the core, and writes everything that comes out of it,
// so that two processors can be compared byte for byte (Docs/HowTo/check-arm64.md). Without Foundation.
//
//   CoreProbe deferred PROFILE OUT      a simulated day of a client that defers every fix, on a board:
//                                       OUT.trace, OUT.ring, and OUT.bytes, which the receiver sent
//   CoreProbe visits PROFILE OUT        the same of a client that monitors visits
//   CoreProbe decode PROFILE FILE OUT   a recording: OUT.epochs; played through the engine, OUT.trace and OUT.ring

/// Ends the program with a message.
func fail(_ message: String) -> Never {
  let bytes = Array("CoreProbe: \(message)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
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
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  guard descriptor >= 0 else { fail("'\(path)' cannot be created: errno \(errno)") }
  defer { close(descriptor) }
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { part in
      unsafe Glibc.write(descriptor, part.baseAddress, part.count)
    }
    guard count > 0 else { fail("'\(path)' cannot be written: errno \(errno)") }
    rest = rest.dropFirst(count)
  }
}

/// Reads a board's profile.
func profile(_ path: String) -> BoardProfile {
  do { return try BoardProfile.load(path: path) } catch { fail("\(error)") }
}

/// A day with the receiver's errors.
func simulate(_ service: ScriptedService, _ profile: BoardProfile, _ out: String) {
  let day = Interval.seconds(86_400)
  var plan = SimulationPlan(track: Scenario.day.track(seed: 1, duration: day), duration: day)
  plan.noise = .real
  plan.samplesTimeToFirstFix = true
  var trace: [UInt8] = []
  var sent: [UInt8] = []
  var ring: [UInt8] = []
  var script = ClientScript()
  script.service = service
  let result = Session(profile, script).simulate(
    plan, bytes: { sent += $0 }, ring: { ring = $0 }, sink: { trace += Array("\($0)\n".utf8) })
  guard result.violations.isEmpty, result.summary.fixes > 0 else {
    fail("the day on \(profile.name) went wrong: \(result.violations)")
  }
  trace += Array("\(result.summary)\n".utf8)
  write(trace, to: out + ".trace")
  write(sent, to: out + ".bytes")
  write(ring, to: out + ".ring")
}

/// Every field of every epoch, one epoch a line.
func epochs(of file: [UInt8], date: CalendarDate?) -> [UInt8] {
  var lines: [UInt8] = []
  var options = EpochOptions()
  options.recordingDate = date
  options.waitsForSentences = true
  var filter = RecordingFilter()
  var decoder = GNSSDecoder()
  var assembler = EpochAssembler(options)
  func add(_ epoch: Epoch?) {
    if let epoch { lines += Array("\(epoch)\n".utf8) }
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
    var place = 0
    while let message = decoder.next(part, &place) { add(message) }
  }
  while let message = decoder.finish() { add(message) }
  while assembler.isOpen { add(assembler.close()) }
  lines += Array("\(decoder.counters)\n".utf8)
  return lines
}

/// Decodes a recording, then plays it to a client that takes every fix.
func decode(_ profile: BoardProfile, _ path: String, _ out: String) {
  let file = read(path)
  let scan = RecordingScan(file, date: nil, interval: .seconds(1), lineSpeed: 115_200)
  write(epochs(of: file, date: scan.date), to: out + ".epochs")
  var trace: [UInt8] = []
  var ring: [UInt8] = []
  var script = ClientScript()
  script.defers = false
  let result = Session(profile, script).replay(
    scan, ring: { ring = $0 }, sink: { trace += Array("\($0)\n".utf8) })
  trace += Array("\(result.summary)\n".utf8)
  write(trace, to: out + ".trace")
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
