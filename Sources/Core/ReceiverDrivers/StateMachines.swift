#if REACHED
  import LocationTypes

  /// The state machines of the drivers, whose pairs of state and event `make soak` counts.
  public enum DriverMachines {
    /// In the order of their names.
    public static var all: [Machine] {
      [PassiveDriver.machine, SentenceDriver.machine, UBloxDriver.machine]
    }
  }
#endif
