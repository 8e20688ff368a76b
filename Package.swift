// swift-tools-version: 6.3
import PackageDescription

/// Only for `make soak`: the core's machines mark which pairs of state and event they reach.
let isSoaked = Context.environment["TORPOR_SOAK"] != nil

/// Only for `make check`: the tests that neither start a process nor wait, with what they need.
let isChecked = Context.environment["TORPOR_CHECK"] != nil

/// Only for `make arm64`: an older standard library marks less of itself as unsafe, so that an `unsafe` of ours
/// is one too many there, which is a warning.
let isForArm64 = Context.environment["TORPOR_ARM64"] != nil

/// Everything is built in Swift 6 mode, with strict memory safety, and a warning is an error.
let strictTests: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .strictMemorySafety()]
  + (isForArm64 ? [] : [.treatAllWarnings(as: .error)])

/// Sources as well; those of `make check` are optimized, for its tests compute for most of their time.
let strict: [SwiftSetting] =
  strictTests + (isSoaked ? [.define("REACHED")] : [])
  + (isChecked ? [.unsafeFlags(["-O"])] : [])

/// The core: pure, heap-free, built as Embedded Swift by `make test` as well.
let core: [Target] = [
  .target(
    name: "CMath",
    linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]
  ),
  .target(name: "CExitWeights", exclude: ["Training"]),
  .target(name: "CBytes"),
  .target(
    name: "LocationTypes", dependencies: ["CMath"],
    // A chunk hands out a span of its own bytes.
    swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
  .target(name: "DeferralCache", dependencies: ["LocationTypes"], swiftSettings: strict),
  .target(
    name: "GNSSProtocols", dependencies: ["CBytes", "LocationTypes"],
    // A frame buffer hands out a span of its own bytes.
    swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
  .target(
    name: "ReceiverDrivers", dependencies: ["LocationTypes", "GNSSProtocols"],
    swiftSettings: strict),
  .target(
    name: "LocationPolicy",
    dependencies: ["CMath", "CExitWeights", "LocationTypes", "DeferralCache"],
    swiftSettings: strict),
  .target(
    name: "LocationEngine",
    dependencies: [
      "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
    ],
    swiftSettings: strict),
  .target(name: "LocationHAL", dependencies: ["LocationTypes"], swiftSettings: strict),
]

/// What surrounds the core: the loop, the simulated board, profiles, the command.
let shell: [Target] = [
  .target(name: "EnergyAccounting", dependencies: ["LocationTypes"], swiftSettings: strict),
  .target(
    name: "LocationRuntime",
    dependencies: [
      // The drivers are not imported, but lie in the engine by value: when their layout changes, an
      // incremental build must compile the loop again.
      "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
      "LocationEngine", "LocationHAL",
    ],
    swiftSettings: strict),
  .target(
    name: "SimulatedHAL",
    dependencies: [
      "CMath", "LocationTypes", "LocationHAL", "GNSSProtocols", "EnergyAccounting",
    ],
    swiftSettings: strict),
  .target(name: "CLinux"),
  .target(name: "CGPIO", linkerSettings: [.linkedLibrary("gpiod")]),
  .target(name: "GPIOLines", swiftSettings: strict),
  .target(
    name: "LinuxHAL",
    dependencies: ["CGPIO", "CLinux", "GPIOLines", "LocationTypes", "LocationHAL"],
    swiftSettings: strict),
  .target(
    name: "CTOML"
  ),
  .target(name: "TOMLFiles", dependencies: ["CTOML"], swiftSettings: strict),
  .target(
    name: "BoardProfiles", dependencies: ["GPIOLines", "LocationTypes", "TOMLFiles"],
    swiftSettings: strict),
  .target(
    name: "AccessPolicy", dependencies: ["LocationPolicy", "TOMLFiles"], swiftSettings: strict),
  .target(
    name: "CExpat",
    linkerSettings: [.linkedLibrary("expat")]
  ),
  .target(
    name: "GPXFiles", dependencies: ["LocationTypes", "CExpat"], swiftSettings: strict),
  .target(
    name: "BoardSetup",
    dependencies: [
      "LocationTypes", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy", "LocationEngine",
      "BoardProfiles", "EnergyAccounting",
    ],
    swiftSettings: strict),
  .target(
    name: "LocationSimulation",
    dependencies: [
      "BoardSetup", "EnergyAccounting", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers",
      "LocationPolicy",
      "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
    ],
    swiftSettings: strict),
  .target(
    name: "LocationWire", dependencies: ["LocationTypes", "LocationPolicy", "EnergyAccounting"],
    swiftSettings: strict),
  .target(
    name: "LocationClient",
    dependencies: ["CLinux", "LocationTypes", "LocationPolicy", "LocationWire"],
    swiftSettings: strict),
  .target(
    name: "TorporLocation",
    dependencies: ["LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"],
    // What a program awaits runs where the program does: a thread pool would wake it once a second.
    swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
  .target(
    name: "LocationService",
    dependencies: [
      "AccessPolicy", "CLinux", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
      "ReceiverDrivers",
      "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime", "LocationWire",
      "EnergyAccounting", "ServiceState",
    ],
    swiftSettings: strict),
  .executableTarget(
    name: "torpord",
    dependencies: [
      // The loop is not imported, but lies in the service by value: see `LocationRuntime`.
      "AccessPolicy", "CBuildDate", "GPIOLines", "LinuxHAL", "LocationTypes", "LocationEngine",
      "LocationRuntime", "LocationService", "BoardProfiles", "BoardSetup", "EnergyAccounting",
      "ServiceState",
    ],
    swiftSettings: strict),
  .target(
    name: "BoardDoctor",
    dependencies: [
      "CLinux", "DeferralCache", "GPIOLines", "LinuxHAL", "LocationTypes", "GNSSProtocols",
      "BoardProfiles",
    ],
    swiftSettings: strict),
  .target(
    name: "CSQLite",
    linkerSettings: [.linkedLibrary("sqlite3")]
  ),
  .target(
    name: "ServiceState", dependencies: ["LocationTypes", "LocationPolicy", "CSQLite"],
    swiftSettings: strict),
  .executableTarget(
    name: "StateProbe", dependencies: ["LocationTypes", "LocationPolicy", "ServiceState"],
    swiftSettings: strict),
  .executableTarget(
    name: "ClientProbe", dependencies: ["LocationTypes", "LocationWire", "LocationClient"],
    swiftSettings: strict),
  .executableTarget(
    name: "CoreProbe",
    dependencies: [
      "LocationTypes", "GNSSProtocols", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
    ],
    swiftSettings: strict),
  .executableTarget(name: "trail-log", dependencies: ["TorporLocation"], swiftSettings: strict),
  .target(name: "CBuildDate"),
  .executableTarget(
    name: "torpor",
    dependencies: [
      "BoardDoctor", "CBuildDate", "CLinux", "LinuxHAL",
      "LocationTypes", "GNSSProtocols", "LocationPolicy", "BoardProfiles", "GPXFiles",
      "LocationSimulation", "SimulatedHAL", "LocationWire", "LocationClient", "EnergyAccounting",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    swiftSettings: strict),
]

/// The figures of `make bench`, with the floors they are compared to and an exact count of the heap.
let bench: [Target] = [
  .target(name: "CMallocCount"),
  .target(name: "CBenchFloor"),
  .executableTarget(
    name: "TorporBench",
    dependencies: [
      "CMallocCount", "CBenchFloor", "LocationTypes", "GNSSProtocols", "DeferralCache",
      "ReceiverDrivers", "LocationPolicy", "LocationEngine", "SimulatedHAL", "BoardProfiles",
      "LocationSimulation", "LocationWire",
    ],
    swiftSettings: strict),
]

/// Seeded runs of the whole system: `make soak`.
let soak: [Target] =
  !isSoaked
  ? []
  : [
    .executableTarget(
      name: "TorporSoak",
      dependencies: [
        "BoardSetup", "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers",
        "LocationPolicy",
        "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation",
      ],
      swiftSettings: strict)
  ]

/// The virtual board: `make test-board`. Its clock is small, and tested with everything else.
let board: [Target] =
  [.target(name: "GuestTime", dependencies: ["LinuxHAL"], swiftSettings: strict)]
  + (Context.environment["TORPOR_BOARD"] == nil
    ? []
    : [
      .executableTarget(
        name: "TorporBoard",
        dependencies: [
          "LinuxHAL", "LocationTypes", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
          "GuestTime",
        ],
        swiftSettings: strict)
    ])

/// What holds for any bytes: tried by the tests, and by `make fuzz` with bytes that libFuzzer makes.
let properties: [Target] = [
  .target(
    name: "DecoderProperties",
    dependencies: [
      "LocationTypes", "GNSSProtocols", "DeferralCache", "BoardProfiles", "SimulatedHAL",
      "LocationSimulation", "LocationWire",
    ],
    swiftSettings: strict)
]

/// Only for `make fuzz`: libFuzzer brings the main program, so nothing else can link this.
let fuzz: [Target] =
  Context.environment["TORPOR_FUZZ"] == nil
  ? []
  : [
    .executableTarget(
      name: "TorporFuzz", dependencies: ["DecoderProperties"],
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
  ]

/// One test target per room, and one for the rules of the house.
func tests(_ room: String, _ more: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: room + "Tests", dependencies: [.target(name: room), "TestSupport"] + more,
    swiftSettings: strictTests)
}

let package = Package(
  name: "Torpor",
  products: [
    .executable(name: "torpor", targets: ["torpor"]),
    .executable(name: "torpord", targets: ["torpord"]),
    .library(name: "TorporLocation", targets: ["TorporLocation"]),
    .library(name: "LocationClient", targets: ["LocationClient"]),
    .library(name: "LocationEngine", targets: ["LocationEngine"]),
    .library(name: "SimulatedHAL", targets: ["SimulatedHAL"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
  ],
  targets: core + shell + bench + soak + board + properties + fuzz + [
    tests("LocationTypes"),
    tests("DeferralCache"),
    tests("GNSSProtocols", ["CBytes"]),
    tests(
      "ReceiverDrivers", ["EnergyAccounting", "GNSSProtocols", "LocationHAL", "SimulatedHAL"]),
    tests("LocationPolicy"),
    tests(
      "LocationEngine",
      [
        "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers", "LocationPolicy",
        "LocationHAL", "LocationRuntime", "SimulatedHAL", "EnergyAccounting",
      ]),
    tests(
      "LocationRuntime",
      [
        "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
        "LocationEngine", "LocationHAL",
      ]),
    tests("EnergyAccounting", ["LocationTypes"]),
    tests("SimulatedHAL", ["GNSSProtocols", "LocationHAL", "EnergyAccounting"]),
    tests("GPIOLines"),
    tests("LinuxHAL", ["CLinux", "DeferralCache", "GPIOLines", "LocationHAL"]),
    tests("BoardProfiles", ["CTOML", "GPIOLines", "TOMLFiles"]),
    tests(
      "BoardDoctor",
      ["BoardProfiles", "DeferralCache", "GPIOLines", "LinuxHAL", "LocationTypes"]),
    tests("AccessPolicy", ["LocationPolicy", "TOMLFiles"]),
    tests("GPXFiles"),
    tests("ServiceState", ["LocationTypes", "LocationPolicy", "CSQLite", "StateProbe"]),
    tests(
      "LocationService",
      [
        "AccessPolicy", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
        "ReceiverDrivers",
        "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime", "LocationWire",
        "ClientProbe", "EnergyAccounting",
      ]),
    tests("LocationWire", ["LocationTypes", "LocationPolicy", "EnergyAccounting"]),
    tests("LocationClient", ["LocationTypes", "LocationPolicy", "LocationWire"]),
    tests(
      "TorporLocation", ["LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"]),
    tests("LocationSimulation", ["EnergyAccounting"]),
    tests("GuestTime"),
    tests("DecoderProperties"),
    .testTarget(
      name: "TorporCommandTests",
      dependencies: [
        "torpor", "torpord", "trail-log", "BoardDoctor", "BoardProfiles", "CExpat", "CLinux",
        "GPIOLines",
        "LinuxHAL", "GNSSProtocols", "GPXFiles", "TorporLocation", "LocationClient",
        "LocationPolicy", "LocationTypes", "LocationWire", "TestSupport",
      ],
      swiftSettings: strictTests),
    .target(
      name: "TestSupport", dependencies: ["LocationWire"], path: "Tests/Support",
      swiftSettings: strictTests),
    .testTarget(name: "ArchitectureTests", swiftSettings: strictTests),
  ],
  cxxLanguageStandard: .cxx17
)

if isChecked {
  let checked: Set = [
    "LocationTypesTests", "DeferralCacheTests", "GNSSProtocolsTests", "ReceiverDriversTests",
    "LocationPolicyTests", "LocationEngineTests", "LocationRuntimeTests", "EnergyAccountingTests",
    "SimulatedHALTests",
  ]
  func reached(_ names: Set<String>) -> Set<String> {
    var all = names
    for target in package.targets where names.contains(target.name) {
      for dependency in target.dependencies {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): all.insert(name)
        default: break
        }
      }
    }
    return all == names ? all : reached(all)
  }
  let kept = reached(checked)
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll()
  package.dependencies.removeAll()
}
