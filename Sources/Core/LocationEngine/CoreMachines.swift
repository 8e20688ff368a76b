#if REACHED
  import LocationPolicy
  import LocationTypes
  import ReceiverDrivers

  /// The state machines of the core, for the coverage of (state, event) pairs in tests.
  public enum CoreMachines {
    /// The machines of drivers and policy.
    public static var all: [TransitionCoverage] {
      DriverMachines.all + PolicyMachines.all
    }
  }
#endif
