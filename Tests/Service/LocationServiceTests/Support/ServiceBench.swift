import GNSSProtocols
import Glibc
import LinuxHAL
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationRuntime
import LocationTypes
import LocationWire
import ReceiverDrivers
import ServiceState
import TestSupport

@testable import DeferralCache
@testable import LocationService

/// A board whose clock a test moves and whose receiver it speaks for; its wait looks at real sockets.
struct SocketBoard: LocationBoard, ~Copyable {
  /// What a test and the board share.
  final class Stage {
    var now = Instant(microseconds: 1_000_000)
    var bytes: [ByteChunk] = []
    /// What the last wait was to end for, and when.
    var isHeard = true
    var deadline = Instant.boot
    /// Nothing is at the other end of the line.
    var isUnplugged = false
  }

  let events: EventWait
  let stage: Stage

  var now: Instant { stage.now }

  mutating func wait(in state: BoardState, until deadline: Instant, wakesOnInput: Bool)
    -> WakeReport
  {
    stage.isHeard = wakesOnInput
    stage.deadline = deadline
    events.wait(until: .boot)
    let reason: WakeReason = stage.bytes.isEmpty ? .request : .bytes
    return WakeReport(reason: reason, batchPinRose: false)
  }

  mutating func read() throws(LineFault) -> ByteChunk {
    if stage.isUnplugged { throw .gone }
    return stage.bytes.isEmpty ? ByteChunk() : stage.bytes.removeFirst()
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {}
  mutating func setSpeed(_ baud: UInt32) throws(LineFault) {}
  mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }
}

/// An engine with a receiver that only talks, and a server on a socket of its own.
@safe final class ServiceBench {
  static let clients = 4
  static let ringCapacity = 64

  /// A service as a SIGKILL leaves it: what is on the disk, and the ring's memory.
  struct Remains {
    let folder: TestFolder
    let ring: [UInt8]
    /// Seconds that have passed.
    let second: Int64
  }

  /// The programs that the service has started.
  final class Started {
    var all: [Launch] = []
  }

  let started = Started()
  let folder: TestFolder
  let path: String
  let state: StateStore
  let stage = SocketBoard.Stage()
  let listener: Listener
  var loop: LocationLoop<SocketBoard, LocationServer>
  private let ring = RingMemory(capacity: ServiceBench.ringCapacity)
  private let memory: ClientMemory
  private var second: Int64 = 0

  /// - Parameters:
  ///   - remains: What is left of the service that ran before.
  ///   - boot: Another one than before is a power cut.
  ///   - clients: How many clients there is room for.
  ///   - change: What the server is to know of its surroundings beside.
  init(
    _ policy: AccessPolicy = .builtIn(owner: geteuid()), after remains: Remains? = nil,
    boot: BootIdentity = BootIdentity(id: [1]), canIdle: Bool = false,
    clients: Int = ServiceBench.clients, log: SystemLog = SystemLog(threshold: .critical),
    _ change: (inout LocationServer.Environment) -> Void = { _ in }
  ) throws {
    folder = remains?.folder ?? TestFolder()
    path = folder.path + "/socket"
    let events = try EventWait()
    state = try StateStore(path: folder.path + "/state.db", at: UTCTime(microseconds: 0))
    var facts = LocationServer.Environment(version: "1.2", board: "a board", clients: clients)
    change(&facts)
    listener = try Listener(path: path)
    var server = try LocationServer(
      listener, on: events, policy, facts, state: state, log: log
    ) { [started] launch in
      started.all.append(launch)
      return nil
    }
    memory = ClientMemory(capacity: clients)
    if let remains {
      ring.bytes = remains.ring
      second = remains.second
      stage.now = stage.now + .seconds(second)
    }
    let fixes = try ring.openSynced(floor: UInt32(state.counter(.ringGeneration)))
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 32, timeToFix: TimeToFixTable(cold: .seconds(30)))
    if canIdle {
      figures.idle = SleepParameters(
        state: .idle, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
        wakesOnPin: false,
        wakesOnBytes: true)
    }
    let setup = EngineSetup(receiver: ReceiverSetup(family: .passive), parameters: figures)
    let loss = LocationService.recordRun(fixes, boot, state)
    var engine = unsafe Engine(setup, ring: fixes, clients: memory.storage)
    server.restore(into: &engine, after: loss, at: stage.now)
    server.flush()
    loop = LocationLoop(
      engine: engine, board: SocketBoard(events: events, stage: stage), clients: server)
    settle()
  }

  /// What a SIGKILL would leave now: what is in the ring's memory, and of the rest what is on the disk.
  func killed() throws -> Remains {
    let copy = TestFolder()
    for name in ["state.db", "state.db-wal"] { folder.copy(name, to: copy) }
    return Remains(folder: copy, ring: ring.bytes, second: second)
  }

  /// Lets the service do all that can be done now.
  func settle() { for _ in 0..<8 { _ = loop.turn() } }

  /// The generation of its fixes.
  var generation: UInt32 { loop.engine.generation }

  /// Whether the client that connected first wants the receiver on for its updates.
  var isDemanding: Bool {
    var client = loop.engine.client(ClientID(0))
    return client.demand(at: stage.now) != .none
  }

  /// Whether the client that connected first wants a single fix now, and when it wants the next.
  var needsFix: Bool { nextNeed <= stage.now }
  var nextNeed: Instant {
    var client = loop.engine.client(ClientID(0))
    return client.fixNeed(at: stage.now, fastest: 40, line: .absent).due
  }

  /// Does what can be done until that is so, for at most a second of the real clock.
  func settle(until isDone: () -> Bool) {
    for _ in 0..<1_000 where !isDone() {
      usleep(1_000)
      settle()
    }
  }

  /// The client that connected first.
  var firstClient: ServedClient? { loop.clients.clients.first }

  /// So many seconds pass in which nothing comes.
  func pass(_ seconds: Int64) {
    let end = stage.now + .seconds(seconds)
    second += seconds
    while stage.now < end {
      stage.now = min(stage.now + .seconds(max(1, seconds / 20)), end)
      settle()
    }
  }

  /// When it wants to be asked though nothing comes.
  var deadline: Instant { loop.clients.deadline }

  /// Whether something that is to be durable is not on the disk.
  var hasUnkept: Bool { loop.clients.hasUnsavedChanges }

  /// Whether the light of background sessions is to be on.
  var hasBackgroundSession: Bool { loop.clients.hasBackgroundSession }

  /// How many programs are watched for being frozen.
  var watchedPrograms: Int { loop.clients.connections.count { $0?.program != nil } }

  /// A connection carries the first client's backlog, and has not taken a byte of it yet.
  func stall(_ connection: Int, isTaken: Bool) {
    func stall(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      let backlog = loop.engine.backlog(of: ClientID(0))
      loop.clients.connections[connection]?.purpose = .drain(client: 0)
      loop.clients.connections[connection]?.drain = Drain(
        backlog: backlog, countsAsDelivered: isTaken, next: backlog.range.lowerBound, remaining: 1)
    }
    stall(&loop)
  }

  /// It ends in order.
  func close() {
    func close(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      loop.clients.shutDown(loop.engine)
    }
    close(&loop)
  }

  /// What the owner does once in a while.
  func keep() {
    func keep(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      loop.clients.saveAll(loop.engine)
    }
    keep(&loop)
  }

  /// A second passes, with a fix at its end: 11 m further north.
  func fix() { fix(at: second + 1, after: 1) }

  /// A second passes, and the receiver says that it has no fix.
  func talk() {
    var frame = FrameBuffer()
    frame.appendNavPVT(
      UBXSolution(
        utc: UTCTime(microseconds: 1_750_000_000_000_000 + 1_000_000 * (second + 1)), fixType: 0,
        isFixOK: false, longitude_e7: 0, latitude_e7: 0, height_mm: 0,
        horizontalAccuracy_mm: .max))
    talk((0..<frame.count).map { frame[$0] })
  }

  /// A second passes, and that comes of the receiver.
  func talk(_ bytes: [UInt8]) {
    second += 1
    stage.now = stage.now + .seconds(1)
    stage.bytes.append(ByteChunk(bytes.span))
    settle()
  }

  /// So many seconds pass at one place, with a fix every ten.
  func stay(_ seconds: Int64) {
    let place = second
    for _ in 0..<seconds / 10 { fix(at: place, after: 10) }
  }

  /// Time passes, with a fix at its end: so many times 11 m north of where fixes begin.
  func fix(at step: Int64, after seconds: Int64) {
    second += seconds
    stage.now = stage.now + .seconds(seconds)
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: 48_000_000_000 + 100_000 * step, longitude_e9: 11))
    fix.utc = UTCTime(microseconds: 1_750_000_000_000_000 + 1_000_000 * second)
    fix.horizontalAccuracy_mm = 3_000
    var frame = FrameBuffer()
    frame.appendNavPVT(UBXSolution(fix))
    stage.bytes.append(ByteChunk(frame.span))
    settle()
  }

  /// The administrator's file is read anew.
  func adopt(_ policy: AccessPolicy) {
    loop.clients.adopt(policy)
    loop.poll()
  }

  /// A program that connects.
  func program() -> Program {
    let program = Program(path)
    settle()
    return program
  }

  /// A program that connects as another user: root, who may run the tests, may all.
  func program(of user: UInt32) -> Program {
    let kernel = listener.peer
    listener.peer = { kernel($0).map { Peer(user: user, process: $0.process) } }
    defer { listener.peer = kernel }
    let program = Program(path)
    settle()
    return program
  }

  /// A program with a session, and one that hears its notices.
  func client(
    _ name: String, of user: UInt32 = geteuid()
  ) -> (control: Program, watch: Program, session: Int64) {
    let control = program(of: user)
    guard case .connected(let session)? = ask(.connect(name: name), control) else {
      preconditionFailure("it may connect")
    }
    let watch = program(of: user)
    watch.send(.watch(session: session.session))
    settle()
    return (control, watch, session.session)
  }

  /// A client that has started updates and received its first fix.
  func clientWithFix(_ name: String) -> (control: Program, watch: Program, session: Int64) {
    let client = client(name)
    _ = ask(.startUpdating, client.control)
    fix()
    precondition(client.watch.fixes().count == 1, "the first fix is delivered at once")
    return client
  }

  /// A program of another user; nil if it is not served.
  func admittedProgram(of user: UInt32) -> Program? {
    let program = program(of: user)
    _ = program.frames()
    return program.isClosed ? nil : program
  }

  /// How many connections of users there are, by user.
  var connectionCounts: [UInt32: Int] {
    var counts: [UInt32: Int] = [:]
    for connection in loop.clients.connections {
      if let connection { counts[connection.peer.user, default: 0] += 1 }
    }
    return counts
  }

  /// The names of the clients that are known, those of free places left out.
  var clientNames: [String] { loop.clients.clients.filter { !$0.isVacant }.map(\.name.name) }

  /// Bytes that wait to be taken by users' programs.
  var waitingOutput: Int {
    loop.clients.connections.reduce(0) { $0 + ($1?.output.count ?? 0) }
  }

  /// Whether nothing is done about a connection before that moment.
  var connectionDeadline: Instant { loop.clients.connectionDeadline }

  /// The answer to a call.
  func ask(_ call: WireCall, _ program: Program) -> WireReply? {
    program.send(call)
    settle()
    return program.receive(call).first?.reply
  }
}

/// A client program's end of a connection.
final class Program {
  private(set) var descriptor: Int32
  private var rest: [UInt8] = []
  private var unsent: [UInt8] = []
  /// The service has closed the connection.
  private(set) var isClosed = false

  init(_ path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0.copyBytes(from: Array(path.utf8))
    }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(result == 0, "the service listens")
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { quit() }

  func quit() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Sends calls again and again, as many as the kernel takes; a call is never cut in the middle for good.
  func pour(_ calls: [WireCall]) {
    if unsent.isEmpty {
      var json = JSONOutput()
      for call in calls { CallEncoder.encode(call, to: &json) }
      unsent = json.bytes
    }
    let count = send(unsent)
    if count > 0 { unsent.removeFirst(count) }
  }

  func send(_ call: WireCall, oneway: Bool = false) {
    var json = JSONOutput()
    CallEncoder.encode(call, oneway: oneway, to: &json)
    send(json.bytes)
  }

  /// So little fits that the service has to wait for it.
  func shrinkReceiveBuffer() {
    var size: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// All bytes that have come.
  func bytes() -> [UInt8] {
    receive()
    defer { rest = [] }
    return rest
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { isClosed = true }
      guard count > 0 else { return }
      rest += buffer[..<count]
    }
  }

  /// The frames that have come.
  func frames() -> [[UInt8]] {
    receive()
    var frames: [[UInt8]] = []
    while let end = rest.firstIndex(of: 0) {
      frames.append(Array(rest[..<end]))
      rest.removeSubrange(...end)
    }
    return frames
  }

  /// What has come in answer to `call`.
  func receive(_ call: WireCall) -> [IncomingReply] {
    frames().compactMap { try? ReplyDecoder.decode($0, to: call) }
  }

  /// What it was told.
  func notices() -> [WireNotice] {
    receive(.watch(session: 0)).compactMap {
      if case .notice(let notice) = $0.reply { notice } else { nil }
    }
  }

  /// The fixes of what it was told.
  func fixes() -> [StoredFix] {
    notices().flatMap { if case .fixes(let fixes) = $0 { fixes } else { [StoredFix]() } }
  }
}
