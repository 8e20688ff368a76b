import LinuxHAL

/// Monitor of the control group of a connection's process. A process in a frozen group counts as suspended, whatever
/// execution state it reported (BKG-1).
final class ProgramFreezeMonitor {
  let watch: FreezeWatch

  init?(process: Int32) {
    guard let watch = FreezeWatch(process: process) else { return nil }
    self.watch = watch
  }
}
