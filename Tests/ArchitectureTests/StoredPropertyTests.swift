import Testing

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

  @Test("stored properties are set only in their file, except those of listed types")
  func properties() throws {
    let found = try Self.found()
    #expect(found.count > 100, "the sources are read")
    let listed = WritableTypes.reasons
    for (type, names) in found.sorted(by: { $0.key < $1.key }) where listed[type] == nil {
      Issue.record(
        "\(type): \(names.joined(separator: ", ")): make them private or private(set), or list the type in WritableTypes with the reason"
      )
    }
    for type in listed.keys.sorted() where found[type] == nil {
      Issue.record("\(type): remove it from WritableTypes, it has no writable property")
    }
  }

  @Test("each listed type has a reason, and is listed once")
  func reasons() {
    for (type, reason) in WritableTypes.reasons {
      #expect(reason.count > 10, "\(type)")
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

/// The types of the core and of the service whose stored properties code outside their file may set, each with the
/// reason.
enum WritableTypes {
  /// One type a line: its module and name, a colon, the reason.
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
    GNSSProtocols.EpochDraft: draft that EpochAssembler and the rules of its messages compose
    GNSSProtocols.UBXDraft: draft that EpochAssembler and the rules of its messages compose
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
    LocationPolicy.Plan: result of the planner
    LocationPolicy.SleepParameters: configuration, without state
    LocationPolicy.BatchParameters: configuration, without state
    LocationPolicy.TimeToFixTable.Point: configuration, without state
    LocationPolicy.TimeToFixTable: configuration, without state
    LocationPolicy.PlannerParameters: configuration, without state
    LocationPolicy.PlannerInput: input of the planner, without state
    LocationPolicy.Planner: its parameters follow the engine's back-offs; it has no other state
    LocationPolicy.ReceiverParameters: configuration, without state
    LocationPolicy.RegionIdentifier: record of a region
    LocationPolicy.Region: record of a region
    LocationPolicy.RegionLimits: configuration, without state
    LocationPolicy.RegionMonitor.Newest: record of a fix; the monitor replaces it
    LocationPolicy.RegionSummary: result that the monitor composes
    LocationPolicy.SessionDiagnostics: record delivered to a client
    LocationPolicy.ServiceSession: record in the table of sessions, which is private(set)
    LocationPolicy.ClientUse: record of a use, compared as a whole
    LocationPolicy.VisitMoment: record delivered to a client
    LocationPolicy.Visit: record delivered to a client
    LocationPolicy.VisitParameters: configuration, without state
    LocationPolicy.VisitSample: record of a fix for the visit monitor
    LocationTypes.PinCommand: record of a command
    LocationTypes.Fix: record of a fix
    LocationTypes.FixName: record of a fix
    LocationTypes.Gap: record of lost fixes
    LocationTypes.StoredFix: record of a fix
    LocationTypes.FixTime: record of a fix
    LocationTypes.Coordinate: record of a position
    LocationTypes.ECEF: record of a position
    LocationTypes.Angle: intermediate result of the geodesic
    LocationTypes.GeodesicSolution: intermediate result of the geodesic
    LocationTypes.SineSeries: intermediate result of the geodesic
    LocationTypes.GeodesicSeries: intermediate result of the geodesic
    LocationTypes.Interval: value with one unit and no invariant
    LocationTypes.Instant: value with one unit and no invariant
    LocationTypes.UTCTime: value with one unit and no invariant
    LocationTypes.CalendarDate: record of a date
    ReceiverDrivers.DriverEffects: result of a driver's step, composed by its files
    ReceiverDrivers.DriverStatus: record that a driver returns
    ReceiverDrivers.DriverCounters: totals that the drivers add to
    ReceiverDrivers.PendingObservations: reports of a driver, part of ReceiverLink
    ReceiverDrivers.ReceiverLink: state that CommandedDriver and the driver that owns the link set in turn, in each transition
    ReceiverDrivers.BatchSetup: configuration, without state
    ReceiverDrivers.AidingSetup: configuration, without state
    ReceiverDrivers.ReceiverSetup: configuration, without state
    ReceiverDrivers.RetryCounters: counters of a driver, part of ReceiverLink
    ReceiverDrivers.SentenceDriver: its link, which CommandedDriver changes; refusals of standby, which its states set
    ReceiverDrivers.UBloxDriver: its link, which CommandedDriver changes
    ReceiverDrivers.UBloxDriver.Aiding: record in a private(set) property of UBloxDriver
    ReceiverDrivers.UBloxDriver.KnownState: record in a private(set) property of UBloxDriver
    ReceiverDrivers.UBloxDriver.DrainProgress: record in a private(set) property of UBloxDriver
    LocationClient.ClientSession: when to acknowledge, an option of the program
    LocationService.LocationServer.Environment: configuration, without state
    LocationService.LocationServer: parts with private state, whose mutating functions the extensions call (its essay)
    LocationService.Reload: result of reading the configuration again
    LocationService.RingProblem: description of an error
    LocationService.AccessPolicy: configuration, without state
    LocationService.AccessSubject: configuration, without state
    LocationService.AccessRights: configuration, without state
    LocationService.AccessRule: configuration, without state
    LocationService.AccessDecision: record of a decision
    LocationService.StartedServices: record in ClientProcess, where it is private(set)
    LocationService.Launch: record of a program to start
    LocationService.ServedClient: parts with private state, whose mutating functions LocationServer calls
    LocationService.Peer: credentials from the kernel
    LocationService.Listener: system calls that tests replace
    LocationService.CallCharge: record computed for one call
    LocationService.ResourceQuota.Usage: amounts that the caller adds up for one decision
    LocationService.DisplacementCandidate: record for one decision
    LocationService.ReceiverLineSettings: configuration, without state
    LocationService.BoardUsage: counters read from the kernel
    LocationWire.IncomingCall: wire message: a record of its fields
    LocationWire.WireSettings: wire message: a record of its fields
    LocationWire.WireRegion: wire message: a record of its fields
    LocationWire.WireMonitoredRegion: wire message: a record of its fields
    LocationWire.WireClientName: wire message: a record of its fields
    LocationWire.JSONLimits: options, without state
    LocationWire.JSONDocument.Node: node of a parsed document, in which it is a constant
    LocationWire.JSONOutput: how much memory to retain, an option of the owner
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
    LocationWire.WireReceiver: wire message: a record of its fields
    LocationWire.WireUse: wire message: a record of its fields
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
    ServiceState.StateStore: its tables, which keep their invariants themselves and are written through Persistence
    TorporLocation.LocationMonitor.CircularCondition: record of a condition
    TorporLocation.LocationMonitor.BeaconIdentityCondition: record of a condition
    TorporLocation.LocationAuthorization: record of an authorization
    TorporLocation.LinkState: state of the connection's thread, which only the jobs on that thread receive
    torpord.Options: options of the command line
    """
    .split(separator: "\n")

  /// The reasons by type.
  static let reasons = Dictionary(
    lines.compactMap { line in
      line.firstRange(of: ": ").map {
        (String(line[..<$0.lowerBound]), String(line[$0.upperBound...]))
      }
    }, uniquingKeysWith: { first, _ in first })
}
