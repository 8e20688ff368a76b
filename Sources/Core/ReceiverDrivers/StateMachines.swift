#if REACHED
  import LocationTypes

  // The tables of the drivers for `make soak`.

  /// All machines of this module.
  public enum DriverMachines {
    /// In the order of their names.
    public static var all: [Machine] {
      [PassiveDriver.machine, SentenceDriver.machine, UBloxDriver.machine]
    }
  }
#endif
