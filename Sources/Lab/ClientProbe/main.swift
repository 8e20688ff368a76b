import CLinux
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import TextFormats

// A client program built on LocationClient: for measurements of the service, and for tests that kill clients at
// any time (Docs/Reference/service-cost.md, Docs/HowTo/run-the-gates.md).
//
//   ClientProbe drain SOCKET NAME          reads all undelivered fixes; prints their number, the first and the last
//                                          sequence number, and the time from the call to the end in nanoseconds,
//                                          with a resolution of 1 µs
//   ClientProbe follow SOCKET NAME MODE    receives every fix. MODE selects the acknowledgements: at-once; relaxed
//                                          (batched); or a percentage of fixes, a third of these with a reply
//
//   ClientProbe talk SOCKET NAME           executes commands from standard input: start, stop, significant,
//                                          background, foreground, defer METRES SECONDS (any word means no limit),
//                                          settle GENERATION SEQUENCE (acknowledges), light, dark, wakes, clocks,
//                                          acknowledge (from now on, acknowledges on arrival); prints each notice
//
//   ClientProbe clock SOCKET LINE SECONDS  receives samples of the system clock, as chronyd, and generates pulses on a
//                                          line of gpio-sim; prints both
//
// `follow` prints each action before it performs it, without buffering, and reconnects when the service has ended.

func drain(_ path: String, _ name: String) throws(ClientError) {
  let session = try ClientSession(name: name, path: path)
  let began_us = clinux_monotonic_us()
  var drain = try session.drain()
  var count: UInt64 = 0
  var first: UInt64?
  var last: FixName?
  while let fix = try drain.next() {
    let isNext = last.map {
      $0.generation <= fix.name.generation && $0.sequence < fix.name.sequence
    }
    guard isNext ?? true else { throw .malformed("names out of order") }
    first = first ?? fix.name.sequence
    last = fix.name
    count += 1
  }
  let time_ns = (clinux_monotonic_us() - began_us) * 1_000
  printLine("\(count) \(first ?? 0) \(last?.sequence ?? 0) \(time_ns)")
}

/// How `follow` acknowledges fixes.
enum AcknowledgementMode {
  case policy(AcknowledgementPolicy)
  /// Acknowledges this percentage of fixes.
  case percentage(of100: Int)

  init?(_ word: String) {
    switch word {
    case "at-once": self = .policy(.immediate)
    case "relaxed": self = .policy(.batched)
    default:
      guard let percentage = Int(word), (0...100).contains(percentage) else { return nil }
      self = .percentage(of100: percentage)
    }
  }
}

func handle(
  _ fixes: [StoredFix], _ mode: AcknowledgementMode, _ session: inout ClientSession
) throws(ClientError) {
  for fix in fixes {
    printLine("told \(fix.name.generation) \(fix.name.sequence) \(fix.fix.utc?.microseconds ?? 0)")
    guard case .percentage(let part) = mode, Int.random(in: 0..<100) < part else { continue }
    printLine("acknowledges \(fix.name.generation) \(fix.name.sequence)")
    if Int.random(in: 0..<3) > 0 {
      try session.acknowledge(fix.name)
    } else {
      try session.call(.acknowledge(fix.name))
      printLine("settled \(fix.name.generation) \(fix.name.sequence)")
    }
  }
  if case .policy = mode, let last = fixes.last { try session.acknowledge(last.name) }
}

func follow(_ path: String, _ name: String, _ mode: AcknowledgementMode) throws(ClientError) {
  var session = try ClientSession(name: name, path: path)
  if case .policy(let policy) = mode { session.acknowledgementPolicy = policy }
  printLine("begins")
  try session.subscribe()
  try session.call(.startUpdating)
  printLine("follows")
  while let notice = try session.nextNotice(within: nil) {
    switch notice {
    case .fixes(let fixes): try handle(fixes, mode, &session)
    case .gap(let gap): printLine("gap \(gap.range.lowerBound) \(gap.range.upperBound)")
    default: break
    }
  }
}

func followAll(_ path: String, _ name: String, _ mode: AcknowledgementMode) -> Never {
  while true {
    do throws(ClientError) {
      try follow(path, name, mode)
    } catch {
      switch error {
      case .noService, .noSocket, .disconnected, .system: usleep(5_000)
      default: printLine("fails \(error)")
      }
    }
  }
}

let arguments = CommandLine.arguments
switch arguments.count {
case 4 where arguments[1] == "drain":
  do { try drain(arguments[2], arguments[3]) } catch {
    printLine("\(error)")
    exit(1)
  }
case 5 where arguments[1] == "follow":
  guard let mode = AcknowledgementMode(arguments[4]) else { exit(EX_USAGE) }
  followAll(arguments[2], arguments[3], mode)
case 6 where arguments[1] == "clock":
  exit(
    receiveClockSamples(
      arguments[2], line: arguments[3], utcAtBoot_us: Int64(arguments[4]) ?? 0,
      seconds: Int(arguments[5]) ?? 0))
case 4 where arguments[1] == "talk":
  do throws(ClientError) {
    var talk = try ControlledClient(arguments[2], arguments[3])
    try talk.run()
  } catch {
    printLine("ended \(error)")
    exit(1)
  }
default: exit(EX_USAGE)
}
