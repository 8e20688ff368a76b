#if REACHED
  import LocationTypes

  /// State machines of this module, for `make soak`, which counts the pairs of state and event that it reached. Each
  /// machine's table is at the end of the file that defines the machine.
  public enum PolicyMachines {
    /// All machines, sorted by name.
    public static var all: [TransitionCoverage] {
      [
        Deferral.machine, FixSchedule.machine, LiveUpdates.machine, LocationRequest.machine,
        PauseMonitor.machine, RegionCrossing.machine, RegionSlot.machine, SignificantChange.machine,
        VisitMonitor.machine,
      ]
    }
  }
#endif
