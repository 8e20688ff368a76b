import Foundation
import TestSupport
import Testing

/// Programs that wait for locations do not wake the board.
@Suite("Programs that wait for locations", .tags(.process, .realTime))
struct IdleWakeTests {
  /// Each program shape: the probe and its argument.
  static let shapes = [
    ["CoreLocationProbe", "run-loop", "update"], ["CoreLocationProbe", "dispatch-main", "update"],
    ["CoreLocationProbe", "thread", "update"], ["CoreLocationProbe", "task"],
    ["CoreLocationAsyncProbe", "live"], ["CoreLocationAsyncProbe", "delegate"],
  ]

  /// Starts a probe as a client of its own.
  private func start(_ shape: [String], _ daemon: Daemon) -> Running {
    let variables = ["TORPOR_SOCKET=\(daemon.socket)", "TORPOR_CLIENT=\(shape[1])"]
    return Running(
      variables + [builtProgram(shape[0])] + shape.dropFirst(), program: "/usr/bin/env")
  }

  /// Sends fixes from this second on until the probe prints a location; whether it does within 300 fixes.
  private func delivers(_ running: Running, _ daemon: Daemon, from start: Int64 = 0) -> Bool {
    for second in start..<start + 300 {
      daemon.sendFix(second)
      while let line = running.line(within: 0.05) { if line.contains(" 52.") { return true } }
    }
    return false
  }

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
    let running = start(shape, daemon)
    #expect(delivers(running, daemon), "\(running.errors)")
    while running.line(within: 1) != nil {}
    let before = waits(of: running.process)
    usleep(10_000_000)
    let after = waits(of: running.process)
    #expect(after == before, "woken \(after - before) times in 10 s")
  }

  @Test(
    "BKG-20: each shape of program gets locations again after the service was stopped and killed",
    arguments: shapes)
  func recovery(_ shape: [String]) throws {
    let daemon = try #require(Daemon())
    let running = start(shape, daemon)
    #expect(delivers(running, daemon), "\(running.errors)")
    daemon.pause(seconds: 1)
    #expect(delivers(running, daemon, from: 400), "after SIGSTOP: \(running.errors)")
    daemon.kill()
    #expect(delivers(running, daemon, from: 800), "after SIGKILL: \(running.errors)")
  }
}
