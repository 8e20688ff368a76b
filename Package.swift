// swift-tools-version: 6.3
import PackageDescription

// The module graph. This file is its only definition: `Tests/ArchitectureTests` compares the imports
// with it, and `make snapshots` writes the table of modules in Docs/Architecture.md from its comments.
// A source file may import only the dependencies that its module declares here.

// MARK: Build variants

/// For `make soak`: the core's state machines record which pairs of state and event they reach.
let isSoak = Context.environment["TORPOR_SOAK"] != nil

/// For `make check`: only the tests without processes and real time, and their dependencies.
let isCheck = Context.environment["TORPOR_CHECK"] != nil

/// For `make fuzz`: libFuzzer provides the main program, so nothing else can link this target.
let isFuzz = Context.environment["TORPOR_FUZZ"] != nil

/// For `make install-swift`: only the library `CoreLocation`, as a static archive, and what it needs.
let isPrefix = Context.environment["TORPOR_SWIFT"] != nil

/// For `make arm64`: an older standard library marks fewer declarations as unsafe, so some `unsafe` are warnings.
let isArm64 = Context.environment["TORPOR_ARM64"] != nil

// MARK: Settings

/// Swift 6 mode and strict memory safety; warnings are errors.
let testSettings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .strictMemorySafety()]
  + (isArm64 ? [] : [.treatAllWarnings(as: .error)])

/// The sources of `make check` are optimized, because its tests are compute-bound.
let sourceSettings: [SwiftSetting] =
  testSettings + (isSoak ? [.define("REACHED")] : []) + (isCheck ? [.unsafeFlags(["-O"])] : [])

/// For types that return a span of their own storage.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// For `AddressOnly` ([why](Decisions/0161-address-only-client-record.md)).
let rawLayout: [SwiftSetting] = [.enableExperimentalFeature("RawLayout")]

// MARK: Layers

/// A folder of `Sources` and of `Tests`; each module is a folder in it.
struct Layer {
  let folder: String

  /// A Swift module.
  ///
  /// Dependencies include modules that it does not import but whose types it stores by value, as the loop stores the
  /// drivers: when their layout changes, an incremental build must recompile it.
  func module(
    _ name: String, _ dependencies: [String], resources: [Resource] = [],
    settings: [SwiftSetting] = []
  ) -> Target {
    .target(
      name: name, dependencies: dependencies.map { .target(name: $0) },
      path: "Sources/\(folder)/\(name)", resources: resources,
      swiftSettings: sourceSettings + settings)
  }

  /// A module in C or C++, linked with system libraries.
  func cModule(_ name: String, libraries: [String] = []) -> Target {
    .target(
      name: name, path: "Sources/\(folder)/\(name)",
      linkerSettings: libraries.map { .linkedLibrary($0, .when(platforms: [.linux])) })
  }

  /// A program.
  func program(
    _ name: String, _ dependencies: [String], packages: [Target.Dependency] = [],
    settings: [SwiftSetting] = []
  ) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies.map { .target(name: $0) } + packages,
      path: "Sources/\(folder)/\(name)", swiftSettings: sourceSettings + settings)
  }

  /// The tests of a module, which may import it, `dependencies` and their dependencies.
  ///
  /// Tests whose name ends in `Swift5Tests` are compiled in Swift 5 mode.
  func tests(_ module: String, named name: String? = nil, _ dependencies: [String] = []) -> Target {
    let name = name ?? module + "Tests"
    let mode: [SwiftSetting] = name.hasSuffix("Swift5Tests") ? [.swiftLanguageMode(.v5)] : []
    return .testTarget(
      name: name,
      dependencies: ([module, "TestSupport"] + dependencies).map { .target(name: $0) },
      path: "Tests/\(folder)/\(name)", swiftSettings: testSettings + mode)
  }
}

let core = Layer(folder: "Core")
let host = Layer(folder: "Host")
let profiles = Layer(folder: "Profiles")
let service = Layer(folder: "Service")
let simulation = Layer(folder: "Simulation")
let tools = Layer(folder: "Tools")
let examples = Layer(folder: "Examples")
let lab = Layer(folder: "Lab")

// MARK: Modules

/// Modules without I/O and heap; also built as Embedded Swift (`make embedded`).
let coreModules: [Target] = [
  /// The C library's mathematics as declarations, the weights of the exit network.
  core.cModule("CCore", libraries: ["m"]),
  /// Instants, UTC and the calendar, coordinates and geodesics, `Fix`, its name and its gaps, error codes.
  core.module("LocationTypes", ["CCore"], settings: lifetimes + rawLayout),
  /// The ring of fixes: slots, cursors, recovery ([format](Reference/ring-format.md)).
  core.module("DeferralCache", ["LocationTypes"]),
  /// NMEA and UBX: bytes to messages and back, messages to epochs to fixes ([details](Reference/nmea-and-ubx.md)).
  core.module("GNSSProtocols", ["LocationTypes"], settings: lifetimes),
  /// Configuration, sleep, wake-up, batching and drain of each receiver family ([sequences](Reference/receivers.md)).
  core.module("ReceiverDrivers", ["LocationTypes", "GNSSProtocols"]),
  /// A client's deferral, cursor and notices; its services ([significant change](Reference/significant-change.md), [visits](Reference/visits.md), [regions](Reference/regions.md), [pauses](Reference/pausing.md), [live updates](Reference/live-updates.md)); the [planner](Explanation/planner.md).
  core.module("LocationPolicy", ["CCore", "LocationTypes", "DeferralCache"]),
  /// One struct composed of the modules above: a closed `Event` in, bounded `Effects` out.
  core.module(
    "LocationEngine",
    ["LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy"]),
  /// The protocols of a board: byte line, pins, boot clock, sleep.
  core.module("LocationHAL", ["LocationTypes"]),
]

/// The loop, the board on Linux, and their common modules.
let hostModules: [Target] = [
  /// epoll, timers, signals, line speeds and the day of the build, which the C library's Swift module lacks.
  host.cModule("CLinux"),
  /// libgpiod version 1 or 2 behind [one interface](Decisions/0120-one-shim-for-two-libgpiods.md).
  host.cModule("CGPIO", libraries: ["gpiod"]),
  /// A GPIO line as named in a profile; sleep states, times to fix, power figures, and the ledger of time and energy per power state.
  host.module("BoardHardware", ["LocationTypes"]),
  /// The loop: waits, feeds the engine, executes its effects; decides nothing.
  host.module(
    "LocationRuntime",
    [
      "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
      "LocationEngine", "LocationHAL",
    ]),
  /// The board on Linux: one wait for everything, the serial line, pins, sleep, the ring's file, signals, log ([details](Reference/linux.md)).
  host.module(
    "LinuxHAL", ["CGPIO", "CLinux", "BoardHardware", "LocationTypes", "LocationHAL"]),
]

/// Profiles of boards, and the checks of a real board.
let profileModules: [Target] = [
  /// toml++ behind a C interface with lines and columns.
  profiles.cModule("CTOML"),
  /// TOML values with their locations; problems with file, line, key and suggestion.
  profiles.module("TOMLFiles", ["CTOML", "BoardHardware"]),
  /// Schema, validation and errors of profiles ([keys](Reference/board-profile.md)); the engine's setup from a profile.
  profiles.module(
    "BoardProfiles",
    [
      "LocationTypes", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy", "LocationEngine",
      "BoardHardware", "TOMLFiles",
    ]),
  /// Checks a board, its lines, its receiver and its ring against the profile, and proposes one ([findings](Reference/torpor.md#torpor-doctor)).
  profiles.module(
    "BoardDoctor",
    [
      "CLinux", "DeferralCache", "BoardHardware", "LinuxHAL", "LocationTypes", "GNSSProtocols",
      "BoardProfiles",
    ]),
]

/// The service on Linux and its clients.
let serviceModules: [Target] = [
  /// Text with exact decimals and ISO 8601 times; JSON and GeoJSON: one writer, one reader with limits; files of text that are replaced as a whole.
  service.module("TextFormats", ["LocationTypes"]),
  /// Calls, replies and notices with their JSON and framing; records for bulk transfer ([socket](Reference/socket.md)).
  service.module(
    "LocationWire", ["LocationTypes", "LocationPolicy", "BoardHardware", "TextFormats"],
    resources: [
      .embedInCode("org.torpor.Location.varlink"), .embedInCode("org.varlink.service.varlink"),
    ]),
  /// gpsd's protocol: requests, policies, reports as JSON and as NMEA sentences ([reference](Reference/gpsd.md)).
  service.module("GPSDProtocol", ["LocationTypes", "GNSSProtocols", "TextFormats"]),
  /// Messages of fixes, gaps and events from a board to a store, as columns of differences ([format](Reference/uplink-payload.md)).
  service.module("UplinkPayload", ["LocationTypes"]),
  /// SQLite, and its macros as functions.
  service.cModule("CSQLite", libraries: ["sqlite3"]),
  /// The durable state: clients, positions in the ring, regions, visits, decisions ([state](Reference/state.md)).
  service.module("ServiceState", ["LocationTypes", "LocationPolicy", "CSQLite"]),
  /// A client's side of the socket: connect, call, receive notices, drain.
  service.module(
    "LocationClient",
    ["CLinux", "LocationTypes", "LocationPolicy", "TextFormats", "LocationWire"]),
  /// What `import Foundation` includes on Apple's systems and not on Linux: `autoreleasepool`.
  service.module("FoundationCompatibility", []),
  /// The part of CoreLocation that is written in C; the submodules of `import CoreLocation.CLVisit`.
  service.cModule("CCoreLocation"),
  /// Apple's Core Location on Linux, over a client's side of the socket.
  service.module(
    "CoreLocation",
    [
      "CCoreLocation", "CLinux", "FoundationCompatibility", "LocationTypes", "LocationPolicy",
      "LocationWire", "LocationClient",
    ],
    // An awaited call stays on the program's thread.
    settings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
  /// Clients on a socket, [permissions](Reference/clients-toml.md), the ring's file, start and stop of the service.
  service.module(
    "LocationService",
    [
      "TOMLFiles", "CLinux", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers", "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime",
      "TextFormats", "LocationWire", "GPSDProtocol", "BoardHardware", "ServiceState",
    ]),
  /// The service: connects the modules according to a profile and a few options.
  service.program(
    "torpord",
    [
      "CLinux", "BoardHardware", "LinuxHAL", "LocationTypes", "LocationEngine",
      "LocationRuntime", "LocationService", "LocationWire", "BoardProfiles", "ServiceState",
    ]),
  /// Accepts TCP connections of programs that use gpsd's protocol, and passes them to the service ([details](Reference/gpsd.md)).
  service.program("torpor-gpsd", ["CLinux"]),
  /// libmosquitto: one exchange with an MQTT broker, on the caller's thread.
  service.cModule("CMosquitto", libraries: ["mosquitto"]),
  /// HTTP requests through libcurl, and gzip through zlib, both loaded when they are needed.
  service.cModule("CCurl"),
  /// Uploads of fixes and gaps to a store over an MQTT broker ([operation](Reference/uplink.md)).
  service.module(
    "Uplink",
    [
      "CLinux", "CMosquitto", "CCurl", "TOMLFiles", "BoardHardware", "LocationTypes",
      "LocationPolicy", "TextFormats", "LocationWire", "LocationClient", "UplinkPayload",
    ]),
  /// The program that sends a board's fixes to a store; a client of the service with a package of its own.
  service.program("torpor-uplink", ["TOMLFiles", "LocationWire", "LocationClient", "Uplink"]),
]

/// A whole board in virtual time.
let simulationModules: [Target] = [
  /// A virtual clock, receivers that send bytes, tracks, noise, faults ([model](Explanation/simulator.md)).
  simulation.module(
    "SimulatedHAL",
    ["CCore", "LocationTypes", "LocationHAL", "GNSSProtocols", "BoardHardware"]),
  /// Runs a client, an engine and a simulated board; the trace and its totals; the [least energy](Explanation/optimum.md) that a track allows.
  simulation.module(
    "LocationSimulation",
    [
      "BoardHardware", "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers",
      "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL",
      "BoardProfiles",
    ]),
]

/// Programs for users.
let toolModules: [Target] = [
  /// expat, with limits for untrusted files.
  tools.cModule("CExpat", libraries: ["expat"]),
  /// Reads and writes GPX ([decision](Decisions/0062-gpx-through-expat.md)).
  tools.module("GPXFiles", ["LocationTypes", "TextFormats", "CExpat"]),
  /// The command: queries the service; decode, replay, simulate and its [page](Explanation/report.md), tune, optimum, board, doctor.
  tools.program(
    "torpor",
    [
      "BoardDoctor", "CLinux", "LinuxHAL", "LocationTypes", "GNSSProtocols", "LocationPolicy",
      "BoardProfiles", "GPXFiles", "LocationSimulation", "SimulatedHAL", "TextFormats",
      "LocationWire", "LocationClient", "GPSDProtocol", "BoardHardware",
    ],
    packages: [.product(name: "ArgumentParser", package: "swift-argument-parser")]),
]

/// The programs of the pages for programmers, which tests run ([how](HowTo/write-a-program.md)).
let exampleModules: [Target] = [
  /// Live updates with a background session.
  examples.program("trail-log", ["CoreLocation"]),
  /// Deferred updates: every fix of a ride, in batches.
  examples.program("ride-log", ["CoreLocation"]),
  /// Significant changes of the location.
  examples.program("town-log", ["CoreLocation"]),
  /// Visits.
  examples.program("visit-log", ["CoreLocation"]),
  /// A service session and a monitor.
  examples.program("gate-log", ["CoreLocation"]),
]

let soak =
  /// Soak test: random clients and faults from seeds, with the contract's invariants; only with `TORPOR_SOAK` ([why](Decisions/0073-soak-run-requires-state-event-coverage.md)).
  lab.program(
    "TorporSoak",
    [
      "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers", "LocationPolicy",
      "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
      "LocationSimulation",
    ])

let fuzz =
  /// Checks the properties with libFuzzer's input; only with `TORPOR_FUZZ` (`make fuzz`).
  lab.program(
    "TorporFuzz", ["DecoderProperties"], settings: [.unsafeFlags(["-parse-as-library"])])

/// Measurements, random runs, fuzzing and the virtual board; not installed.
let labModules: [Target] =
  [
    /// Clock and instruction counts, and exact counts of heap allocations.
    lab.cModule("CBench"),
    /// The measurements of `make bench`: instructions, time, heap allocations, and their budgets.
    lab.program(
      "TorporBench",
      [
        "CBench", "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers",
        "LocationPolicy", "LocationEngine", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation", "TextFormats", "LocationWire",
      ]),
    /// Tests the service on a [virtual board](HowTo/virtual-board.md) with a real kernel in QEMU (`make test-board`).
    lab.program(
      "TorporBoard",
      [
        "CLinux", "LinuxHAL", "LocationTypes", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation", "TextFormats",
      ]),
    /// Properties that hold for any bytes, for tests and libFuzzer ([how](HowTo/fuzz.md)).
    lab.module(
      "DecoderProperties",
      [
        "LocationTypes", "GNSSProtocols", "DeferralCache", "BoardProfiles", "SimulatedHAL",
        "LocationSimulation", "TextFormats", "LocationWire", "GPSDProtocol",
        "UplinkPayload",
      ]),
    /// A client program for measurements, and for tests that kill it.
    lab.program(
      "ClientProbe", ["CLinux", "LocationTypes", "TextFormats", "LocationWire", "LocationClient"]),
    /// Another user of the hook of Swift's executor, for a test of CoreLocationProbe.
    lab.cModule("COtherExecutor"),
    /// A program with location managers, for tests that run it against the service.
    lab.program("CoreLocationProbe", ["COtherExecutor", "CoreLocation", "LocationClient"]),
    /// The same with an asynchronous main program.
    lab.program("CoreLocationAsyncProbe", ["CoreLocation", "LocationClient"]),
    /// Writes the calls of the socket in Swift from its interface description ([how](HowTo/add-a-method.md)).
    lab.program("InterfaceGenerator", []),
    /// A program that writes durable state, for tests that kill it.
    lab.program(
      "StateProbe", ["LocationTypes", "LocationPolicy", "TextFormats", "ServiceState"]),
    /// Generated tracks and a receiver on them, for the training of the exit network; calls `TrainingCore`.
    lab.cModule("CTraining"),
    /// The core's planner and the optimum behind a C interface, for the Python programs that train the exit network ([how](../Sources/Lab/Training/README.md)).
    lab.module(
      "TrainingCore",
      ["CTraining", "BoardHardware", "LocationTypes", "LocationPolicy", "LocationSimulation"]),
    /// Writes the messages of simulated hours, to measure the bytes of [uploads](Reference/uplink-payload.md#size).
    lab.program(
      "PayloadSize",
      [
        "LocationTypes", "DeferralCache", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
        "TextFormats", "UplinkPayload",
      ]),
    /// Decodes recordings and simulates days without Foundation, to compare [processors](HowTo/check-arm64.md).
    lab.program(
      "CoreProbe",
      [
        "LocationTypes", "GNSSProtocols", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
        "TextFormats",
      ]),
  ] + (isSoak ? [soak] : []) + (isFuzz ? [fuzz] : [])

// MARK: Tests

let testTargets: [Target] = [
  core.tests("LocationTypes"),
  core.tests("DeferralCache"),
  core.tests("GNSSProtocols"),
  core.tests(
    "ReceiverDrivers", ["BoardHardware", "GNSSProtocols", "LocationHAL", "SimulatedHAL"]),
  core.tests("LocationPolicy"),
  core.tests(
    "LocationEngine",
    [
      "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers", "LocationPolicy",
      "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardHardware",
    ]),
  core.tests("LocationHAL", ["LocationTypes"]),
  host.tests("BoardHardware", ["LocationTypes"]),
  host.tests(
    "LocationRuntime",
    [
      "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
      "LocationEngine", "LocationHAL",
    ]),
  host.tests("LinuxHAL", ["CLinux", "DeferralCache", "BoardHardware", "LocationHAL"]),
  profiles.tests("BoardProfiles", ["CTOML", "BoardHardware", "TOMLFiles"]),
  profiles.tests(
    "BoardDoctor",
    ["BoardProfiles", "DeferralCache", "BoardHardware", "LinuxHAL", "LocationTypes"]),
  service.tests("TextFormats", ["LocationTypes"]),
  service.tests("LocationWire", ["LocationTypes", "LocationPolicy", "BoardHardware"]),
  service.tests("GPSDProtocol", ["LocationTypes", "GNSSProtocols", "TextFormats"]),
  service.tests("UplinkPayload", ["GNSSProtocols", "LocationTypes"]),
  service.tests(
    "Uplink",
    [
      "LocationTypes", "LocationPolicy", "TOMLFiles", "LocationWire", "LocationClient",
      "UplinkPayload",
    ]),
  service.tests("ServiceState", ["LocationTypes", "LocationPolicy", "CSQLite", "StateProbe"]),
  service.tests("LocationClient", ["LocationTypes", "LocationPolicy", "LocationWire"]),
  service.tests(
    "CoreLocation",
    ["CCoreLocation", "LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"]),
  service.tests("CoreLocation", named: "CoreLocationAPITests"),
  service.tests("CoreLocation", named: "CoreLocationAPISwift5Tests"),
  service.tests(
    "LocationService",
    [
      "TOMLFiles", "CLinux", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers", "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime",
      "LocationWire", "GPSDProtocol", "ClientProbe", "BoardHardware",
    ]),
  simulation.tests("SimulatedHAL", ["GNSSProtocols", "LocationHAL", "BoardHardware"]),
  simulation.tests("LocationSimulation", ["BoardHardware", "BoardProfiles"]),
  tools.tests("GPXFiles"),
  tools.tests(
    "torpor", named: "TorporCommandTests",
    [
      "torpord", "torpor-gpsd", "torpor-uplink", "trail-log", "ride-log", "town-log", "visit-log",
      "gate-log",
      "CoreLocationProbe",
      "CoreLocationAsyncProbe", "BoardDoctor", "BoardProfiles", "CExpat", "CLinux",
      "BoardHardware", "LinuxHAL", "GNSSProtocols", "GPXFiles",
      "LocationClient", "LocationPolicy", "LocationTypes", "LocationWire",
    ]),
  lab.tests("TorporBoard"),
  lab.tests("DecoderProperties"),
  lab.tests("InterfaceGenerator"),
  .target(
    name: "TestSupport",
    dependencies: ["DeferralCache", "LocationTypes", "TextFormats", "LocationWire"],
    path: "Tests/Support",
    swiftSettings: testSettings),
  .testTarget(
    name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: testSettings),
]

/// The test targets of `make check`.
let checkedTests: Set = [
  "LocationTypesTests", "DeferralCacheTests", "GNSSProtocolsTests", "ReceiverDriversTests",
  "LocationPolicyTests", "LocationEngineTests", "LocationHALTests", "LocationRuntimeTests",
  "BoardHardwareTests", "SimulatedHALTests",
]

// MARK: Package

let allTargets =
  coreModules + hostModules + profileModules + serviceModules + simulationModules + toolModules
  + exampleModules + labModules + testTargets

/// The targets in `names`, and their transitive dependencies.
func closure(of names: Set<String>, in targets: [Target]) -> [Target] {
  var needed = names
  for target in targets where names.contains(target.name) {
    for case .targetItem(let name, _) in target.dependencies { needed.insert(name) }
    for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
  }
  return needed == names
    ? targets.filter { names.contains($0.name) } : closure(of: needed, in: targets)
}

/// The library that `make install-swift` installs: programs that link it need no other file of this package.
let prefixProducts: [Product] = [
  .library(name: "CoreLocation", type: .static, targets: ["CoreLocation"])
]

let products: [Product] = [
  .executable(name: "torpor", targets: ["torpor"]),
  .executable(name: "torpord", targets: ["torpord"]),
  .executable(name: "torpor-gpsd", targets: ["torpor-gpsd"]),
  .library(name: "CoreLocation", targets: ["CoreLocation"]),
  .library(name: "LocationClient", targets: ["LocationClient"]),
  .library(name: "LocationEngine", targets: ["LocationEngine"]),
  .library(name: "SimulatedHAL", targets: ["SimulatedHAL"]),
  .library(name: "TrainingCore", type: .dynamic, targets: ["TrainingCore"]),
]

let package = Package(
  name: "Torpor",
  products: isCheck ? [] : isPrefix ? prefixProducts : products,
  dependencies: isCheck || isPrefix
    ? [] : [.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")],
  targets: isCheck
    ? closure(of: checkedTests, in: allTargets)
    : isPrefix ? closure(of: ["CoreLocation"], in: allTargets) : allTargets,
  cxxLanguageStandard: .cxx17
)
