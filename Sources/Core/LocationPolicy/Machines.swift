#if REACHED
  import LocationTypes

  // The tables of this room's machines for `make soak`: names of states and events, and the pairs
  // that cannot happen.

  /// All machines of this room.
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

  extension Deferral {
    static let machine = Machine(
      "Deferral", states: "idle armed engaged", events: "call fix time mayEngage mayNotEngage end",
      excluded: [
        ("idle", "mayEngage mayNotEngage", "only an outstanding call is engaged")
      ])
  }

  extension Deferral.Event {
    var column: Int {
      switch self {
      case .call: 0
      case .fix: 1
      case .time: 2
      case .mayEngage: 3
      case .mayNotEngage: 4
      case .end: 5
      }
    }
  }

  extension FixSchedule {
    static let machine = Machine(
      "FixSchedule", states: "idle resting searching settling tracking backedOff",
      events: "isOnAnyway noNeed need fix drained urged")
  }

  extension FixSchedule.Event {
    var column: Int {
      switch self {
      case .plan(let need, let isOnAnyway): isOnAnyway ? 0 : need.isAny ? 2 : 1
      case .fix: 3
      case .drained: 4
      case .urged: 5
      }
    }
  }

  extension LiveUpdates {
    /// The rows: no iterator, some, some that must be shown nothing.
    static let machine = Machine(
      "LiveUpdates", states: "closed open withheld", events: "open close set fix miss time line",
      excluded: [
        ("closed", "set", "flags are reckoned while an iterator is open"),
        ("closed withheld", "time", "nothing of them is due"),
        ("withheld", "fix", "a client that may not use location is given none"),
      ])

    func reach(_ event: Int) {
      LiveUpdates.machine.reach(count == 0 ? 0 : isWithheld ? 2 : 1, event)
    }
  }

  extension LocationRequest {
    static let machine = Machine(
      "LocationRequest", states: "idle pending", events: "request fix time cancel fail",
      excluded: [("idle", "time", "time is looked at while a call is outstanding")])
  }

  extension LocationRequest.Event {
    var column: Int {
      switch self {
      case .request: 0
      case .fix: 1
      case .time: 2
      case .cancel: 3
      case .fail: 4
      }
    }
  }

  extension PauseMonitor {
    static let machine = Machine(
      "PauseMonitor", states: "idle watching paused halted",
      events: "start stop allow activity fix noFix line time",
      excluded: [
        ("idle halted", "fix", "fixes come while updates run"),
        ("idle halted", "stop", "what does not run is not stopped"),
      ])
  }

  extension PauseMonitor.Event {
    var column: Int {
      switch self {
      case .start: 0
      case .stop: 1
      case .allow: 2
      case .activity: 3
      case .fix: 4
      case .noFix: 5
      case .line: 6
      case .time: 7
      }
    }
  }

  extension RegionCrossing {
    /// A crossing that is under way makes two rows more.
    static let machine = Machine(
      "RegionCrossing", states: "unknown inside outside leaving entering",
      events: "wellInside justInside astride justOutside wellOutside")

    var row: Int { state.rawValue + (pendingSince == nil ? 0 : 2) }
  }

  extension RegionSlot {
    static let machine = Machine(
      "RegionSlot", states: "free live leaving",
      events: "add believe remove turn fix request expire crossing answer",
      excluded: [
        ("free leaving", "believe remove turn fix request", "no circle of it is monitored"),
        ("free leaving", "expire", "no request of it waits"),
        ("free", "crossing answer", "what is told frees it"),
        ("leaving", "crossing", "crossings that were not told are taken back"),
      ])

    func reach(_ event: Int) { RegionSlot.machine.reach(Int(use.rawValue), event) }
  }

  extension SignificantChange {
    static let machine = Machine(
      "SignificantChange", states: "idle first watching", events: "start stop fix time miss",
      excluded: [("idle first", "time", "only a change that waits for the gate is looked at")])

    func reach(_ event: Int) { SignificantChange.machine.reach(Int(state.rawValue), event) }
  }

  extension VisitMonitor {
    static let machine = Machine(
      "VisitMonitor", states: "idle underWay visiting", events: "start stop fix miss line")

    func reach(_ event: Int) { VisitMonitor.machine.reach(Int(state.rawValue), event) }
  }
#endif
