import GNSSProtocols
import LocationTypes

@testable import ReceiverDrivers

/// A scripted receiver: behaves like an M10 in the interface description, with injectable faults.
final class FakeM10 {
  // Faults that a test may inject.
  var isSilent = false
  /// Number of answers that are lost, starting with the next one.
  var lostAnswers = 0
  /// Number of VALSETs that are rejected, starting with the next one.
  var rejections = 0
  /// Number of PMREQs that are ignored.
  var ignoredStandbys = 0
  /// Entries that are lost on the line, by their number; the first entry sent is 1.
  var lostEntries: Set<Int> = []
  /// Number of entries after which a retrieval stops, once.
  var stallsAfter: Int?
  /// Number of entries of the next retrieval that stay in the buffer although they were sent.
  var resent = 0
  var supportsBatching = true
  /// Whether polls of the configuration are rejected.
  var rejectsPoll = false
  /// Layer that an answer to a poll names, if not the polled one.
  var answeredLayer: UBXPolledLayer?
  /// Whether polls of the configuration are ignored.
  var ignoresPoll = false
  var supportsPowerSave = true
  var answersRetrieval = true
  var rejectsRetrieval = false
  var answerDelay = Interval.milliseconds(20)
  /// Number of entries in its navigation database.
  var databaseEntries = 0

  // State.
  let defaultSpeed: UInt32
  let hasWakePin: Bool
  private(set) var hasSupply: Bool
  private(set) var isAsleep = false
  private(set) var bootedAt: Instant?
  private(set) var ram: [UInt32: UInt64] = [:]
  private(set) var backup: [UInt32: UInt64] = [:]
  private(set) var buffer: [Int] = []
  private(set) var nextCount: UInt16 = 0
  private var drops: UInt16 = 0
  private var newDrops: UInt16 = 0
  private var entriesSent = 0
  private(set) var epoch = 0
  private var nextEpoch: Instant
  private var decoder = UBXCommandDecoder()
  private var incoming: [(due: Instant, bytes: [UInt8], speed: UInt32)] = []
  private var outgoing: [(due: Instant, bytes: [UInt8], speed: UInt32)] = []
  private var lineFree = Instant.boot
  private var wakeSources: UInt32 = 0
  private var standbyAt: Instant?
  /// Every decoded command, as words.
  private(set) var commands: [String] = []
  /// Actions of the driver that a datasheet forbids.
  private(set) var violations: [String] = []

  static let base = UTCTime(microseconds: 1_750_000_000_000_000)

  init(_ setup: ReceiverSetup, hasSupply: Bool) {
    defaultSpeed = setup.defaultLineSpeed
    hasWakePin = setup.hasWakePin
    self.hasSupply = hasSupply
    bootedAt = hasSupply ? .boot : nil
    nextEpoch = .boot + .milliseconds(Int64(setup.interval_ms))
  }

  func value(_ key: UInt32) -> UInt64 {
    if let value = ram[key] { return value }
    switch key {
    case M10Key.uart1Baudrate: return UInt64(defaultSpeed)
    case M10Key.uart1OutProtNMEA, M10Key.uart1InProtUBX, M10Key.uart1OutProtUBX: return 1
    case M10Key.rateMeas: return 1_000
    default: return 0
    }
  }

  var speed: UInt32 { UInt32(value(M10Key.uart1Baudrate)) }
  var isBatching: Bool { value(M10Key.batchEnable) == 1 }
  var isRunning: Bool { hasSupply && !isAsleep && bootedAt == nil }
  /// The batch PIO.
  var isAtWatermark: Bool {
    isBatching && value(M10Key.batchPIOEnable) == 1
      && buffer.count >= Int(value(M10Key.batchWarnThrs))
  }

  // MARK: Faults

  /// Restarts the receiver; the settings in backup memory are lost unless `keepsBackup` is true.
  func reset(at now: Instant, keepsBackup: Bool = false) {
    if !keepsBackup { backup = [:] }
    boot(at: now)
  }

  /// Loses the settings in backup memory; those in RAM stay until the next start.
  func loseBackup() { backup = [:] }

  /// Stops batching without a message.
  func stopBatching() { ram[M10Key.batchEnable] = 0 }

  private func boot(at now: Instant) {
    ram = backup
    buffer = []
    nextCount = 0
    drops = 0
    newDrops = 0
    isAsleep = false
    standbyAt = nil
    outgoing = []
    decoder = UBXCommandDecoder()
    bootedAt = now + .milliseconds(150)
  }

  // MARK: Pins

  func set(_ command: PinCommand, at now: Instant) {
    switch command.pin {
    case .receiverSupply:
      guard (command.level == .active) != hasSupply else { return }
      hasSupply = command.level == .active
      if hasSupply {
        boot(at: now)
      } else {
        isAsleep = false
        outgoing = []
      }
    case .receiverWake:
      if !hasSupply { violations.append("wake pin driven without supply") }
      if command.level == .active, isAsleep { boot(at: now) }
    }
  }

  // MARK: Line

  func write(_ bytes: [UInt8], speed: UInt32, at now: Instant) {
    if !hasSupply { violations.append("written to without supply") }
    let sent = Interval(microseconds: Int64(bytes.count) * 10_000_000 / Int64(speed))
    incoming.append((now + sent + answerDelay, bytes, speed))
  }

  /// Bytes that arrive at the host, with the speed at which they were sent.
  func read(at now: Instant) -> [(bytes: [UInt8], speed: UInt32)] {
    var arrived: [(bytes: [UInt8], speed: UInt32)] = []
    while let first = outgoing.first, first.due <= now {
      outgoing.removeFirst()
      arrived.append((first.bytes, first.speed))
    }
    return arrived
  }

  var next: Instant {
    var soonest = min(nextEpoch, bootedAt ?? .distantFuture)
    if let standbyAt { soonest = min(soonest, standbyAt) }
    for one in incoming { soonest = min(soonest, one.due) }
    for one in outgoing { soonest = min(soonest, one.due) }
    return soonest
  }

  func run(at now: Instant) {
    if let at = bootedAt, at <= now { bootedAt = nil }
    if let at = standbyAt, at <= now {
      isAsleep = true
      standbyAt = nil
      ram = [:]
    }
    while let index = incoming.firstIndex(where: { $0.due <= now }) {
      receive(incoming.remove(at: index), at: now)
    }
    while nextEpoch <= now {
      nextEpoch = nextEpoch + .milliseconds(Int64(value(M10Key.rateMeas)))
      epoch += 1
      if isRunning { navigate(at: now) }
    }
  }

  private func receive(_ arrived: (due: Instant, bytes: [UInt8], speed: UInt32), at now: Instant) {
    guard hasSupply else { return }
    if isAsleep {
      if wakeSources & UBXPowerRequest.wakesByUART != 0 { boot(at: now) }
      return
    }
    guard isRunning, arrived.speed == speed else { return }
    var offset = 0
    while let command = decoder.next(arrived.bytes.span, &offset) { execute(command, at: now) }
  }

  private func execute(_ command: UBXCommand, at now: Instant) {
    switch command {
    case .poll(.monVER):
      commands.append("probe")
      answer(at: now) { $0.appendVersion(UBXVersion(software: "SPG 5.10", hardware: "000A0000")) }
    case .valset(let items): configure(items, at: now)
    case .valget(let poll):
      commands.append("poll")
      sendValues(of: poll, at: now)
    case .powerRequest(let request):
      commands.append("standby")
      if ignoredStandbys > 0 {
        ignoredStandbys -= 1
        return
      }
      guard !isSilent else { return }
      wakeSources = request.wakeupSources
      standbyAt = max(now, lineFree)
    case .retrieveBatch(let statusFirst):
      commands.append("retrieve")
      retrieve(statusFirst, at: now)
    case .poll(.mgaDBD):
      commands.append("database")
      for number in 0..<databaseEntries { send(at: now) { $0.append(entry: UInt8(number)) } }
      acknowledgeAiding(.mgaDBD, UInt32(databaseEntries), at: now)
    case .aidingTime:
      commands.append("time")
      acknowledgeAiding(.mgaINI, 0x8000_0010, at: now)
    case .aidingEntry:
      commands.append("entry")
      acknowledgeAiding(.mgaDBD, 0, at: now)
    case .port, .messageRate, .rate, .powerManagement, .receiverPower, .save, .batch,
      .aidingAcknowledgement, .poll, .unknown, .malformed:
      commands.append("?")
    }
  }

  private func acknowledgeAiding(_ message: UBXIdentity, _ start: UInt32, at now: Instant) {
    guard value(M10Key.ackAiding) == 1 else { return }
    answer(at: now) { $0.append(UBXAidingAnswer(to: message, payloadStart: start)) }
  }

  private func configure(_ items: UBXConfiguration, at now: Instant) {
    var words: [String] = []
    for i in 0..<items.count { words.append(FakeM10.name(items[i])) }
    commands.append(words.joined(separator: " "))
    let touchesBatch = items.value(of: M10Key.batchEnable) != nil
    let touchesPower = items.value(of: M10Key.pmOperateMode) != nil
    let isRefused =
      rejections > 0 || (touchesBatch && !supportsBatching) || (touchesPower && !supportsPowerSave)
    if isRefused { rejections = max(rejections - 1, 0) }
    let before = isBatching
    answer(at: now) { $0.appendAcknowledgement(of: .cfgVALSET, isAccepted: !isRefused) }
    guard !isRefused, !isSilent else { return }
    for i in 0..<items.count {
      if items.layers.contains(.ram) { ram[items[i].key] = items[i].value }
      if items.layers.contains(.batteryBacked) { backup[items[i].key] = items[i].value }
    }
    if before && !isBatching {
      if !buffer.isEmpty { lostWithBuffer += buffer }
      buffer = []
    }
  }

  private func sendValues(of poll: UBXConfigurationPoll, at now: Instant) {
    if ignoresPoll { return }
    var values = UBXConfiguration(layers: .ram)
    for i in 0..<poll.count { values.set(poll[i], value(poll[i])) }
    let isRefused =
      rejectsPoll || (values.value(of: M10Key.pmOperateMode) != nil && !supportsPowerSave)
    answer(at: now) {
      if !isRefused {
        $0.appendConfigurationValues(values, layer: (answeredLayer ?? poll.layer).rawValue)
      }
      $0.appendAcknowledgement(of: .cfgVALGET, isAccepted: !isRefused)
    }
  }

  /// Writes a value to both layers, as another program does.
  func set(_ key: UInt32, _ value: UInt64) {
    ram[key] = value
    backup[key] = value
  }

  /// Epochs that were in the buffer when batching was switched off.
  private(set) var lostWithBuffer: [Int] = []

  private func retrieve(_ statusFirst: Bool, at now: Instant) {
    guard answersRetrieval else { return }
    if rejectsRetrieval {
      return answer(at: now) { $0.appendAcknowledgement(of: .logRETRIEVEBATCH, isAccepted: false) }
    }
    let status = UBXBatchStatus(
      fillLevel: UInt16(buffer.count), dropsAll: drops, dropsSinceLast: newDrops,
      nextMessageCount: nextCount)
    newDrops = 0
    if statusFirst { answer(at: now) { $0.appendBatchStatus(status) } }
    guard !isSilent else { return }
    var remaining = stallsAfter ?? buffer.count
    stallsAfter = nil
    defer { resent = 0 }
    let repeated = buffer.prefix(resent)
    defer { buffer.insert(contentsOf: repeated, at: 0) }
    while remaining > 0, !buffer.isEmpty {
      remaining -= 1
      let solution = FakeM10.solution(buffer.removeFirst())
      let entry = UBXBatchEntry(
        messageCount: nextCount, hasExtraPVT: true, solution: solution)
      nextCount &+= 1
      entriesSent += 1
      let isLost = lostEntries.contains(entriesSent)
      send(at: now, isLost: isLost) { $0.appendBatchEntry(entry) }
    }
  }

  private func navigate(at now: Instant) {
    if isBatching {
      buffer.append(epoch)
      if buffer.count > Int(value(M10Key.batchMaxEntries)) {
        buffer.removeFirst()
        drops += 1
        newDrops += 1
      }
    }
    guard !isSilent else { return }
    if value(M10Key.navPVTOnUART1) == 1 {
      send(at: now) { $0.appendNavPVT(FakeM10.solution(self.epoch)) }
    }
    if value(M10Key.uart1OutProtNMEA) == 1 { sendSentence(at: now) }
  }

  private func sendSentence(at now: Instant) {
    let second = (FakeM10.base.microsecondsOfDay / 1_000_000 + Int64(epoch)) % 86_400
    func two(_ value: Int64) -> String { (value < 10 ? "0" : "") + String(value) }
    let time = two(second / 3_600) + two(second / 60 % 60) + two(second % 60)
    let body = "GNRMC,\(time).00,A,4717.11437,N,00833.91522,E,0.004,77.52,150625,,,A"
    let sum = body.utf8.reduce(UInt8(0), ^)
    let hex = (sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true)
    enqueue(Array("$\(body)*\(hex)\r\n".utf8), at: now)
  }

  private func answer(at now: Instant, _ make: (inout FrameBuffer) -> Void) {
    if lostAnswers > 0 {
      lostAnswers -= 1
      return
    }
    send(at: now, make)
  }

  private func send(at now: Instant, isLost: Bool = false, _ make: (inout FrameBuffer) -> Void) {
    guard !isSilent else { return }
    var frame = FrameBuffer()
    make(&frame)
    var bytes = bytes(of: frame)
    if isLost { bytes[bytes.count / 2] ^= 0x55 }
    enqueue(bytes, at: now)
  }

  /// Noise on the line.
  func garble(_ bytes: [UInt8], at now: Instant) { enqueue(bytes, at: now) }

  private func enqueue(_ bytes: [UInt8], at now: Instant) {
    let time = Interval(microseconds: Int64(bytes.count) * 10_000_000 / Int64(speed))
    lineFree = max(lineFree, now) + time
    outgoing.append((lineFree, bytes, speed))
  }

  static func solution(_ epoch: Int) -> UBXSolution {
    UBXSolution(
      utc: base + .seconds(Int64(epoch)), fixType: 3, isFixOK: true, longitude_e7: 85_000_000,
      latitude_e7: 472_000_000, height_mm: 500_000, horizontalAccuracy_mm: 2_500)
  }

  private static func name(_ item: UBXConfigurationItem) -> String {
    let name: String
    switch item.key {
    case M10Key.uart1Baudrate: name = "baud"
    case M10Key.uart1InProtUBX: name = "inUBX"
    case M10Key.uart1OutProtUBX: name = "outUBX"
    case M10Key.uart1OutProtNMEA: name = "nmea"
    case M10Key.navPVTOnUART1: name = "pvt"
    case M10Key.rateMeas: name = "rate"
    case M10Key.pmOperateMode: name = "power"
    case M10Key.pmOnTime: name = "on"
    case M10Key.ackAiding: name = "ack-aiding"
    case M10Key.pmDoNotEnterOff: name = "search"
    case M10Key.pmUpdateEph: name = "eph"
    case M10Key.batchEnable: name = "batch"
    case M10Key.batchPIOEnable: name = "pio"
    case M10Key.batchMaxEntries: name = "max"
    case M10Key.batchWarnThrs: name = "warn"
    case M10Key.batchPIOActiveLow: name = "low"
    case M10Key.batchPIOID: name = "pioid"
    case M10Key.batchExtraPVT: name = "extra"
    case M10Key.batchExtraOdo: name = "odo"
    default: name = "0x" + String(item.key, radix: 16)
    }
    return name + "=" + String(item.value)
  }
}

func bytes(of frame: FrameBuffer) -> [UInt8] { (0..<frame.count).map { frame[$0] } }

extension FrameBuffer {
  /// Adds an entry of a navigation database.
  fileprivate mutating func append(entry number: UInt8) {
    let payload = [UInt8](repeating: number, count: 12 + 16)
    appendUBX(.mgaDBD, payload: payload.span)
  }
}
