#if REACHED
  import LocationTypes

  // The tables of this module's machines for `make soak`: names of states and events, and the pairs
  // that cannot happen.

  /// All machines of this module.
  public enum PolicyMachines {
    /// In the order of their names.
    public static var all: [Machine] {
      [
        Deferral.machine, FixSchedule.machine, LiveUpdates.machine, LocationRequest.machine,
        PauseMonitor.machine, RegionCrossing.machine, RegionSlot.machine, SignificantChange.machine,
        VisitMonitor.machine,
      ]
    }
  }
#endif
