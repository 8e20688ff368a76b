import CLinux
import DeferralCache
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
import TextFormats

@testable import DeferralCache
@testable import LocationService

/// A board with a clock and a receiver line under the test's control; its wait polls real sockets.
struct SocketBoard: LocationBoard, ~Copyable {
  /// State shared by a test and the board.
  final class Stage {
    var now = Instant(microseconds: 1_000_000)
    var bytes: [ByteChunk] = []
    /// Arguments of the last wait.
    var wakesOnInput = true
    var deadline = Instant.boot
    /// Whether the line is disconnected.
    var isUnplugged = false
    /// A charge of the battery that the next wait reports, percent.
    var charge: UInt8?
    /// A pulse per second that the next wait reports.
    var pulse: Instant?
  }

  let events: EventWait
  let stage: Stage

  var now: Instant { stage.now }

  mutating func wait(in state: BoardState, until deadline: Instant, wakesOnInput: Bool)
    -> WakeReport
  {
    stage.wakesOnInput = wakesOnInput
    stage.deadline = deadline
    events.wait(until: .boot)
    let reason: WakeReason = stage.bytes.isEmpty ? .request : .bytes
    defer { (stage.charge, stage.pulse) = (nil, nil) }
    return WakeReport(
      reason: reason, batchPinRose: false, battery: stage.charge, pulse: stage.pulse,
      inputStart: stage.bytes.isEmpty ? nil : stage.now)
  }

  mutating func read() throws(LineFault) -> ByteChunk {
    if stage.isUnplugged { throw .gone }
    return stage.bytes.isEmpty ? ByteChunk() : stage.bytes.removeFirst()
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {}
  mutating func setSpeed(_ baud: UInt32) throws(LineFault) {}
  mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }
}

/// An engine with a passive receiver, and a server on its own socket.
@safe final class ServiceBench {
  static let clients = 4
  static let ringCapacity = 64
  static let ringID: UInt64 = 0xFEDC_BA98_7654_3210

  /// A service after SIGKILL: the files on disk and the ring's memory.
  struct Remains {
    let folder: TestFolder
    let ring: [UInt8]
    /// Seconds since the start of the first service.
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
  /// The sockets of gpsd's protocol.
  let gpsd: GPSDListeners
  let events: EventWait
  var loop: LocationLoop<SocketBoard, LocationServer>
  /// Switches the board off, as in `LocationService`; nil for a board that stays on.
  var powerOff: PowerOffControl?
  /// How long the board will be off; nil while it is on.
  private(set) var timeOff: Interval?
  private let ring = RingMemory(capacity: ServiceBench.ringCapacity)
  private let memory: ClientMemory
  private var second: Int64 = 0

  /// - Parameters:
  ///   - remains: The files and the ring of the service that ran before.
  ///   - boot: The identity of the boot; another one than before means a power cut.
  ///   - hasPoweredOff: Whether that service had switched the board off, for no time.
  ///   - clients: Number of client slots.
  ///   - battery: Charges below which service levels are shed.
  ///   - unattendedBoard: Parameters of a board that may be switched off.
  ///   - change: Changes the server's environment.
  init(
    _ policy: AccessPolicy = .builtIn(owner: geteuid()), after remains: Remains? = nil,
    boot: BootIdentity = BootIdentity(id: [1]), hasPoweredOff: Bool = false, canIdle: Bool = false,
    clients: Int = ServiceBench.clients, servesGPSD: Bool = false,
    battery: BatteryThresholds = BatteryThresholds(), unattendedBoard: BoardParameters? = nil,
    log: SystemLog = SystemLog(threshold: .critical),
    _ change: (inout LocationServer.Environment) -> Void = { _ in }
  ) throws {
    folder = remains?.folder ?? TestFolder()
    path = folder.path + "/socket"
    events = try EventWait()
    state = try StateStore(path: folder.path + "/state.db", at: UTCTime(microseconds: 0))
    var environment = LocationServer.Environment(version: "1.2", board: "a board", clients: clients)
    change(&environment)
    listener = try Listener(path: path)
    gpsd = try GPSDListeners(
      programs: servesGPSD ? folder.path + "/gpsd" : nil,
      helpers: servesGPSD ? folder.path + "/helper" : nil)
    var server = try LocationServer(
      listener, on: events, policy, environment, state: state, log: log, gpsd: gpsd
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
    let fixes = try ring.openSynced(
      floor: UInt32(state.counter(.ringGeneration)), newID: ServiceBench.ringID,
      recordedID: state.ringID)
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 32, timeToFix: TimeToFixTable(cold: .seconds(30)))
    if canIdle {
      parameters.idle = SleepParameters(
        state: .idle, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
        wakesOnPin: false,
        wakesOnBytes: true)
    }
    parameters.unattendedBoard = unattendedBoard
    // A board is switched off only while its receiver sleeps.
    parameters.canStandby = unattendedBoard != nil
    var setup = EngineSetup(receiver: ReceiverSetup(family: .passive), parameters: parameters)
    setup.battery = battery
    let loss = LocationService.recordRun(fixes, boot, state)
    let timeOff = TimeOff(
      length: .zero, since: stage.now, offUTC: UTCTime(microseconds: 0), until: stage.now, fixes)
    var engine = unsafe Engine(setup, ring: fixes, clients: memory.storage)
    server.restore(
      into: &engine, after: loss, timeOff: hasPoweredOff ? timeOff : nil, at: stage.now)
    server.flushState()
    loop = LocationLoop(
      engine: engine, board: SocketBoard(events: events, stage: stage), clients: server)
    settle()
  }

  /// The state that a SIGKILL would leave now.
  func killed() throws -> Remains {
    let copy = TestFolder()
    for name in ["state.db", "state.db-wal"] { folder.copy(name, to: copy) }
    return Remains(folder: copy, ring: ring.bytes, second: second)
  }

  /// Overwrites a fix in the ring, as a power failure can.
  func destroyFix(_ sequence: UInt64) {
    let slot = Int(sequence) % ServiceBench.ringCapacity
    ring[ring.size - (ServiceBench.ringCapacity - slot) * FixRing.slotSize] ^= 0xFF
  }

  /// Runs the service until no work is left, or until it switches the board off.
  func settle() {
    for _ in 0..<8 where timeOff == nil {
      loop.planPowerOff(&powerOff)
      _ = loop.turn()
      if case .prepared(let time) = loop.attemptPowerOff(&powerOff, at: stage.now) {
        timeOff = time
      }
    }
  }

  /// The generation of the current fixes.
  var generation: UInt32 { loop.engine.generation }

  /// Whether the first client demands the receiver for its updates.
  var isDemanding: Bool {
    loop.clients.clients.count > 0
      && loop.engine.usage(of: ClientID(0), at: stage.now).demand != .none
  }

  /// Whether the first client needs a single fix now, and the time of the next one.
  var needsFix: Bool { nextNeed <= stage.now }
  var nextNeed: Instant {
    loop.engine.usage(of: ClientID(0), at: stage.now).due
  }

  /// Runs the service until `isDone`, for at most one second of real time.
  func settle(until isDone: () -> Bool) {
    for _ in 0..<1_000 where !isDone() {
      usleep(1_000)
      settle()
    }
  }

  /// The client that connected first.
  var firstClient: ServedClient? { loop.clients.clients.slots.first }

  /// Advances the clock without input.
  func pass(_ seconds: Int64) {
    let end = stage.now + .seconds(seconds)
    second += seconds
    while stage.now < end {
      stage.now = min(stage.now + .seconds(max(1, seconds / 20)), end)
      settle()
    }
  }

  /// The time of the service's next timer.
  var deadline: Instant { loop.clients.deadline }

  /// The time of the next check whether the board may be off.
  var powerOffCheck: Instant {
    loop.powerOffDue(powerOff, at: stage.now)
  }

  /// Whether a hold of a client keeps the board from sleeping.
  var isHeld: Bool { loop.clients.keepsBoardAwake }

  /// Whether a durable change is not on disk yet.
  var hasUnsaved: Bool { loop.clients.hasUnsavedChanges }

  /// Whether the light of background sessions must be on.
  var hasBackgroundSession: Bool { loop.clients.hasBackgroundSession }

  /// Number of programs monitored for being frozen.
  var watchedPrograms: Int { loop.clients.connections.slots.count { $0?.monitor != nil } }

  /// Makes a connection carry the first client's backlog, with no byte sent yet.
  func stall(_ connection: Int, countsAsDelivered: Bool) {
    func stall(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      let backlog = loop.engine.backlog(of: ClientID(0))
      let drain = Drain(of: 0, backlog, countsAsDelivered: countsAsDelivered, count: 1)
      loop.clients.connections[connection]?.setPurpose(.drain(drain))
    }
    stall(&loop)
  }

  /// Shuts down the service.
  func close() {
    func close(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      loop.clients.shutDown(loop.engine)
    }
    close(&loop)
  }

  /// The periodic save of the service.
  func save() {
    func save(_ loop: inout LocationLoop<SocketBoard, LocationServer>) {
      loop.clients.saveAll(loop.engine)
    }
    save(&loop)
  }

  /// Advances one second, then sends a fix 11 m further north.
  func fix() { fix(at: second + 1, after: 1) }

  /// Advances one second, then sends a navigation solution without a fix.
  func sendNoFix() {
    var frame = FrameBuffer()
    frame.appendNavPVT(
      UBXSolution(
        utc: UTCTime(microseconds: 1_750_000_000_000_000 + 1_000_000 * (second + 1)), fixType: 0,
        isFixOK: false, longitude_e7: 0, latitude_e7: 0, height_mm: 0,
        horizontalAccuracy_mm: .max))
    send((0..<frame.count).map { frame[$0] })
  }

  /// Advances one second, then sends these bytes from the receiver.
  func send(_ bytes: [UInt8]) {
    second += 1
    stage.now = stage.now + .seconds(1)
    stage.bytes.append(ByteChunk(bytes.span))
    settle()
  }

  /// Stays at one position, with a fix every ten seconds.
  func stay(_ seconds: Int64) {
    let step = second
    for _ in 0..<seconds / 10 { fix(at: step, after: 10) }
  }

  /// Advances one second, then sends a fix without a time.
  func fixWithoutTime() {
    var frame = FrameBuffer()
    frame.appendNavPVT(
      UBXSolution(
        Fix(
          acquired: .boot,
          coordinate: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11_000_000_000))))
    send((0..<frame.count).map { frame[$0] })
  }

  /// Advances the clock, then sends a fix `step` × 11 m north of the start.
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

  /// Reloads the administrator's policy.
  func adopt(_ policy: AccessPolicy) {
    loop.clients.adopt(policy)
    loop.poll()
  }

  /// A connected program.
  func program() -> Program {
    let program = Program(path)
    settle()
    return program
  }

  /// A connected program of that user: root, who may run the tests, has all permissions.
  func program(of user: UInt32) -> Program {
    let kernel = listener.peer
    listener.peer = { kernel($0).map { Peer(user: user, process: $0.process) } }
    defer { listener.peer = kernel }
    let program = Program(path)
    settle()
    return program
  }

  /// A program of that user that uses gpsd's protocol, with this request.
  func gpsdProgram(_ request: String = "", of user: UInt32 = geteuid()) -> Program {
    let kernel = gpsd.programs?.peer
    gpsd.programs?.peer = { kernel?($0).map { Peer(user: user, process: $0.process) } }
    defer { if let kernel { gpsd.programs?.peer = kernel } }
    let program = Program(folder.path + "/gpsd")
    settle()
    if !request.isEmpty {
      program.send(Array(request.utf8))
      settle()
    }
    return program
  }

  /// A program with a session, and its connection for notices.
  func client(
    _ name: String, of user: UInt32 = geteuid()
  ) -> (control: Program, watch: Program, session: Int64) {
    let control = program(of: user)
    guard case .connected(let session)? = call(.connect(name: name), control) else {
      preconditionFailure("the connection is permitted")
    }
    let watch = program(of: user)
    watch.send(.watch(session: session.session))
    settle()
    return (control, watch, session.session)
  }

  /// A client that has started updates and received its first fix.
  func clientWithFix(_ name: String) -> (control: Program, watch: Program, session: Int64) {
    let client = client(name)
    _ = call(.startUpdating, client.control)
    fix()
    precondition(client.watch.fixes().count == 1, "the first fix is delivered immediately")
    return client
  }

  /// A program of another user; nil if its connection is refused.
  func admittedProgram(of user: UInt32) -> Program? {
    let program = program(of: user)
    _ = program.frames()
    return program.isClosed ? nil : program
  }

  /// Number of connections by user.
  var connectionCounts: [UInt32: Int] {
    var counts: [UInt32: Int] = [:]
    for connection in loop.clients.connections.slots {
      if let connection { counts[connection.peer.user, default: 0] += 1 }
    }
    return counts
  }

  /// The names of the known clients, without free slots.
  var clientNames: [String] { loop.clients.clients.slots.filter { !$0.isVacant }.map(\.name.name) }

  /// Number of bytes in the service's output buffers.
  var waitingOutput: Int {
    loop.clients.connections.slots.reduce(0) { $0 + ($1?.output.text.count ?? 0) }
  }

  /// The next time at which a connection needs attention.
  var connectionDeadline: Instant { loop.clients.connections.deadlines.next }

  /// Sends a call and returns its reply.
  func call(_ call: WireCall, _ program: Program) -> WireReply? {
    program.send(call)
    settle()
    return program.receive(call).first?.reply
  }
}

/// A client program's end of a connection.
final class Program {
  private(set) var descriptor: Int32
  private var received: [UInt8] = []
  private var unsent: [UInt8] = []
  /// Whether the service has closed the connection.
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

  /// A program with a connected socket.
  init(connected descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  /// Passes a descriptor of a user's program, as the helper of gpsd's protocol.
  func pass(_ passed: Int32, of user: UInt32) {
    precondition(clinux_send_descriptor(descriptor, user, passed) == 0, "the service receives it")
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

  /// Sends the calls repeatedly until the kernel's buffer is full; a partial call is completed next
  /// time.
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

  /// Makes the receive buffer so small that the service has to wait.
  func shrinkReceiveBuffer() {
    var size: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The lines of text received.
  func lines() -> [String] {
    String(decoding: bytes(), as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  /// All bytes received.
  func bytes() -> [UInt8] {
    receive()
    defer { received = [] }
    return received
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { isClosed = true }
      guard count > 0 else { return }
      received += buffer[..<count]
    }
  }

  /// The frames received.
  func frames() -> [[UInt8]] {
    receive()
    var frames: [[UInt8]] = []
    while let end = received.firstIndex(of: 0) {
      frames.append(Array(received[..<end]))
      received.removeSubrange(...end)
    }
    return frames
  }

  /// The replies to `call` received.
  func receive(_ call: WireCall) -> [IncomingReply] {
    frames().compactMap { try? ReplyDecoder.decode($0, to: call) }
  }

  /// The notices received.
  func notices() -> [WireNotice] {
    receive(.watch(session: 0)).compactMap {
      if case .notice(let notice) = $0.reply { notice } else { nil }
    }
  }

  /// The fixes among the notices received.
  func fixes() -> [StoredFix] {
    notices().flatMap { if case .fixes(let fixes) = $0 { fixes } else { [StoredFix]() } }
  }
}
