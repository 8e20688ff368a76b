import CFirmware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// Forty minutes of a service with three clients, on a ring of 256 fixes: one defers, one wants
/// 100 metres, one stops at once.
func checkService(_ receiver: FirmwareReceiver, _ report: inout Report) {
  let capacity = 256
  let ringMemory = unsafe UnsafeMutableRawBufferPointer(
    start: firmware_ring_start(), count: Int(FIRMWARE_RING_SIZE))
  let clientCount = 3
  let clientSize = clientCount * MemoryLayout<Client>.stride
  report.check(clientSize <= Int(FIRMWARE_CLIENTS_SIZE), "the clients fit their memory")
  let clients = unsafe UnsafeMutableRawBufferPointer(
    start: firmware_clients_start(), count: clientSize
  ).bindMemory(to: Client.self)
  var figures = PlannerFigures(
    fixInterval: .seconds(1), deferralLimit: capacity / 2,
    timeToFix: TimeToFixTable(cold: .seconds(3)))
  let setup: ReceiverSetup
  switch receiver {
  case .ubx, .nmea:
    setup = ReceiverSetup(family: .passive, hasSupplySwitch: true)
    figures.canSwitchOff = true
  case .ubloxM10:
    setup = ReceiverSetup(family: .ubloxM10)
    figures.canStandby = true
  }
  figures.hasMotionLine = true
  figures.idle = SleepFigures(
    state: .idle, resume: .milliseconds(1), alarmResolution: .milliseconds(1),
    minimum: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
  guard let ring = try? unsafe FixRing(recovering: ringMemory, capacity: capacity) else {
    return report.check(false, "the ring opens")
  }
  let first = Int64(ring.head)
  var service = unsafe FirmwareService(
    engine: Engine(
      EngineSetup(receiver: setup, figures: figures), ring: ring, clients: clients),
    board: FirmwareBoard(receiver, drive: 60..<660, until: 2_400))
  service.run(script)
  tell(service, first, report)
  judge(service, &report)
}

/// Where the wearer stands first; the drive leaves it.
private let home = Region(
  RegionIdentifier(.region, 1),
  center: Coordinate(latitude_e9: 48_118_000_000, longitude_e9: 11_520_000_000), radius: 300)

/// What the clients ask. The deferrals end by distance, by time, by being taken back, by the stop.
private let script: FirmwareService.Script = [
  (1, 0, .connect), (1, 0, .startUpdating),
  (1, 1, .connect), (1, 1, .setDesiredAccuracy(LocationAccuracy.hundredMeters)),
  (1, 1, .setExecution(.background)), (1, 1, .startUpdating),
  (1, 2, .connect), (1, 2, .startUpdating), (2, 2, .stopUpdating),
  (3, 2, .setExecution(.background)), (3, 2, .startSignificantChange),
  (4, 2, .addRegion(home, assuming: .unknown)),
  (30, 0, .setExecution(.background)),
  (30, 0, .allowDeferred(distance: 500, timeout: .infinity)),
  (200, 0, .allowDeferred(distance: LocationLimits.distanceMax, timeout: 60)),
  (300, 0, .allowDeferred(distance: 1e9, timeout: .infinity)),
  (310, 0, .disallowDeferred),
  (320, 0, .allowDeferred(distance: 1e6, timeout: 1e6)),
  (500, 0, .stopUpdating),
  (600, 0, .setExecution(.suspended)),
  (700, 0, .disconnect), (2_000, 2, .stopSignificantChange), (2_001, 2, .disconnect),
]

private func tell(_ service: borrowing FirmwareService, _ first: Int64, _ report: Report) {
  report.result("first-sequence", first)
  report.result("fixes-in-the-ring", service.appended)
  report.result("steps", service.steps)
  report.result("wakes", service.board.wakes)
  report.result("receiver-switches", service.board.switches)
  report.result("commands", Int64(service.engine.driverCounters.commands))
  report.result("losses", Int64(service.engine.driverCounters.losses))
  for i in 0..<3 {
    let told = service.told[i]
    report.result("client", Int64(i))
    report.result("batches", told.batches)
    report.result("fixes", told.fixes)
    report.result("deferrals-met", told.met)
    report.result("deferrals-failed", told.failed)
    report.result("failures", told.failures)
    report.result("gaps", told.gaps)
    report.result("reports", told.reports)
    report.result("visits", told.visits)
    report.result("crossings", told.crossings)
    report.result("other-notices", told.others)
    report.result("first-met-s", told.firstMet)
    report.result("last-met-s", told.lastMet)
    report.result("trace", Int64(bitPattern: told.trace.value))
  }
  report.cost("step-mean", service.spent / UInt64(service.steps))
  report.cost("step-most", service.longest)
  report.size("stack-of-the-loop", service.stack)
}

/// What the contract says of them, whatever the planner decides.
private func judge(_ service: borrowing FirmwareService, _ report: inout Report) {
  let deferring = service.told[0]
  // The receiver needs three seconds, and is told to stop at 500.
  report.check(deferring.fixes == 496, "the one that defers is told every fix")
  report.check(deferring.met == 2, "a distance and a time end a deferral")
  report.check(deferring.failed == 2, "DEF-15, DEF-37: so do taking it back and stopping")
  // 500 m at 10.03 m/s from second 60 on, told when the fix of second 110 has come.
  report.check(deferring.firstMet == 110, "the distance ends when it is travelled")
  report.check(deferring.lastMet == 260, "DEF-17: the time ends when it is over")
  report.check(deferring.batches < 180, "DEF-28: what was deferred came in batches")
  report.check(deferring.gaps == 0 && service.told[1].gaps == 0, "RNG-4: nothing was lost")
  report.check(service.told[1].fixes == service.appended, "who wants 100 metres is told each fix")
  report.check(service.told[2].fixes == 0, "who stops at once is told no more of updates")
  report.check(service.told[2].crossings >= 1, "who watches a region is told that it was left")
  report.check(service.told[2].reports >= 2, "SLC-2: significant change is told as it happens")
  report.check(service.board.switches > 10, "PWR-1: the receiver is cut off between fixes")
  report.check(service.appended < 2_390, "and not every second is a fix")
  report.check(service.engine.decoderCounters.checksumErrors == 0, "every byte is read right")
}
