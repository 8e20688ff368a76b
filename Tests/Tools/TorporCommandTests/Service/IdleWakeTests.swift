import Foundation
import TestSupport
import Testing

/// Programs that wait for locations do not wake the board.
@Suite("Programs that wait for locations", .tags(.process, .realTime))
struct IdleWakeTests {
  /// Each program shape: the probe and its argument.
  static let shapes = [
    ["RunLoopProbe", "main-run-loop"], ["RunLoopProbe", "dispatch-main"],
    ["RunLoopProbe", "thread"], ["RunLoopProbe", "task"],
    ["AsyncMainProbe", "live"], ["AsyncMainProbe", "delegate"],
  ]

  /// The number of times that a process has waited, over all its threads.
  private func waits(of process: pid_t) -> Int {
    let folder = "/proc/\(process)/task"
    return TestFolder.names(in: folder).reduce(0) { sum, thread in
      let status = String(decoding: readFile("\(folder)/\(thread)/status"), as: UTF8.self)
      let count = status.firstMatch(of: /\nvoluntary_ctxt_switches:\s*(\d+)/)?.output.1
      return sum + (count.flatMap { Int($0) } ?? 0)
    }
  }

  @Test(
    "LIV-4, RNG-8: each shape of program gets locations, and is not woken while there are none",
    arguments: shapes)
  func idle(_ shape: [String]) throws {
    let daemon = try #require(Daemon())
    let words = [
      "TORPOR_SOCKET=\(daemon.socket)", "TORPOR_CLIENT=\(shape[1])", "stdbuf", "-oL",
      builtProgram(shape[0]), shape[1],
    ]
    let running = Running(words, program: "/usr/bin/env")
    var isDelivered = false
    for second in 0..<200 as Range<Int64> where !isDelivered {
      daemon.sendFix(second)
      isDelivered = running.line(within: 0.05)?.hasPrefix("fix 52.") == true
    }
    #expect(isDelivered, "\(running.errors)")
    while running.line(within: 0.5) != nil {}
    usleep(1_000_000)
    let before = waits(of: running.process)
    usleep(10_000_000)
    let after = waits(of: running.process)
    #expect(after == before, "woken \(after - before) times in 10 s")
  }

  @Test("BKG-20: each shape of program gets locations after the service was killed", arguments: shapes)
  func recovery(_ shape: [String]) throws {
    let daemon = try #require(Daemon())
    let words = [
      "TORPOR_SOCKET=\(daemon.socket)", "TORPOR_CLIENT=\(shape[1])", "stdbuf", "-oL",
      builtProgram(shape[0]), shape[1],
    ]
    let running = Running(words, program: "/usr/bin/env")
    for start in [0, 500] as [Int64] {
      if start > 0 { daemon.kill() }
      var isDelivered = false
      for second in start..<start + 300 where !isDelivered {
        daemon.sendFix(second)
        isDelivered = running.line(within: 0.05)?.hasPrefix("fix 52.") == true
      }
      #expect(isDelivered, "from second \(start): \(running.errors)")
      while running.line(within: 0.2) != nil {}
    }
  }
}
