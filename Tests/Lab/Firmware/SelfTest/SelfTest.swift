import CFirmware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// Runs every check. Prints `PASS` and returns 0 if all succeed.
@_cdecl("firmware_self_test")
public func selfTest() -> Int32 {
  var report = Report()
  checkGeodesy(&report)
  checkMovementPlanner(&report)
  checkRingImages(&report)
  checkService(.ubx, &report)
  checkService(.nmea, &report)
  checkService(.ubloxM10, &report)
  report.size("Engine", MemoryLayout<Engine>.stride)
  report.size("Client", MemoryLayout<Client>.stride)
  report.size("FixRing", MemoryLayout<FixRing>.stride)
  report.size("storage-of-256-fixes", FixRing.storageSize(capacity: 256))
  report.size("GNSSDecoder", MemoryLayout<GNSSDecoder>.stride)
  report.size("EpochAssembler", MemoryLayout<EpochAssembler>.stride)
  report.size("ReceiverDriver", MemoryLayout<ReceiverDriver>.stride)
  report.size("MovementPlanner", MemoryLayout<MovementPlanner>.stride)
  report.size("RegionMonitor", MemoryLayout<RegionMonitor>.stride)
  report.size("LiveUpdates", MemoryLayout<LiveUpdates>.stride)
  report.size("Fix", MemoryLayout<Fix>.stride)
  report.size("Event", MemoryLayout<Event>.stride)
  report.size("Effects", MemoryLayout<Effects>.stride)
  Report.put(report.failures == 0 ? "PASS\n" : "FAIL\n")
  return report.failures == 0 ? 0 : 1
}
