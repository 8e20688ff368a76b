import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A client's process and record without a server")
struct ClientProcessTests {
  private func client() -> ServedClient {
    let access = Users.policy.access(uid: Users.friend, client: "a")
    return ServedClient(
      WireClientName(user: Users.friend, name: "a"), of: Users.friend, number: 1, access)
  }

  private func connected() -> ServedClient {
    var client = client()
    client.connect(control: 3, session: 7, at: .boot)
    return client
  }

  @Test(
    "BKG-2: delivery is paused while the process is frozen, not connected, or not read",
    arguments: [false, true], [false, true])
  func delivery(hasCapacity: Bool, isQueueEmpty: Bool) {
    for isFrozen in [false, true] {
      var process = ClientProcess(control: 0, session: 1, execution: .background)
      #expect(process.setFrozen(isFrozen) == isFrozen)
      let mustPause = process.mustPauseDelivery(
        hasCapacity: hasCapacity, isQueueEmpty: isQueueEmpty)
      #expect(mustPause == (isFrozen || !hasCapacity || !isQueueEmpty))
    }
  }

  @Test("BKG-2: the engine is informed of a pause, unless the process is suspended anyway")
  func pauses() {
    var process = ClientProcess(control: 0, session: 1, execution: .background)
    #expect(process.isDeliveryPaused, "until its notice connection is open")
    #expect(process.setDeliveryPaused(false) == .background)
    #expect(process.setDeliveryPaused(true) == .suspended)
    process.setExecution(.suspended)
    #expect(process.setDeliveryPaused(false) == nil)
    #expect(!process.isDeliveryPaused)
  }

  @Test("BKG-1: a frozen or suspended process has no connection for notices")
  func deliveryConnection() {
    var client = connected()
    #expect(client.process?.deliveryConnection == nil)
    client.setWatch(5)
    #expect(client.process?.deliveryConnection == 5)
    let changes = [client.setFrozen(true), client.setFrozen(true)]
    #expect(changes == [true, false])
    #expect(client.process?.deliveryConnection == nil && client.watch == 5)
    #expect(client.setFrozen(false) == true)
    client.setExecution(.suspended)
    #expect(client.process?.deliveryConnection == nil)
  }

  @Test("LIV-9: live iterators get the lowest free number")
  func iterators() {
    var client = connected()
    for number in 0..<LiveUpdates.capacity { #expect(client.openLive() == number) }
    #expect(client.openLive() == nil)
    client.closeLive(1)
    client.closeLive(0)
    #expect(client.process?.liveCount == LiveUpdates.capacity - 2)
    #expect(client.openLive() == 0)
    #expect(client.openLive() == 1)
  }

  @Test("BKG-1: nothing of a process outlives it, except its client's events")
  func disconnect() {
    var client = connected()
    client.setWatch(5)
    client.updateStartedServices { $0.updates = true }
    _ = client.openLive()
    let isQueued = client.notices.append(.paused)
    #expect(isQueued)
    _ = client.notices.appendEvent {
      .region(WireRegionEvent(.region, name: "home", .determined(.inside)), number: $0)
    }
    client.disconnect()
    #expect(client.control == nil && client.watch == nil && !client.isDeliveryPaused)
    #expect(client.notices.noticeCount == 0 && client.notices.eventCount == 1)
    client.connect(control: 4, session: 8, at: .boot + .seconds(9))
    #expect(client.process?.startedServices.updates == false && client.process?.liveCount == 0)
    #expect(client.lastConnected == .boot + .seconds(9))
  }

  @Test("RNG-3: acknowledgements alone make rows out of date only for a turn that flushes")
  func rows() {
    var rows = ClientRowState()
    #expect(!rows.needsUpdate(isFlushing: true))
    rows.noteAcknowledgement()
    #expect(rows.needsUpdate(isFlushing: true) && !rows.needsUpdate(isFlushing: false))
    rows.markDirty()
    #expect(rows.needsUpdate(isFlushing: false))
    rows.didUpdate(awaitsReceiverDrain: true)
    #expect(rows.needsUpdate(isFlushing: false) && !rows.isDirty)
    rows.didUpdate(awaitsReceiverDrain: false)
    #expect(!rows.needsUpdate(isFlushing: true))
  }

  @Test(
    "RNG-4: a possible loss is reported until a fix after it is acknowledged, which makes the rows dirty"
  )
  func loss() {
    let access = Users.policy.access(uid: Users.friend, client: "a")
    var client = ServedClient(
      WireClientName(user: Users.friend, name: "a"), of: Users.friend, number: 1, access,
      mayHaveLostFixes: true)
    var delivery = Delivery()
    #expect(delivery.unreportedLoss(of: client) == Gap(unsyncedBefore: 0, after: nil))
    delivery.setPossibleLoss(nil, before: 7)
    #expect(delivery.unreportedLoss(of: client) == Gap(unsyncedBefore: 7, after: nil))
    delivery.setPossibleLoss(Gap(unsyncedBefore: 9, after: nil), before: 9)
    #expect(delivery.unreportedLoss(of: client) == Gap(unsyncedBefore: 9, after: nil))
    client.connect(control: 1, session: 1, at: .boot)
    client.rows.didUpdate(awaitsReceiverDrain: false)
    let isQueued = [client.queueLoss(), client.queueLoss()]
    #expect(isQueued == [true, false])
    client.markFixesSent(from: 3)  // before the gap
    client.acknowledgeLoss(through: FixName(generation: 1, sequence: 3))
    client.markLossSent()
    client.acknowledgeLoss(through: FixName(generation: 1, sequence: 9))
    #expect(client.process?.lossReport == .sent && client.mayHaveLostFixes)
    client.markFixesSent(from: 9)
    client.acknowledgeLoss(through: FixName(generation: 1, sequence: 8))
    #expect(client.mayHaveLostFixes && !client.rows.isDirty)
    let mustRepeat = client.withdrawLoss()
    #expect(mustRepeat && client.process?.lossReport == LossReport.absent)
    for isStored in [false, true] {
      client.markLossRead(before: 9)
      client.acknowledgeLoss(through: FixName(generation: 1, sequence: 9))
      #expect(client.lossAcknowledgement == FixName(generation: 1, sequence: 9))
      client.finishLoss(isStored: isStored)
      #expect(client.lossAcknowledgement == nil && client.mayHaveLostFixes != isStored)
      #expect(client.process?.lossReport == .followed(by: 9))
    }
    #expect(!client.mayHaveLostFixes && client.rows.isDirty)
    #expect(delivery.unreportedLoss(of: client) == nil)
    #expect(client.withdrawLoss() == false)
  }
}
