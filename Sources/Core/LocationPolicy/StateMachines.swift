#if REACHED
  import LocationTypes

  /// The state machines of this module, whose pairs of state and event `make soak` counts; each table stands at the
  /// end of its machine's file.
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
