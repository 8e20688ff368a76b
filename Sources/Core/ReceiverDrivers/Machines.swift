#if REACHED
  import LocationTypes

  // The tables of the drivers for `make soak`.

  /// All machines of this room.
  public enum DriverMachines {
    /// In the order of their names.
    public static var all: [Machine] {
      [PassiveDriver.machine, SentenceDriver.machine, UBloxDriver.machine]
    }
  }

  extension PassiveDriver {
    static let machine = Machine(
      "PassiveDriver", states: "unpowered powering tracking", events: DriverEvent.columns)
  }

  extension SentenceDriver {
    static let machine = Machine(
      "SentenceDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "restarting configuring tracking fallingAsleep standby lost",
      events: DriverEvent.columns)
  }

  extension UBloxDriver {
    static let machine = Machine(
      "UBloxDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "configuring tracking enabling muting batching changingWatermark draining unmuting "
        + "leaving disabling fallingAsleep standby lost changingPower saving restoring",
      events: DriverEvent.columns)
  }

  extension DriverEvent {
    static let columns = "goal drain message deadline batchPin lineFault wakeFault supplyFault"

    var column: Int {
      switch self {
      case .goal: 0
      case .drain: 1
      case .message: 2
      case .deadline: 3
      case .batchPin: 4
      case .lineFault: 5
      case .pinFault(.receiverWake): 6
      case .pinFault(.receiverSupply): 7
      }
    }
  }
#endif
