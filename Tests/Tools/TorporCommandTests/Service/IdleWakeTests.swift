import Foundation
import TestSupport
import Testing

/// Programs that wait for locations do not wake the board, and survive the service.
@Suite("Programs that wait for locations", .tags(.process, .realTime))
struct IdleWakeTests {
  /// Sends fixes until each program has printed a location; the programs that printed none of 300 fixes.
  private func silent(
    _ programs: [String: Running], _ daemon: Daemon, from start: Int64
  ) -> [String] {
    var waiting = programs
    for second in start..<start + 300 where !waiting.isEmpty {
      daemon.sendFix(second)
      usleep(50_000)
      for (name, program) in waiting {
        while let line = program.line(within: 0) {
          if line.contains(" 52.") { waiting[name] = nil }
        }
      }
    }
    return waiting.keys.sorted()
  }

  @Test(
    "BKG-20, LIV-12: programs are not woken while there are no locations, and get them again after the service was stopped or killed"
  )
  func rest() throws {
    let daemon = try #require(Daemon())
    var programs: [String: Running] = [:]
    for (index, shape) in CoreLocationProgramTests.shapes.enumerated() {
      let variables = ["TORPOR_SOCKET=\(daemon.socket)", "TORPOR_CLIENT=rest-\(index)"]
      programs["\(shape)"] = Running(
        variables + [builtProgram(shape.program)] + shape.arguments, program: "/usr/bin/env")
    }
    #expect(silent(programs, daemon, from: 0) == [])
    // A thread that ran the main queue of dispatchMain() ends after 5 s without work.
    sleep(7)
    let before = programs.mapValues(\.switches)
    sleep(10)
    for (name, program) in programs { #expect(program.switches == before[name], "\(name)") }
    daemon.pause(seconds: 1)
    #expect(silent(programs, daemon, from: 400) == [], "after SIGSTOP")
    daemon.kill()
    #expect(silent(programs, daemon, from: 800) == [], "after SIGKILL")
  }
}
