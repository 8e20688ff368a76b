import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Draining a backlog")
struct DrainTests {
  private func drain(
    _ session: Int64, _ bench: ServiceBench
  ) throws -> (reply: WireReply, count: UInt64, fixes: [StoredFix], program: Program) {
    try bulk(.drain(session: session), bench)
  }

  /// The content of a drain's connection: the reply, the header's count and the fixes.
  private func bulk(
    _ call: WireCall, _ bench: ServiceBench
  ) throws -> (reply: WireReply, count: UInt64, fixes: [StoredFix], program: Program) {
    let program = bench.program()
    program.send(call)
    bench.settle()
    var bytes = program.bytes()
    let end = try #require(bytes.firstIndex(of: 0))
    let reply = try ReplyDecoder.decode(Array(bytes[..<end]), to: call).reply
    bytes.removeSubrange(...end)
    guard let header = FixRecordHeader(bytes.span) else { return (reply, 0, [], program) }
    bytes.removeFirst(FixRecordHeader.size)
    var fixes: [StoredFix] = []
    while bytes.count >= FixRecord.size {
      guard let fix = FixRecord.decode(bytes.span) else { break }
      fixes.append(fix)
      bytes.removeFirst(FixRecord.size)
    }
    return (reply, header.count, fixes, program)
  }

  @Test("RNG-3: a drain delivers all undelivered fixes once, and they can be acknowledged")
  func undelivered() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<5 { bench.fix() }
    let sent = watch.fixes()
    _ = bench.call(.acknowledge(sent[1].name), control)
    control.quit()
    bench.settle()
    let (again, listener, session) = bench.client("tracker")
    let found = try drain(session, bench)
    #expect(found.reply == .drain(count: 3, nil) && found.count == 3)
    #expect(found.fixes == Array(sent.dropFirst(2)) && found.program.isClosed)
    _ = bench.call(.startUpdating, again)
    #expect(listener.fixes().isEmpty)
    bench.fix()
    #expect(listener.fixes().map(\.name.sequence) == [5])
    #expect(bench.call(.acknowledge(found.fixes[2].name), again) == .done)
    let remainder = try drain(session, bench)
    #expect(remainder.fixes.map(\.name.sequence) == [5])
  }

  @Test("RNG-3, AUT-2: reading a backlog does not change the client's cursor")
  func readBacklog() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    for _ in 0..<2 {
      let found = try bulk(.readBacklog(name: "tracker"), bench)
      #expect(found.reply == .drain(count: 3, nil) && found.fixes.count == 3)
    }
    let sent = watch.fixes()
    #expect(sent.count == 3, "delivered nevertheless")
    _ = bench.call(.acknowledge(sent[1].name), control)
    control.quit()
    bench.settle()
    #expect(try bulk(.readBacklog(name: "tracker"), bench).fixes == [sent[2]])
    let typo = WireClientName(user: geteuid(), name: "trakcer")
    #expect(try bulk(.readBacklog(name: "trakcer"), bench).reply == .error(.unknownClient(typo)))
    #expect(bench.firstClient?.name.name == "tracker")
  }

  @Test("RNG-3: reading a backlog continues when the program ends; a drain does not")
  func readContinues() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let (reader, drained) = (bench.program(), bench.program())
    bench.stall(2, countsAsDelivered: false)
    bench.stall(3, countsAsDelivered: true)
    control.quit()
    bench.settle()
    #expect(reader.bytes().count == FixRecord.size, "all of it was delivered")
    #expect(drained.bytes().isEmpty && drained.isClosed)
  }

  @Test("RNG-4, BKG-4: fixes that a full ring overwrites are reported as a gap by the drain")
  func gap() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    control.quit()
    bench.settle()
    let (again, listener, session) = bench.client("tracker")
    listener.quit()
    bench.settle()
    _ = bench.call(.startUpdating, again)
    // Without a watching connection nothing is delivered; another client keeps the receiver on.
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
    for _ in 0..<(ServiceBench.ringCapacity + 10) { bench.fix() }
    let found = try drain(session, bench)
    guard case .drain(let count, let gap?) = found.reply else {
      Issue.record("no gap: \(found.reply)")
      return
    }
    #expect(count == UInt64(ServiceBench.ringCapacity) && found.fixes.count == Int(count))
    // The first was delivered to the process that drains.
    #expect(gap.range == 1..<found.fixes[0].name.sequence)
  }

  @Test("AUT-6: a drain delivers no earlier fix to a denied, reduced or other client")
  func denied() throws {
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [UInt32(geteuid())])
    let bench = try ServiceBench(open)
    let (control, watch, session) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().count == 3)
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.call(.reduceClient(name, isReduced: true), bench.program()) == .done)
    bench.fix()
    #expect(try drain(session, bench).fixes.isEmpty)
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    #expect(try drain(session, bench).reply == .error(.notAuthorized))
    #expect(try drain(session + 1, bench).reply == .error(.unknownSession(session + 1)))
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.call(.reduceClient(name, isReduced: false), bench.program()) == .done)
    #expect(try drain(session, bench).fixes.isEmpty)
  }

  @Test("a program that does not read its drain does not delay other clients")
  func slow() throws {
    let bench = try ServiceBench()
    let (control, watch, session) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let program = bench.program()
    program.shrinkReceiveBuffer()
    program.send(.drain(session: session))
    bench.fix()
    #expect(watch.fixes().count >= 3)
    program.quit()
    bench.settle()
    bench.fix()
    #expect(watch.fixes().count == 1)
  }
}
