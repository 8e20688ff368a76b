import Glibc
import LinuxHAL
import LocationTypes
import LocationWire
import TestSupport
import Testing
import TextFormats

@testable import LocationService

@Suite("Programs that hang up while the rate limit delays their calls")
struct HangUpTests {
  /// Uses up the user's burst, then sends calls without replies, which wait.
  ///
  /// - Parameters:
  ///   - burst: Number of calls answered immediately, in addition to Connect.
  ///   - regions: Number of circles to add; the first one is removed at the end.
  private func send(burst: Int, regions: Int, _ program: Program) {
    var json = JSONOutput()
    for _ in 0..<burst { CallEncoder.encode(.startVisits, to: &json) }
    for number in 0..<regions {
      let call = WireCall.addRegion(.home("r\(number)"), assuming: .unknown)
      CallEncoder.encode(call, oneway: true, to: &json)
    }
    CallEncoder.encode(.removeRegion(.region, name: "r0"), oneway: true, to: &json)
    // In one write: the kernel buffers few small messages and many large ones.
    let count = json.bytes.count
    #expect(program.send(json.bytes) == count)
  }

  private func regions(_ bench: ServiceBench) -> [String] {
    bench.state.rows.regions.all.map(\.name).sorted()
  }

  @Test("RES-6: calls sent before a hang-up are executed in order, at the user's rate")
  func carriedOut() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("tool", of: Users.friend)
    // More than one read returns, with replies that no program reads.
    send(burst: 300, regions: 8, control)
    control.quit()
    watch.quit()
    bench.settle()
    #expect(regions(bench).isEmpty && bench.firstClient?.control != nil)
    #expect(bench.deadline > bench.stage.now && bench.deadline <= bench.stage.now + .seconds(1))
    #expect(bench.readyCount == 0, "no wait reports the closed connection repeatedly")
    bench.pass(22)
    #expect(regions(bench).count < 8)
    bench.pass(6)
    #expect(regions(bench) == (1..<8).map { "r\($0)" })
    #expect(bench.firstClient?.control == nil && bench.connectionCounts[Users.friend] == nil)
    #expect(bench.deadline == .distantFuture)
    // The changes of these calls are as durable as others.
    bench.save()
    let next = try ServiceBench(Users.policy, after: bench.killed())
    #expect(regions(next).count == 7)
  }

  @Test(
    "RES-6: Connect and later calls are executed even if the program exits before they are read")
  func endedBeforeRead() throws {
    let bench = try Users.bench()
    let flood = bench.client("flood", of: Users.friend)
    for _ in 0..<300 { flood.control.send(.startVisits) }
    bench.settle()
    let program = bench.program(of: Users.friend)
    program.send(.connect(name: "tool"), oneway: true)
    program.send(.addRegion(.home(), assuming: .unknown), oneway: true)
    program.quit()
    bench.settle()
    #expect(!bench.clientNames.contains("tool"))
    bench.pass(20)
    #expect(bench.clientNames.contains("tool") && regions(bench) == ["home"])
  }

  @Test("RES-6: calls of a program without permission wait at most 30 s after its hang-up")
  func expired() throws {
    let folder = TestFolder()
    let descriptor = unsafe open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let bench = try Users.bench(log: SystemLog(descriptor, journalStream: nil))
    let (control, watch, _) = bench.client("flood", of: 4_711)
    send(burst: 31, regions: 100, control)
    control.quit()
    watch.quit()
    bench.settle()
    #expect(bench.deadline == .distantFuture, "the board is not kept awake for it")
    bench.pass(29)
    #expect(bench.connectionCounts[4_711] == 1)
    bench.pass(2)
    #expect(bench.connectionCounts[4_711] == nil && bench.firstClient?.control == nil)
    let number = try #require(bench.firstClient).number
    let count = bench.loop.clients.persistence
      .monitoredRegions(of: number, includesState: false).count
    #expect(count >= 20 && count <= 31, "\(count)")
    #expect(bench.connectionDeadline == .distantFuture)
    let log = String(decoding: folder.read("log"), as: UTF8.self)
    #expect(!log.contains("are dropped"), "RES-7: only users with permission cause such a line")
  }

  @Test("RES-6: dropped calls of a user with permission are logged")
  func logged() throws {
    let folder = TestFolder()
    let descriptor = unsafe open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let bench = try Users.bench(log: SystemLog(descriptor, journalStream: nil))
    let programs = (0...ConnectionTable.lingeringPerUser).map { _ in bench.program(of: Users.friend)
    }
    for program in programs { send(burst: 40, regions: 1, program) }
    bench.settle()
    for program in programs { program.quit() }
    bench.settle()
    #expect(bench.connectionCounts[Users.friend] == ConnectionTable.lingeringPerUser)
    let log = String(decoding: folder.read("log"), as: UTF8.self)
    let line = "calls of process \(getpid()) of user \(Users.friend) are dropped"
    #expect(log.contains(line), "\(log)")
  }

  @Test("RES-6: at most 4 connections of a user wait after their hang-up, and count as the user's")
  func number() throws {
    let bench = try Users.bench(subordinates: "4711:100000:65536\n")
    let programs = (0..<8 as Range<UInt32>).map { bench.program(of: 100_000 + $0) }
    for program in programs { send(burst: 40, regions: 1, program) }
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 8)
    for program in programs { program.quit() }
    bench.settle()
    #expect(bench.connectionCounts.values.reduce(0, +) == ConnectionTable.lingeringPerUser)
    #expect(bench.loop.clients.connections.pausedCount == ConnectionTable.lingeringPerUser)
    bench.pass(31)
    #expect(bench.connectionCounts.isEmpty && bench.loop.clients.connections.pausedCount == 0)
  }

  @Test("AUT-2, RES-6: a program that takes over its client does not wait for earlier calls")
  func takenOver() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("tool", of: Users.friend)
    send(burst: 256, regions: 8, control)
    control.quit()
    watch.quit()
    bench.settle()
    let (again, listener, _) = try bench.lateClient("tool", of: Users.friend)
    #expect(bench.connectionCounts[Users.friend] == 2)
    #expect(bench.call(.setExecution(.foreground), again) == .done)
    let count = regions(bench).count
    bench.pass(30)
    #expect(regions(bench).count == count, "the remaining calls are dropped")
    _ = listener
  }
}

extension ServiceBench {
  /// Number of descriptors that the last wait reported.
  fileprivate var readyCount: Int { events.readyCount }

  /// As ``client(_:of:)``, after the user's rate is used up.
  fileprivate func lateClient(
    _ name: String, of user: UInt32
  ) throws -> (control: Program, watch: Program, session: Int64) {
    let control = program(of: user)
    control.send(.connect(name: name))
    var session: Int64?
    for _ in 0..<20 where session == nil {
      pass(1)
      if case .connected(let reply)? = control.receive(.connect(name: name)).first?.reply {
        session = reply.session
      }
    }
    let watch = program(of: user)
    watch.send(.watch(session: try #require(session)))
    settle()
    return (control, watch, try #require(session))
  }
}
