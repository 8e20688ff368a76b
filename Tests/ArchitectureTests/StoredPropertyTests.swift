import Testing

/// Only the sources of the core and of the service are read. Their state lives as long as the service and is reachable
/// from many files, so a second writer can break the service for all clients. `Host` and `Profiles` access the operating
/// system and files; `Simulation`, `Tools` and `Lab` are no part of the service.
@Suite("State has one owner")
struct StoredPropertyTests {
  /// The writable properties of the core and of the service, by module and type.
  private static func found() throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for file in try Repository.files(in: ["Sources/Core", "Sources/Service"], endings: ["swift"]) {
      for property in SwiftText(file.text).writableProperties {
        found["\(file.module).\(property.type)", default: []].append(property.name)
      }
    }
    return found
  }

  @Test("stored properties are set only in their file, except the listed ones")
  func properties() throws {
    let found = try Self.found()
    #expect(found.count > 100, "the sources are read")
    let listed = Set(WritableTypes.reasons.keys)
    for property in Self.unlisted(found, listed) {
      Issue.record(
        "\(property): make it private or private(set), or list it in WritableTypes with the reason")
    }
    for entry in Self.unused(found, listed) {
      Issue.record("\(entry): remove it from WritableTypes, it lists no further writable property")
    }
  }

  /// The writable properties that are not listed, neither they nor their type.
  private static func unlisted(_ found: [String: [String]], _ listed: Set<String>) -> [String] {
    var properties: [String] = []
    for (type, names) in found where !listed.contains(type) {
      for name in names { properties.append("\(type).\(name)") }
    }
    return properties.filter { !listed.contains($0) }.sorted()
  }

  /// The entries that list nothing: neither a type with a writable property, nor a writable property of a type that is
  /// not listed itself.
  private static func unused(_ found: [String: [String]], _ listed: Set<String>) -> [String] {
    var used: Set<String> = []
    for (type, names) in found {
      if listed.contains(type) {
        used.insert(type)
      } else {
        for name in names { used.insert("\(type).\(name)") }
      }
    }
    return listed.subtracting(used).sorted()
  }

  @Test(
    "an entry lists a type with all its properties, or one property",
    arguments: [
      (["M.A"], [], []), (["M.A.a", "M.A.b"], [], []), (["M.A.a"], ["M.A.b"], []),
      ([], ["M.A.a", "M.A.b"], []), (["M.A", "M.A.a"], [], ["M.A.a"]),
      (["M.A", "M.A.c"], [], ["M.A.c"]), (["M.A", "M.B"], [], ["M.B"]),
      (["M.A.a", "M.A.b", "M.A.c"], [], ["M.A.c"]), (["M.A", "M.B.a"], [], ["M.B.a"]),
    ] as [([String], [String], [String])])
  func compares(_ listed: [String], _ unlisted: [String], _ unused: [String]) {
    let found = ["M.A": ["a", "b"]]
    #expect(Self.unlisted(found, Set(listed)) == unlisted)
    #expect(Self.unused(found, Set(listed)) == unused)
  }

  @Test("each entry has a reason, and is listed once")
  func reasons() {
    for (entry, reason) in WritableTypes.reasons {
      #expect(reason.count > 10, "\(entry)")
    }
    #expect(WritableTypes.reasons.count == WritableTypes.lines.count)
  }

  @Test(
    "a property that other files can set is found",
    arguments: [
      ("struct A { var a: Int }", "A.a"), ("final class A { var a = 1 }", "A.a"),
      ("public struct A<B: C> { public var a: [B] }", "A.a"),
      ("struct A { public internal(set) var a = 0 }", "A.a"),
      ("enum A { struct B { var b: (Int) -> Int } }", "A.B.b"),
      ("extension A.B { struct C { var c: Int? } }", "A.B.C.c"),
      ("struct A { var a = 0 { didSet { b() } } }", "A.a"),
      ("struct A { var a: Int { willSet { b() } } }", "A.a"),
      ("struct A { let b = { c() }\n var a = { 1 }() }", "A.a"),
      ("struct A { static var a = 0 }", "A.a"), ("actor A { weak var a: B? }", "A.a"),
      ("struct A { @usableFromInline var a: UInt8 }", "A.a"),
      ("struct A { var a: @Sendable (Int) -> Void\n private var b = 0 }", "A.a"),
      ("struct A { class func b() {}\n var a: Int }", "A.a"),
      ("struct A { private let b: Int\n var a: Int\n init() {} }", "A.a"),
      ("struct A { func b() { var c = 0 }\n var a: Int }", "A.a"),
      ("struct A { var b: Int { get { 0 } }\n var a: Int }", "A.a"),
    ])
  func findsWritable(_ source: String, _ property: String) {
    #expect(SwiftText(source).writableProperties.map { "\($0.type).\($0.name)" } == [property])
  }

  @Test(
    "properties that only their file can set are no violation",
    arguments: [
      "struct A { private var a = 0 }", "struct A { fileprivate var a: Int }",
      "struct A { private(set) var a: Int }", "struct A { public private(set) var a = 0 }",
      "struct A { @usableFromInline private(set) var a = 0 }",
      "struct A { fileprivate(set) static var a = 0 }", "struct A { let a: Int }",
      "struct A { var a: Int { 0 } }", "struct A { var a: Int { get { 0 } set { b(newValue) } } }",
      "protocol A { var a: Int { get set } }", "extension A { var a: [B] { c.map { $0 } } }",
      "func a() { var b = 0 }", "struct A { func b() { struct C { var c: Int } } }",
      "private struct A { var a: Int }", "struct A { private struct B { var b: Int } }",
      "struct A { init() { var a = 0 } }", "// struct A { var a: Int }", "var a = 0",
      "struct A { let a = b { var c = 0 } }", "enum A { case b(Int)\n case `var` }",
    ])
  func findsNone(_ source: String) {
    #expect(SwiftText(source).writableProperties == [])
  }
}

/// The stored properties of the core and of the service that code outside their file may set, each with the reason.
///
/// A record, which has no invariant, is listed as a whole type. A type that holds state is listed by property.
enum WritableTypes {
  /// One entry a line: module and type, or module, type and property; a colon; the reason.
  static let lines = """
    DeferralCache.UnsyncedBytes: record of the bytes to write
    DeferralCache.RingHeader: record of the header's fields
    DeferralCache.RingRecovery: result of opening a ring
    DeferralCache.Slot: record of the words of a slot
    GNSSProtocols.DecoderCounters: totals that the decoder adds to
    GNSSProtocols.Epoch: record of an epoch's values, composed by the assembler
    GNSSProtocols.EpochOptions: options, without state
    GNSSProtocols.EpochAssembler.LastEmitted: record of the last emitted epoch, in a private property
    GNSSProtocols.DatedMoment: record of a time with its date
    GNSSProtocols.EpochCalendar.ReportedDate: record of the dates in one epoch
    GNSSProtocols.EpochDraft.time_us: EpochAssembler assigns sentences to epochs by time and stores the first time
    GNSSProtocols.EpochDraft.received: only EpochAssembler has the arrival time of a sentence
    GNSSProtocols.EpochDraft.openingMessage: only EpochAssembler computes the keys of sentences
    GNSSProtocols.EpochDraft.timedKinds: only EpochAssembler computes the keys of sentences
    GNSSProtocols.EpochDraft.zdaDay: EpochAssembler computes the day with its calendar
    GNSSProtocols.UBXDraft.timeOfWeek_ms: EpochAssembler assigns messages to epochs by time of week
    GNSSProtocols.UBXDraft.received: only EpochAssembler has the arrival time of a message
    GNSSProtocols.DecoderOptions: options, without state
    GNSSProtocols.UBXChecksum: sum of one frame, computed by the decoder and by the encoder
    GNSSProtocols.NMEAFormat: options, without state
    GNSSProtocols.GSA: message: a record of its fields
    GNSSProtocols.SatelliteInView: message: a record of its fields
    GNSSProtocols.GSV: message: a record of its fields
    GNSSProtocols.Talker: message: a record of its fields
    GNSSProtocols.ShortDate: message: a record of its fields
    GNSSProtocols.RMC: message: a record of its fields
    GNSSProtocols.GGA: message: a record of its fields
    GNSSProtocols.GST: message: a record of its fields
    GNSSProtocols.VTG: message: a record of its fields
    GNSSProtocols.ZDA: message: a record of its fields
    GNSSProtocols.GLL: message: a record of its fields
    GNSSProtocols.GNS: message: a record of its fields
    GNSSProtocols.GBS: message: a record of its fields
    GNSSProtocols.UBloxPosition: message: a record of its fields
    GNSSProtocols.GarminErrors: message: a record of its fields
    GNSSProtocols.GarminAltitude: message: a record of its fields
    GNSSProtocols.CommandResult: message: a record of its fields
    GNSSProtocols.FamilyDescriptor: row of a table, composed by its family's file
    GNSSProtocols.BatchLimits: row of a table, composed by its family's file
    GNSSProtocols.IdentityQuery: row of a table, composed by its family's file
    GNSSProtocols.UBXAidingEntry: message: a record of its fields
    GNSSProtocols.UBXAidingAnswer: message: a record of its fields
    GNSSProtocols.UBXCivilTime: message: a record of its fields
    GNSSProtocols.UBXLayers: option set, whose raw value the standard library requires
    GNSSProtocols.UBXConfigurationItem: message: a record of its fields
    GNSSProtocols.UBXConfiguration: message: a record of its fields
    GNSSProtocols.UBXPowerRequest: message: a record of its fields
    GNSSProtocols.UBXPort: message: a record of its fields
    GNSSProtocols.UBXPowerManagement: message: a record of its fields
    GNSSProtocols.UBXBatchConfiguration: message: a record of its fields
    GNSSProtocols.UBXIdentity: message: a record of its fields
    GNSSProtocols.UBXBatchStatus: message: a record of its fields
    GNSSProtocols.UBXBatchEntry: message: a record of its fields
    GNSSProtocols.UBXECEFVector: message: a record of its fields
    GNSSProtocols.UBXPosition: message: a record of its fields
    GNSSProtocols.UBXPrecisePosition: message: a record of its fields
    GNSSProtocols.UBXStatus: message: a record of its fields
    GNSSProtocols.UBXDilutions: message: a record of its fields
    GNSSProtocols.UBXECEFSolution: message: a record of its fields
    GNSSProtocols.UBXVelocity: message: a record of its fields
    GNSSProtocols.UBXSatellites: message: a record of its fields
    GNSSProtocols.UBXSolution: message: a record of its fields
    GNSSProtocols.WordPair: two values in one word, part of UBXSolution
    GNSSProtocols.UBXGPSTime: message: a record of its fields
    GNSSProtocols.UBXTimeUTC: message: a record of its fields
    GNSSProtocols.UBXLeapSeconds: message: a record of its fields
    GNSSProtocols.UBXVersion: message: a record of its fields
    LocationEngine.ReceiverReport: record that the engine returns
    LocationEngine.ClientUsage: record that the engine returns
    LocationEngine.EpochTime: record that the engine returns
    LocationEngine.EngineSetup: configuration of the engine
    LocationEngine.Effects: result of a step, composed by the engine's files
    LocationEngine.ClientNotice: record that the engine returns
    LocationHAL.WakeReport: record of a wake
    LocationPolicy.BatteryThresholds: configuration, without state
    LocationPolicy.ClientSettings: configuration, without state
    LocationPolicy.ClientBookmark: record of what is stored of a client
    LocationPolicy.ClientContext: record of the inputs of one step
    LocationPolicy.DemandSummary: sum that the client's parts add to
    LocationPolicy.PendingEnd: record in the queue of ends
    LocationPolicy.LiveElement: record delivered to a client
    LocationPolicy.MovementHistory.Sample: record of a fix in the history
    LocationPolicy.MovementTuning: constants, which training replaces
    LocationPolicy.Plan: result of the planner
    LocationPolicy.SleepParameters: configuration, without state
    LocationPolicy.BatchParameters: configuration, without state
    LocationPolicy.TimeToFixTable.Point: configuration, without state
    LocationPolicy.TimeToFixTable: configuration, without state
    LocationPolicy.PlannerParameters: configuration, without state
    LocationPolicy.PlannerInput: input of the planner, without state
    LocationPolicy.Planner.parameters: Engine withdraws batching and duty cycle while their back-off lasts
    LocationPolicy.ReceiverParameters: configuration, without state
    LocationPolicy.RegionIdentifier: record of a region
    LocationPolicy.Region: record of a region
    LocationPolicy.Circle: record of a region's shape
    LocationPolicy.RegionLimits: configuration, without state
    LocationPolicy.RegionMonitor.Newest: record of a fix; the monitor replaces it
    LocationPolicy.SessionDiagnostics: record delivered to a client
    LocationPolicy.ServiceSession: record in the table of sessions, which is private(set)
    LocationPolicy.ClientUse: record of a use, compared as a whole
    LocationPolicy.Visit: record delivered to a client
    LocationPolicy.VisitParameters: configuration, without state
    LocationPolicy.VisitSample: record of a fix for the visit monitor
    LocationTypes.PinCommand: record of a command
    LocationTypes.Fix: record of a fix
    LocationTypes.FixName: record of a fix
    LocationTypes.Gap: record of lost fixes
    LocationTypes.StoredFix: record of a fix
    LocationTypes.FixTime: record of a fix
    LocationTypes.DilutionsOfPrecision: record of a satellite view
    LocationTypes.Satellite: record of a satellite view
    LocationTypes.SatelliteView: record that the collector composes
    LocationTypes.Coordinate: record of a position
    LocationTypes.ECEF: record of a position
    LocationTypes.Angle: intermediate result of the geodesic
    LocationTypes.GeodesicSolution: intermediate result of the geodesic
    LocationTypes.SineSeries: intermediate result of the geodesic
    LocationTypes.GeodesicSeries: intermediate result of the geodesic
    LocationTypes.Interval: value with one unit and no invariant
    LocationTypes.Instant: value with one unit and no invariant
    LocationTypes.RetryBackoff.nextTime: the owner sets it for a delay that counts as no failure
    LocationTypes.UTCTime: value with one unit and no invariant
    LocationTypes.CalendarDate: record of a date
    ReceiverDrivers.DriverEffects: result of a driver's step, composed by its files
    ReceiverDrivers.DriverStatus: record that a driver returns
    ReceiverDrivers.DriverCounters: totals that the drivers add to
    ReceiverDrivers.PendingObservations.lost: flag that ReceiverLink sets at a loss, and UBloxDriver at a loss during a drain
    ReceiverDrivers.PendingObservations.recovered: flag that ReceiverLink sets when a lost receiver reaches its goal
    ReceiverDrivers.PendingObservations.drained: flag that each driver sets when it answers a drain request
    ReceiverDrivers.PendingObservations.reached: flag that ReceiverLink sets at the goal, and clears at a new goal or a loss
    ReceiverDrivers.ReceiverLink.counters: totals that the drivers add to
    ReceiverDrivers.ReceiverLink.now: the drivers set it on admission of an epoch, which is no event
    ReceiverDrivers.ReceiverLink.due: each driver sets the deadlines of its own states
    ReceiverDrivers.ReceiverLink.exchange: private state, whose mutating functions the drivers call
    ReceiverDrivers.ReceiverLink.receiver: private state, whose mutating functions the drivers call
    ReceiverDrivers.ReceiverLink.satellites: private state, whose mutating functions the drivers call
    ReceiverDrivers.ReceiverLink.retryCounters: CommandedDriver counts failures in it and requests power cycles
    ReceiverDrivers.ReceiverLink.effects: CommandedDriver adds the observation, UBloxDriver the aiding operation
    ReceiverDrivers.ReceiverLink.pending: the drivers add their reports, CommandedDriver removes them
    ReceiverDrivers.BatchSetup: configuration, without state
    ReceiverDrivers.AidingSetup: configuration, without state
    ReceiverDrivers.ReceiverSetup: configuration, without state
    ReceiverDrivers.RetryCounters.wakeUps: ReceiverLink counts wake-ups, and clears the count when the receiver answers
    ReceiverDrivers.RetryCounters.speedChanges: ReceiverLink counts them, and clears the count when the receiver answers
    ReceiverDrivers.RetryCounters.losses: ReceiverLink keeps the count when it powers a streaming receiver off
    ReceiverDrivers.RetryCounters.isLossReported: ReceiverLink sets it with the report of the loss
    ReceiverDrivers.RetryCounters.needsPowerCycle: CommandedDriver sets it for a retry, ReceiverLink clears it at power-off
    ReceiverDrivers.RetryCounters.unexpectedWakes: ReceiverLink clears the count at a new goal
    ReceiverDrivers.SentenceDriver.link: CommandedDriver changes it in the transitions that all drivers share
    ReceiverDrivers.SentenceDriver.flash: the entry actions, in SentenceState, begin readings and count writes
    ReceiverDrivers.SentenceDriver.standbyRetry: the entry action of standby, in SentenceState, resets it
    ReceiverDrivers.UBloxDriver.link: CommandedDriver changes it in the transitions that all drivers share
    ReceiverDrivers.UBloxDriver.Aiding: record in a private(set) property of UBloxDriver
    ReceiverDrivers.UBloxDriver.KnownState: record in a private(set) property of UBloxDriver
    ReceiverDrivers.UBloxDriver.DrainProgress: record in a private(set) property of UBloxDriver
    LocationClient.ClientSession: when to acknowledge, an option of the program
    LocationService.LocationServer.Environment: configuration, without state
    LocationService.LocationServer.permissions: private state, whose mutating functions the extensions call
    LocationService.LocationServer.persistence: private state, whose mutating functions the extensions call
    LocationService.LocationServer.connections: private state, whose mutating functions the extensions call
    LocationService.LocationServer.clients: private state, whose mutating functions the extensions call
    LocationService.LocationServer.gpsd: private state, whose mutating functions the extensions call
    LocationService.GPSDPart.connections: private state, whose mutating functions the extensions call
    LocationService.GPSDSettings: configuration, without state
    GPSDProtocol.GPSDPosition: record of a report
    GPSDProtocol.GPSDSaving: configuration, without state
    LocationService.Reload: result of reading the configuration again
    LocationService.RingProblem: description of an error
    LocationService.AccessPolicy: configuration, without state
    LocationService.AccessSubject: configuration, without state
    LocationService.AccessRights: configuration, without state
    LocationService.AccessRule: configuration, without state
    LocationService.AccessDecision: record of a decision
    LocationService.StartedServices: record in ClientProcess, where it is private(set)
    LocationService.Launch: record of a program to start
    LocationService.ServedClient.notices: private state, whose mutating functions LocationServer calls
    LocationService.ServedClient.sessions: private state, whose mutating functions LocationServer calls
    LocationService.ServedClient.launch: private state, whose mutating functions LocationServer calls
    LocationService.ServedClient.rows: private state, whose mutating functions LocationServer calls
    LocationService.ServedClient.regionNames: private state, whose mutating functions LocationServer calls
    LocationService.ServedClient.holds: private state, whose mutating functions LocationServer calls
    LocationService.Peer: credentials from the kernel
    LocationService.Listener: system calls that tests replace
    LocationService.CallCharge: record computed for one call
    LocationService.ResourceQuota.Usage: amounts that the caller adds up for one decision
    LocationService.DisplacementCandidate: record for one decision
    LocationService.ReceiverLineSettings: configuration, without state
    LocationService.BoardUsage: counters read from the kernel
    LocationService.ServiceMetrics: record of the values of one text, without state
    LocationWire.IncomingCall: wire message: a record of its fields
    LocationWire.WireSettings: wire message: a record of its fields
    LocationWire.WireRegion: wire message: a record of its fields
    LocationWire.WireMonitoredRegion: wire message: a record of its fields
    LocationWire.WireClientName: wire message: a record of its fields
    LocationWire.WireRegionEvent: wire message: a record of its fields
    LocationWire.FixRecordHeader: wire message: a record of its fields
    LocationWire.WireEnergy: wire message: a record of its fields
    LocationWire.WireHold: wire message: a record of its fields
    LocationWire.IncomingReply: wire message: a record of its fields
    LocationWire.WireServiceInfo: wire message: a record of its fields
    LocationWire.WireSession: wire message: a record of its fields
    LocationWire.WireClient: wire message: a record of its fields
    LocationWire.WireStatus: wire message: a record of its fields
    LocationWire.WirePlan: wire message: a record of its fields
    LocationWire.WireClock: wire message: a record of its fields
    LocationWire.WireReceiver: wire message: a record of its fields
    LocationWire.WireUse: wire message: a record of its fields
    TextFormats.JSONLimits: options, without state
    TextFormats.JSONDocument.Node: node of a parsed document, in which it is a constant
    TextFormats.TextBuffer: how much memory to retain, an option of the owner
    TextFormats.JSONOutput: the buffer, which protects its own memory
    ServiceState.ClientRecord: row of a table, whose storage is private
    ServiceState.CursorRecord: row of a table, whose storage is private
    ServiceState.ServicesRecord: row of a table, whose storage is private
    ServiceState.EventRecord.Key: row of a table, whose storage is private
    ServiceState.EventRecord: row of a table, whose storage is private
    ServiceState.Repairs.Rows: result of opening the state
    ServiceState.Repairs: result of opening the state
    ServiceState.RegionRecord.Key: row of a table, whose storage is private
    ServiceState.RegionRecord: row of a table, whose storage is private
    ServiceState.CounterRecord: row of a table, whose storage is private
    ServiceState.StateRows: tables with private state
    ServiceState.StateStatistics: totals of what was written
    ServiceState.StateStore.rows: tables with private storage, which keep their invariants; Persistence writes them
    CoreLocation.CLLocationCoordinate2D: record of a position, writable in Apple's API
    CoreLocation.CLRegion.notifyOnEntry: writable in Apple's API
    CoreLocation.CLRegion.notifyOnExit: writable in Apple's API
    CoreLocation.CLBeaconRegion.notifyEntryStateOnDisplay: writable in Apple's API
    CoreLocation.LocationValues: record of a location, constant in CLLocation
    CoreLocation.BeaconIdentity: record of an identity, constant in its owners
    CoreLocation.CLLocationManager.showsBackgroundLocationIndicator: writable in Apple's API
    CoreLocation.CLLocationManager.headingFilter: writable in Apple's API
    CoreLocation.CLLocationManager.headingOrientation: writable in Apple's API
    CoreLocation.ClientIdentity: configuration, without state
    CoreLocation.ManagerDemand: record in a private(set) property of MergedDemand
    CoreLocation.OutstandingDeferral: record in a private(set) property of MergedDemand
    CoreLocation.ServiceDemand: record in a private(set) property of ServiceLink
    CoreLocation.LatestFixes: record in a private property of MergedDemand
    CoreLocation.MergedDemand.Effects: result of a step, composed by MergedDemand
    CoreLocation.OutgoingCall: record in the outbox
    CoreLocation.UpdateQueue.Addition: result of a step, composed by its queue and the router
    CoreLocation.SessionState: guarded by the lock of LocationSession, whose files change it
    torpor-gpsd.Options: options of the command line
    UplinkPayload.UplinkMessage: record of a message
    Uplink.UplinkSettings: configuration, without state
    Uplink.UplinkSettings.Destination: configuration, without state
    Uplink.UplinkSettings.Region: configuration, without state
    Uplink.BrokerMemory: record in a private property of UplinkController
    Uplink.UplinkStatus: record in a private property of UplinkController
    torpor-uplink.Options: options of the command line
    torpord.Options: options of the command line
    """
    .split(separator: "\n")

  /// The reasons by entry.
  static let reasons = Dictionary(
    lines.compactMap { line in
      line.firstRange(of: ": ").map {
        (String(line[..<$0.lowerBound]), String(line[$0.upperBound...]))
      }
    }, uniquingKeysWith: { first, _ in first })
}
