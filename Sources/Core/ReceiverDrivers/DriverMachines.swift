#if REACHED
  import LocationTypes

  /// Coverage tables of the drivers' state machines for `make soak`.
  public enum DriverMachines {
    /// All tables, in alphabetical order.
    public static var all: [TransitionCoverage] {
      [PassiveDriver.machine, SentenceDriver.machine, UBloxDriver.machine]
    }
  }
#endif
