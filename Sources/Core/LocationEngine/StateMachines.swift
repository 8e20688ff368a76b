#if REACHED
  import LocationPolicy
  import LocationTypes
  import ReceiverDrivers

  // The tables of the core's machines for `make soak`.

  /// All machines of the core.
  public enum CoreMachines {
    /// Driver, policy, engine.
    public static var all: [Machine] {
      DriverMachines.all + PolicyMachines.all + [Search.machine]
    }
  }
#endif
