import BoardProfiles
import DeferralCache
import Glibc
import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats
import UplinkPayload

// Writes the messages of simulated hours, whose sizes `.ci/payload-size` measures and extrapolates to many boards.
//
//   PayloadSize PROFILE OUT   each scenario with a fix in 1, 10 and 60 seconds: OUT/SCENARIO-SECONDS.message;
//                             prints a line for each: scenario, seconds, fixes, bytes

/// Ends the program with a message.
func fail(_ message: String) -> Never {
  printLine("PayloadSize: \(message)", to: STDERR_FILENO)
  exit(1)
}

/// Writes a whole file.
func write(_ bytes: [UInt8], to path: String) {
  let code = TextFile.replace(path, with: bytes, for: .all)
  guard code == 0 else { fail("'\(path)' cannot be written: errno \(code)") }
}

/// The fixes of a ring's bytes, oldest first.
func fixes(inRing bytes: [UInt8], capacity: Int) -> [StoredFix] {
  let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
  defer { unsafe storage.deallocate() }
  unsafe storage.copyBytes(from: bytes)
  var fixes: [StoredFix] = []
  do throws(RingError) {
    let ring = try unsafe FixRing(recovering: storage, capacity: capacity)
    for sequence in ring.tail..<ring.head {
      if let fix = ring.stored(at: sequence) { fixes.append(fix) }
    }
  } catch { fail("the ring cannot be read: \(error)") }
  return fixes
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 2 else { fail("PROFILE OUT") }
guard let profile = try? BoardProfile.load(path: words[0]) else {
  fail("'\(words[0])' is not a profile")
}
guard let device = DeviceName("board-0123456789abcdef") else { fail("a wrong name") }
let hour = Interval.seconds(3_600)
for scenario in [Scenario.still, .walk, .commute, .drive] {
  var plan = SimulationPlan(track: scenario.track(seed: 1, duration: hour), duration: hour)
  plan.noise = .real
  var script = ClientScript()
  script.timeout = hour.seconds
  var ring: [UInt8] = []
  let result = SimulationRun(profile, script).simulate(plan, ring: { ring = $0 })
  guard result.violations.isEmpty else { fail("\(result.violations)") }
  let all = fixes(inRing: ring, capacity: profile.cache.capacity)
  for step in [1, 10, 60] {
    var part: [StoredFix] = []
    for index in stride(from: 0, to: min(all.count, UplinkLimits.fixes), by: step) {
      var fix = all[index]
      fix.name.sequence = UInt64(part.count)
      part.append(fix)
    }
    let message = UplinkMessage(
      device: device, ring: 0xFEDC_BA98_7654_3210, preceding: part.first?.name,
      content: .fixes(part))
    guard let bytes = try? message.encoded() else { fail("\(scenario) cannot be encoded") }
    write(bytes, to: "\(words[1])/\(scenario.rawValue)-\(step).message")
    print(scenario.rawValue, step, part.count, bytes.count)
  }
}
