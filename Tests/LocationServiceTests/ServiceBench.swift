import AccessPolicy
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
  }

  let events: EventWait
  let stage: Stage

  var now: Instant { stage.now }

  mutating func wait(in state: BoardState, until deadline: Instant, listening: Bool) -> Waking {
    stage.isHeard = listening
    stage.deadline = deadline
    events.wait(until: .boot)
    let reason: WakeReason = stage.bytes.isEmpty ? .request : .bytes
    return Waking(reason: reason, batchPinRose: false)
  }

  mutating func read() throws(LineFault) -> ByteChunk {
    stage.bytes.isEmpty ? ByteChunk() : stage.bytes.removeFirst()
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {}
  mutating func setSpeed(_ baud: UInt32) throws(LineFault) {}
  mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }
}

/// An engine with a receiver that only talks, and a server on a socket of its own.
@safe final class ServiceBench {
  static let clients = 4
  static let ringCapacity = 64

  let path: String
  let stage = SocketBoard.Stage()
  var loop: LocationLoop<SocketBoard, LocationServer>
  private let ring: UnsafeMutableRawBufferPointer
  private let memory: ClientMemory
  private var second: Int64 = 0

  init(_ policy: AccessPolicy = .owned(by: geteuid())) throws {
    var name = Array("/tmp/torpor-XXXXXX".utf8CString)
    guard let folder = unsafe mkdtemp(&name) else { preconditionFailure("no folder") }
    path = unsafe String(cString: folder) + "/socket"
    let events = try EventWait()
    let server = try LocationServer(
      Listener(path: path), on: events, policy,
      LocationServer.Facts(version: "1.2", board: "a board", clients: ServiceBench.clients))
    let size = FixRing.storageSize(capacity: ServiceBench.ringCapacity)
    unsafe ring = .allocate(byteCount: size, alignment: 8)
    unsafe ring.initializeMemory(as: UInt8.self, repeating: 0)
    memory = ClientMemory(capacity: ServiceBench.clients)
    var fixes = try unsafe FixRing(recovering: ring, capacity: ServiceBench.ringCapacity)
    fixes.markSynced(fixes.unsynced)
    let figures = PlannerFigures(
      fixInterval: .seconds(1), deferralLimit: 32, timeToFix: TimeToFixTable(cold: .seconds(30)))
    let setup = EngineSetup(receiver: ReceiverSetup(family: .passive), figures: figures)
    let engine = unsafe Engine(setup, ring: fixes, clients: memory.storage)
    loop = LocationLoop(
      engine: engine, board: SocketBoard(events: events, stage: stage), clients: server)
    settle()
  }

  deinit {
    unsafe ring.deallocate()
    _ = unsafe rmdir(String(path.dropLast("/socket".count)))
  }

  /// Lets the service do all that can be done now.
  func settle() { for _ in 0..<8 { _ = loop.turn() } }

  /// A second passes, with a fix at its end.
  func fix() {
    second += 1
    stage.now = stage.now + .seconds(1)
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: 48_000_000_000 + 100_000 * second, longitude_e9: 11))
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
    loop.look()
  }

  /// A program that connects.
  func program() -> Program {
    let program = Program(path)
    settle()
    return program
  }

  /// A program with a session, and one that hears its notices.
  func client(_ name: String) -> (control: Program, watch: Program, session: Int64) {
    let control = program()
    guard case .connected(let session)? = ask(.connect(name: name), control) else {
      preconditionFailure("it may connect")
    }
    let watch = program()
    watch.send(.watch(session: session.session))
    settle()
    return (control, watch, session.session)
  }

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
  /// The service has closed the connection.
  private(set) var isClosed = false

  init(_ path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
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

  func send(_ call: WireCall, oneway: Bool = false) {
    var json = JSONOutput()
    CallEncoder.encode(call, oneway: oneway, to: &json)
    send(json.bytes)
  }

  /// The frames that have come.
  func frames() -> [[UInt8]] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { isClosed = true }
      guard count > 0 else { break }
      rest += buffer[..<count]
    }
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
