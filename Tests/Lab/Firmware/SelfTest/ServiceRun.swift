import CFirmware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// Runs the service for forty minutes with three clients and a ring of 256 fixes: one client
/// defers, one requests an accuracy of 100 metres, one stops updates immediately.
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
  var parameters = PlannerParameters(
    fixInterval: .seconds(1), deferralLimit: capacity / 2,
    timeToFix: TimeToFixTable(cold: .seconds(3)))
  let setup: ReceiverSetup
  switch receiver {
  case .ubx, .nmea:
    setup = ReceiverSetup(family: .passive, hasSupplySwitch: true)
    parameters.canSwitchOff = true
  case .ubloxM10:
    setup = ReceiverSetup(family: .ubloxM10)
    parameters.canStandby = true
  }
  parameters.hasMotionLine = true
  parameters.idle = SleepParameters(
    state: .idle, resumeTime: .milliseconds(1), alarmResolution: .milliseconds(1),
    minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
  guard let ring = try? unsafe FixRing(recovering: ringMemory, capacity: capacity) else {
    return report.check(false, "the ring opens")
  }
  let first = Int64(ring.head)
  var service = unsafe FirmwareService(
    engine: Engine(
      EngineSetup(receiver: setup, parameters: parameters), ring: ring, clients: clients),
    board: FirmwareBoard(receiver, drive: 60..<660, until: 2_400))
  service.run(script)
  printResults(service, first, report)
  checkContract(service, &report)
}

/// Region around the device's first position; the drive leaves it.
private let home = Region(
  RegionIdentifier(.region, 1),
  center: Coordinate(latitude_e9: 48_118_000_000, longitude_e9: 11_520_000_000), radius: 300)

/// The clients' requests. The deferrals end by distance, timeout, `disallowDeferred` and stop.
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

private func printResults(_ service: borrowing FirmwareService, _ first: Int64, _ report: Report) {
  report.result("first-sequence", first)
  report.result("fixes-in-the-ring", service.appended)
  report.result("steps", service.steps)
  report.result("wakes", service.board.wakes)
  report.result("receiver-switches", service.board.switches)
  report.result("commands", Int64(service.engine.driverCounters.commands))
  report.result("losses", Int64(service.engine.driverCounters.losses))
  for i in 0..<3 {
    let totals = service.totals[i]
    report.result("client", Int64(i))
    report.result("batches", totals.batches)
    report.result("fixes", totals.fixes)
    report.result("deferrals-met", totals.met)
    report.result("deferrals-failed", totals.failed)
    report.result("failures", totals.failures)
    report.result("gaps", totals.gaps)
    report.result("reports", totals.reports)
    report.result("visits", totals.visits)
    report.result("crossings", totals.crossings)
    report.result("other-notices", totals.others)
    report.result("first-met-s", totals.firstMet)
    report.result("last-met-s", totals.lastMet)
    report.result("trace", Int64(bitPattern: totals.trace.value))
  }
  report.cost("step-mean", service.instructions / UInt64(service.steps))
  report.cost("step-most", service.longestStep)
  report.size("stack-of-the-loop", service.stack)
}

/// Checks statements of the contract that hold for any decision of the planner.
private func checkContract(_ service: borrowing FirmwareService, _ report: inout Report) {
  let deferring = service.totals[0]
  // The first fix takes three seconds, and updates stop at second 500.
  report.check(deferring.fixes == 496, "the deferring client receives every fix")
  report.check(deferring.met == 2, "a distance and a time end a deferral")
  report.check(deferring.failed == 2, "DEF-15, DEF-37: disallowing and stopping end one")
  // 500 m at 10.03 m/s from second 60 on; reported with the fix of second 110.
  report.check(deferring.firstMet == 110, "the deferral ends when the distance is travelled")
  report.check(deferring.lastMet == 260, "DEF-17: the deferral ends at its timeout")
  report.check(deferring.batches < 180, "DEF-28: deferred fixes are delivered in batches")
  report.check(deferring.gaps == 0 && service.totals[1].gaps == 0, "RNG-4: nothing was lost")
  report.check(service.totals[1].fixes == service.appended, "the 100 m client receives each fix")
  report.check(service.totals[2].fixes == 0, "no updates after an immediate stop")
  report.check(service.totals[2].crossings >= 1, "leaving a region is reported")
  report.check(service.totals[2].reports >= 2, "SLC-2: significant changes are reported")
  report.check(service.board.switches > 10, "PWR-1: the receiver is off between fixes")
  report.check(service.appended < 2_390, "not every second has a fix")
  report.check(service.engine.decoderCounters.checksumErrors == 0, "every byte is read correctly")
}
