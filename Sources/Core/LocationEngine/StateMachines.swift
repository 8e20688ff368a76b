#if REACHED
  import LocationPolicy
  import LocationTypes
  import ReceiverDrivers

  /// All machines of the core.
  public enum CoreMachines {
    /// Driver, policy, engine.
    public static var all: [Machine] {
      DriverMachines.all + PolicyMachines.all + [Search.machine]
    }
  }
#endif
