import GNSSProtocols
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Input of the simulated receiver") struct CommandInputTests {
  private var input = CommandInput()

  private func frame(_ fill: (inout FrameBuffer) -> Void) -> [UInt8] {
    var frame = FrameBuffer()
    fill(&frame)
    return frame.span.indices.map { frame[$0] }
  }

  @Test("bytes arrive in the order in which they were sent")
  mutating func transit() {
    #expect(input.nextArrival == .distantFuture)
    input.append([1, 2].span, due: seconds(1), speed: 9_600)
    input.append([3].span, due: seconds(2), speed: 38_400)
    #expect(input.nextArrival == seconds(1))
    let first = input.removeArrival()
    #expect(first.bytes == [1, 2] && first.speed == 9_600 && input.nextArrival == seconds(2))
    input.discardTransit()
    #expect(input.nextArrival == .distantFuture)
  }

  @Test("a frame in two parts is one command; a restart discards the first part")
  mutating func parts() {
    let poll = frame { $0.appendPoll(.monVER) }
    input.decodeUBX(Array(poll[..<4]), executedAt: seconds(1))
    #expect(input.nextExecution == .distantFuture)
    input.decodeUBX(Array(poll[4...]), executedAt: seconds(2))
    #expect(input.nextExecution == seconds(2))
    guard case .ubx(.poll(.monVER), frame: []) = input.removeCommand().command else {
      return #expect(Bool(false), "a poll")
    }
    input.decodeUBX(Array(poll[..<4]), executedAt: seconds(3))
    input.discardCommands()
    input.decodeUBX(Array(poll[4...]), executedAt: seconds(4))
    #expect(input.nextExecution == .distantFuture)
  }

  @Test("a sentence with a wrong checksum is ignored")
  mutating func sentences() {
    input.decodeSentences(Array("$PMTK000*33\r\n".utf8), executedAt: seconds(1))
    #expect(input.nextExecution == .distantFuture)
    input.decodeSentences(Array("$PMTK0".utf8), executedAt: seconds(2))
    input.decodeSentences(Array("00*32\r\n".utf8), executedAt: seconds(3))
    guard case .sentence(["PMTK000"]) = input.removeCommand().command else {
      return #expect(Bool(false), "a test command")
    }
  }

  @Test("a standby request is found in transit and while it waits for its execution")
  mutating func standby() {
    let request = frame { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 0)) }
    #expect(!input.containsStandbyRequest(to: .ubloxM10))
    input.append(request.span, due: seconds(1), speed: 38_400)
    #expect(input.containsStandbyRequest(to: .ubloxM10))
    input.decodeUBX(input.removeArrival().bytes, executedAt: seconds(2))
    #expect(input.containsStandbyRequest(to: .ubloxM10))
    input.discardCommands()
    #expect(!input.containsStandbyRequest(to: .ubloxM10))
  }
}

@Suite("Epochs of the simulated receiver") struct EpochSourceTests {
  @Test("epochs occur at whole multiples of the interval in UTC, after the output latency")
  func times() {
    let setup = m10()
    var epochs = EpochSource(setup, track: straight())
    #expect(epochs.due == .distantFuture)
    epochs.plan(from: .boot + .milliseconds(1), every: .seconds(2))
    let first = epochs.due - setup.receiver.outputLatency
    let utc = epochs.origin + (first - .boot)
    #expect(utc.microseconds % 2_000_000 == 0)
    #expect(first > .boot && first <= seconds(2.001))
    #expect(epochs.advance(by: .seconds(2)) == utc)
    #expect(epochs.count == 1 && epochs.due == first + .seconds(2) + setup.receiver.outputLatency)
    epochs.stop()
    #expect(epochs.due == .distantFuture && epochs.count == 1)
  }

  @Test("an epoch before the fix has no position, and a time only if the clock is set")
  func solutions() {
    var epochs = EpochSource(m10(), track: straight())
    let time = epochs.origin + .seconds(10)
    let none = epochs.solution(at: time, fixSince: nil, hasTime: false)
    #expect(none.fixType == 0 && none.utc == nil)
    let early = epochs.solution(at: time, fixSince: seconds(11), hasTime: true)
    #expect(early.fixType == 0 && early.utc == time)
    let fix = epochs.solution(at: time, fixSince: seconds(10), hasTime: true)
    #expect(fix.fixType == 3 && fix.utc == time && fix.isFixOK)
  }
}

@Suite("Transfer of the navigation database") struct DatabaseTransferTests {
  @Test("entries are sent in order until the transfer ends")
  func sending() {
    var transfer = DatabaseTransfer()
    #expect(transfer.due == .distantFuture && transfer.nextEntry == nil)
    transfer.didSendEntry()
    transfer.postpone(to: seconds(9))
    #expect(transfer.due == .distantFuture, "no transfer is in progress")
    transfer.begin(at: seconds(1))
    #expect(transfer.due == seconds(1) && transfer.nextEntry == 0)
    transfer.didSendEntry()
    transfer.postpone(to: seconds(2))
    #expect(transfer.due == seconds(2) && transfer.nextEntry == 1)
    transfer.end()
    #expect(transfer.due == .distantFuture && transfer.nextEntry == nil)
  }

  @Test("three quarters of all entries restore the database; repeated entries count once")
  func receiving() {
    var transfer = DatabaseTransfer()
    let results = [0, 1, 1, 2].map { transfer.didReceive($0, of: 4) }
    #expect(results == [false, false, false, true])
  }

  @Test("each entry encodes the whole contents")
  func payload() {
    let database = NavigationDatabase(lastFix: seconds(100), ephemeris: .boot - .seconds(7))
    let payload = database.payload(3)
    #expect(payload.count == NavigationDatabase.entryLength && payload[0] == 3)
    #expect(NavigationDatabase(payload: payload) == database)
  }
}

@Suite("Faults of the simulated receiver") struct ReceiverFaultsTests {
  @Test("events occur in ascending order of time; an outage is one event, an absence two")
  func events() {
    var plan = FaultPlan()
    plan.deviceAbsent = [seconds(4)..<seconds(6)]
    plan.signalOutages = [seconds(5)..<seconds(9), seconds(1)..<seconds(1)]
    plan.garbage = [FaultPlan.Garbage(time: seconds(2), count: 3)]
    plan.configurationLosses = [seconds(3)]
    var faults = ReceiverFaults(plan, seed: 1)
    var events: [ReceiverFaults.Event] = []
    while faults.nextTime < .distantFuture { events.append(faults.removeNext()) }
    #expect(
      events == [
        .garbage(3), .configurationLost, .deviceRemoved, .signalLost, .deviceReturned,
      ])
  }

  @Test("the first acknowledgements are lost as planned, without a random number")
  func acknowledgements() {
    var plan = FaultPlan()
    plan.firstAcknowledgementsLost = 2
    plan.acknowledgementLoss = 0.5
    plan.commandLoss = 0.5
    var faults = ReceiverFaults(plan, seed: 7)
    #expect([faults.losesAcknowledgement(), faults.losesAcknowledgement()] == [true, true])
    var random = SimulationRandom(seed: 7, stream: 3)
    let losses = (0..<20).map { i in
      i % 2 == 0 ? faults.losesAcknowledgement() : faults.losesCommand()
    }
    #expect(losses == (0..<20).map { _ in random.uniform() < 0.5 })
  }

  @Test("a plan without faults loses nothing and draws no random number")
  func none() {
    var faults = ReceiverFaults(FaultPlan(), seed: 7)
    #expect(!faults.losesCommand() && !faults.losesAcknowledgement())
    var random = SimulationRandom(seed: 7, stream: 3)
    #expect(faults.garbageByte() == UInt8(truncatingIfNeeded: random.next() >> 56))
  }

  @Test("batching and the power mode are rejected in their periods only")
  func rejections() {
    var plan = FaultPlan()
    plan.batchingRejected = [seconds(1)..<seconds(2)]
    plan.powerModeRejected = [seconds(3)..<seconds(4)]
    let faults = ReceiverFaults(plan, seed: 1)
    func rejected(_ key: UInt32, _ value: UInt64) -> [Bool] {
      var items = UBXConfiguration(layers: .ram)
      items.set(key, value)
      return [1, 2, 3, 4].map { faults.rejects(items, at: seconds($0)) }
    }
    #expect(rejected(ConfigurationKey.batchEnable, 1) == [true, false, false, false])
    #expect(rejected(ConfigurationKey.batchEnable, 0) == [false, false, false, false])
    #expect(rejected(ConfigurationKey.powerMode, 0) == [false, false, true, false])
  }
}

@Suite("Configuration of the simulated receiver") struct ReceiverConfigurationTests {
  private func items(_ layers: UBXLayers, _ speed: UInt64) -> UBXConfiguration {
    var items = UBXConfiguration(layers: layers)
    items.set(ConfigurationKey.lineSpeed, speed)
    return items
  }

  @Test("a write takes effect immediately, a reload of RAM at the next start")
  func layers() {
    var configuration = ReceiverConfiguration(m10().receiver)
    #expect(configuration.active.speed == 38_400)
    configuration.write(items(.ram, 9_600))
    #expect(configuration.active.speed == 9_600)
    configuration.loadRAM()
    #expect(configuration.active.speed == 9_600, "the line keeps its speed until the start")
    configuration.activate()
    #expect(configuration.active.speed == 38_400)
    configuration.write(items(.batteryBacked, 115_200))
    #expect(configuration.active.speed == 38_400)
    configuration.loadRAM()
    configuration.activate()
    #expect(configuration.active.speed == 115_200)
  }

  @Test("factory settings need a start as well, and include the speed in an Airoha's flash")
  func factory() {
    var parameters = m10().receiver
    parameters.family = .airoha
    var configuration = ReceiverConfiguration(parameters)
    configuration.updateSentenceSettings {
      $0.stored.speed = 115_200
      $0.current.interval = .milliseconds(200)
    }
    #expect(configuration.active.interval == .milliseconds(200))
    configuration.loseSentenceSettings()
    configuration.activate()
    #expect(configuration.active.speed == 115_200 && configuration.active.interval == .seconds(1))
    configuration.restoreFactorySettings()
    configuration.activate()
    #expect(configuration.active.speed == 38_400)
  }

  @Test("batching is rejected above the buffer's capacity or with a watermark above the buffer")
  func batching() {
    let configuration = ReceiverConfiguration(m10().receiver)
    func rejection(_ entries: UInt64, _ watermark: UInt64) -> String? {
      var items = UBXConfiguration(layers: .ram)
      items.set(ConfigurationKey.batchEnable, 1)
      items.set(ConfigurationKey.batchEntries, entries)
      items.set(ConfigurationKey.batchWatermark, watermark)
      #expect(ReceiverConfiguration.affectsBatching(items))
      return configuration.batchingRejection(items)
    }
    let capacity = UInt64(BatchCapacity().basic)
    #expect(rejection(capacity, capacity) == nil)
    #expect(rejection(capacity + 1, 1)?.contains("batch buffer") == true)
    #expect(rejection(10, 11)?.contains("watermark") == true)
    #expect(!ReceiverConfiguration.affectsBatching(items(.ram, 9_600)))
  }
}

@Suite("Output of the simulated receiver") struct MessageOutputTests {
  @Test("sent messages are recorded on request, garbage never")
  func recording() {
    for records in [false, true] {
      var output = MessageOutput(recordsBytes: records)
      var line = ReceiverLine()
      var faults = ReceiverFaults(FaultPlan(), seed: 1)
      output.send(on: &line, at: .boot, speed: 9_600) { $0.append(0x41) }
      output.sendGarbage(1_030, of: &faults, on: &line, at: .boot, speed: 9_600)
      output.send(on: &line, at: .boot, speed: 9_600) { $0.append(0x42) }
      #expect(output.removeRecordedBytes() == (records ? [0x41, 0x42] : []))
      #expect(output.removeRecordedBytes() == [])
      var count = 0
      var chunk = ByteChunk()
      repeat {
        line.read(into: &chunk, at: seconds(100), speed: 9_600)
        count += chunk.count
      } while chunk.count > 0
      #expect(count == 1_032)
    }
  }
}
