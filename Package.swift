// swift-tools-version: 6.3
import PackageDescription

// The module graph. This file is its only copy: `Tests/ArchitectureTests` reads it and holds the imports
// to it, and the table of modules in Docs/Architecture.md is written from the comments here
// (`make snapshots`). A source file may import only the dependencies that its module declares here.

// MARK: Variants of the build

/// For `make soak`: the core's state machines record which pairs of state and event they reach.
let isSoak = Context.environment["TORPOR_SOAK"] != nil

/// For `make check`: only the tests that neither start a process nor wait, and what they need.
let isCheck = Context.environment["TORPOR_CHECK"] != nil

/// For `make fuzz`: libFuzzer has the main program, so nothing else can link this target.
let isFuzz = Context.environment["TORPOR_FUZZ"] != nil

/// For `make arm64`: an older standard library declares less as unsafe, so that some `unsafe` are warnings there.
let isArm64 = Context.environment["TORPOR_ARM64"] != nil

// MARK: Settings

/// Swift 6 mode and strict memory safety; a warning is an error.
let testSettings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .strictMemorySafety()]
  + (isArm64 ? [] : [.treatAllWarnings(as: .error)])

/// The sources of `make check` are optimized, because its tests compute for most of their time.
let sourceSettings: [SwiftSetting] =
  testSettings + (isSoak ? [.define("REACHED")] : []) + (isCheck ? [.unsafeFlags(["-O"])] : [])

/// For types that return a span of their own bytes.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

// MARK: Layers

/// A folder of `Sources` and of `Tests`; each module is a folder in it.
struct Layer {
  let folder: String

  /// A module of Swift.
  ///
  /// It also declares modules that it does not import but whose types it holds by value, as the loop holds the drivers:
  /// when their layout changes, an incremental build must compile it again.
  func module(
    _ name: String, _ dependencies: [String], settings: [SwiftSetting] = []
  ) -> Target {
    .target(
      name: name, dependencies: dependencies.map { .target(name: $0) },
      path: "Sources/\(folder)/\(name)", swiftSettings: sourceSettings + settings)
  }

  /// A module of C or C++, linked with libraries of the system.
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

  /// The tests of a module, which may import it, `dependencies` and what these need.
  func tests(_ module: String, named name: String? = nil, _ dependencies: [String] = []) -> Target {
    let name = name ?? module + "Tests"
    return .testTarget(
      name: name,
      dependencies: ([module, "TestSupport"] + dependencies).map { .target(name: $0) },
      path: "Tests/\(folder)/\(name)", swiftSettings: testSettings)
  }
}

let core = Layer(folder: "Core")
let host = Layer(folder: "Host")
let profiles = Layer(folder: "Profiles")
let service = Layer(folder: "Service")
let simulation = Layer(folder: "Simulation")
let tools = Layer(folder: "Tools")
let lab = Layer(folder: "Lab")

// MARK: Modules

/// Pure and without a heap; also built as Embedded Swift (`make embedded`).
let coreModules: [Target] = [
  /// The C library's mathematics as declarations, vector operations on 16 bytes, the weights of the exit network.
  core.cModule("CCore", libraries: ["m"]),
  /// Instants, UTC and the calendar, coordinates and geodesics, `Fix`, its name and its gaps, error codes.
  core.module("LocationTypes", ["CCore"], settings: lifetimes),
  /// The ring of fixes: slots, cursors, recovery ([format](Reference/ring-format.md)).
  core.module("DeferralCache", ["LocationTypes"]),
  /// NMEA and UBX: bytes to messages and back, messages to epochs to fixes ([details](Reference/nmea-and-ubx.md)).
  core.module("GNSSProtocols", ["CCore", "LocationTypes"], settings: lifetimes),
  /// How a receiver family is configured, put to sleep, woken, batched and drained ([sequences](Reference/receivers.md)).
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

/// The loop, the board on Linux, and what both need.
let hostModules: [Target] = [
  /// epoll, timers, signals, line speeds and the day of the build, which the C library's Swift module lacks.
  host.cModule("CLinux"),
  /// libgpiod version 1 or 2 behind [one interface](Decisions/0120-one-shim-for-two-libgpiods.md).
  host.cModule("CGPIO", libraries: ["gpiod"]),
  /// A GPIO line as a profile names it; power figures and the ledger of time and energy per power state.
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

/// What is known about a board, and the checks of a real one.
let profileModules: [Target] = [
  /// toml++ behind a C interface with lines and columns.
  profiles.cModule("CTOML"),
  /// TOML values with their places; problems with file, line, key and suggestion.
  profiles.module("TOMLFiles", ["CTOML"]),
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
  /// Calls, replies and notices with their JSON and framing; records for bulk transfer ([socket](Reference/socket.md)).
  service.module("LocationWire", ["LocationTypes", "LocationPolicy", "BoardHardware"]),
  /// SQLite, and its macros as functions.
  service.cModule("CSQLite", libraries: ["sqlite3"]),
  /// The durable state: clients, positions in the ring, regions, visits, decisions ([state](Reference/state.md)).
  service.module("ServiceState", ["LocationTypes", "LocationPolicy", "CSQLite"]),
  /// A client's side of the socket: connect, call, receive notices, drain.
  service.module("LocationClient", ["CLinux", "LocationTypes", "LocationPolicy", "LocationWire"]),
  /// Live updates, monitors and sessions with Core Location's names ([how](HowTo/write-a-program.md), [decision](Decisions/0150-a-program-that-waits-on-its-own-thread.md)).
  service.module(
    "TorporLocation", ["LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"],
    // An awaited call stays on the program's thread: a thread pool would wake it once a second.
    settings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
  /// Clients on a socket, [who may use location](Reference/clients-toml.md), the ring in its file, start and end of the service.
  service.module(
    "LocationService",
    [
      "TOMLFiles", "CLinux", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers", "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime",
      "LocationWire", "BoardHardware", "ServiceState",
    ]),
  /// The service: connects the modules as a profile and a few options say.
  service.program(
    "torpord",
    [
      "CLinux", "BoardHardware", "LinuxHAL", "LocationTypes", "LocationEngine",
      "LocationRuntime", "LocationService", "BoardProfiles", "ServiceState",
    ]),
]

/// A whole board in virtual time.
let simulationModules: [Target] = [
  /// A virtual clock, receivers that send bytes, tracks, noise, faults ([model](Explanation/simulator.md)).
  simulation.module(
    "SimulatedHAL",
    ["CCore", "LocationTypes", "LocationHAL", "GNSSProtocols", "BoardHardware"]),
  /// A client, an engine and a simulated board, run to the end; the trace and its totals; the [least energy](Explanation/optimum.md) that a track allows.
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
  /// expat, with bounds for untrusted files.
  tools.cModule("CExpat", libraries: ["expat"]),
  /// GPX in and out ([decision](Decisions/0062-gpx-through-expat.md)).
  tools.module("GPXFiles", ["LocationTypes", "CExpat"]),
  /// The command: queries the service; decode, replay, simulate and its [page](Explanation/report.md), tune, optimum, board, doctor.
  tools.program(
    "torpor",
    [
      "BoardDoctor", "CLinux", "LinuxHAL", "LocationTypes", "GNSSProtocols", "LocationPolicy",
      "BoardProfiles", "GPXFiles", "LocationSimulation", "SimulatedHAL", "LocationWire",
      "LocationClient", "BoardHardware",
    ],
    packages: [.product(name: "ArgumentParser", package: "swift-argument-parser")]),
  /// The program of [how to write one](HowTo/write-a-program.md), so that a test runs what the page shows.
  tools.program("trail-log", ["TorporLocation"]),
]

let soak =
  /// Seeded random clients and faults with the contract's invariants; only with `TORPOR_SOAK` ([why](Decisions/0073-the-core-marks-what-it-reached.md)).
  lab.program(
    "TorporSoak",
    [
      "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers", "LocationPolicy",
      "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
      "LocationSimulation",
    ])

let fuzz =
  /// The properties with libFuzzer's bytes; only with `TORPOR_FUZZ` (`make fuzz`).
  lab.program(
    "TorporFuzz", ["DecoderProperties"], settings: [.unsafeFlags(["-parse-as-library"])])

/// Measurements, random runs, fuzzing and the virtual board; nothing that users run.
let labModules: [Target] =
  [
    /// Lower bounds in plain C, a stopwatch, and exact counts of heap allocations.
    lab.cModule("CBench"),
    /// The figures of `make bench`: instructions, ratios to a lower bound in C, heap allocations.
    lab.program(
      "TorporBench",
      [
        "CBench", "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers",
        "LocationPolicy", "LocationEngine", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation",
        "LocationWire",
      ]),
    /// The service on a [virtual board](HowTo/virtual-board.md) with a real kernel in QEMU (`make test-board`).
    lab.program(
      "TorporBoard",
      ["LinuxHAL", "LocationTypes", "SimulatedHAL", "BoardProfiles", "LocationSimulation"]),
    /// Properties that hold for any bytes, for tests and libFuzzer ([how](HowTo/fuzz.md)).
    lab.module(
      "DecoderProperties",
      [
        "LocationTypes", "GNSSProtocols", "DeferralCache", "BoardProfiles", "SimulatedHAL",
        "LocationSimulation", "LocationWire",
      ]),
    /// A client of the service that is measured, and killed.
    lab.program("ClientProbe", ["LocationTypes", "LocationWire", "LocationClient"]),
    /// A writer of durable state that tests kill.
    lab.program("StateProbe", ["LocationTypes", "LocationPolicy", "ServiceState"]),
    /// Decodes recordings and simulates days without Foundation, to compare [processors](HowTo/check-arm64.md).
    lab.program(
      "CoreProbe",
      [
        "LocationTypes", "GNSSProtocols", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
      ]),
  ] + (isSoak ? [soak] : []) + (isFuzz ? [fuzz] : [])

// MARK: Tests

let testTargets: [Target] = [
  core.tests("LocationTypes"),
  core.tests("DeferralCache"),
  core.tests("GNSSProtocols", ["CCore"]),
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
  service.tests("LocationWire", ["LocationTypes", "LocationPolicy", "BoardHardware"]),
  service.tests("ServiceState", ["LocationTypes", "LocationPolicy", "CSQLite", "StateProbe"]),
  service.tests("LocationClient", ["LocationTypes", "LocationPolicy", "LocationWire"]),
  service.tests(
    "TorporLocation", ["LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"]),
  service.tests(
    "LocationService",
    [
      "TOMLFiles", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers", "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime",
      "LocationWire", "ClientProbe", "BoardHardware",
    ]),
  simulation.tests("SimulatedHAL", ["GNSSProtocols", "LocationHAL", "BoardHardware"]),
  simulation.tests("LocationSimulation", ["BoardHardware", "BoardProfiles"]),
  tools.tests("GPXFiles"),
  tools.tests(
    "torpor", named: "TorporCommandTests",
    [
      "torpord", "trail-log", "BoardDoctor", "BoardProfiles", "CExpat", "CLinux",
      "BoardHardware", "LinuxHAL", "GNSSProtocols", "GPXFiles", "TorporLocation",
      "LocationClient", "LocationPolicy", "LocationTypes", "LocationWire",
    ]),
  lab.tests("TorporBoard"),
  lab.tests("DecoderProperties"),
  .target(
    name: "TestSupport", dependencies: ["DeferralCache", "LocationTypes", "LocationWire"],
    path: "Tests/Support",
    swiftSettings: testSettings),
  .testTarget(
    name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: testSettings),
]

/// What `make check` tests.
let checkedTests: Set = [
  "LocationTypesTests", "DeferralCacheTests", "GNSSProtocolsTests", "ReceiverDriversTests",
  "LocationPolicyTests", "LocationEngineTests", "LocationHALTests", "LocationRuntimeTests",
  "BoardHardwareTests", "SimulatedHALTests",
]

// MARK: Package

let allTargets =
  coreModules + hostModules + profileModules + serviceModules + simulationModules + toolModules
  + labModules + testTargets

/// Those of `targets` that are named or needed by one that is.
func closure(of names: Set<String>, in targets: [Target]) -> [Target] {
  var needed = names
  for target in targets where names.contains(target.name) {
    for case .targetItem(let name, _) in target.dependencies { needed.insert(name) }
  }
  return needed == names
    ? targets.filter { names.contains($0.name) } : closure(of: needed, in: targets)
}

let package = Package(
  name: "Torpor",
  products: isCheck
    ? []
    : [
      .executable(name: "torpor", targets: ["torpor"]),
      .executable(name: "torpord", targets: ["torpord"]),
      .library(name: "TorporLocation", targets: ["TorporLocation"]),
      .library(name: "LocationClient", targets: ["LocationClient"]),
      .library(name: "LocationEngine", targets: ["LocationEngine"]),
      .library(name: "SimulatedHAL", targets: ["SimulatedHAL"]),
    ],
  dependencies: isCheck
    ? [] : [.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")],
  targets: isCheck ? closure(of: checkedTests, in: allTargets) : allTargets,
  cxxLanguageStandard: .cxx17
)
