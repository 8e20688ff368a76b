#if REACHED
  import LocationPolicy
  import LocationTypes
  import ReceiverDrivers

  // The tables of the core's machines for `make soak`.

  /// All machines of the core.
  public enum CoreMachines {
    /// Room by room.
    public static var all: [Machine] {
      DriverMachines.all + PolicyMachines.all + [Search.machine]
    }
  }

  extension Search {
    /// The rows: the receiver is not meant to be awake, searches, has found.
    static let machine = Machine(
      "Search", states: "off searching found", events: "begin succeed stop",
      excluded: [
        ("searching found", "begin", "one that is awake is not woken"),
        ("off", "stop", "one that rests is not put to rest"),
      ])

    func reach(_ event: Int) {
      Search.machine.reach(since != nil ? 1 : quietSince != nil ? 2 : 0, event)
    }
  }
#endif
