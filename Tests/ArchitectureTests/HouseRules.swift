/// The rules of the house (Docs/Architecture.md) as a table: which room may look into which.
///
/// Package.swift and every import are held to it, so a new dependency is a decision made here.
enum HouseRules {
  /// What a room may look into.
  struct Room {
    /// Part of the core: pure, heap-free, built as Embedded Swift.
    var isCore = false
    /// Rooms it may import; Package.swift names the same.
    var rooms: Set<String> = []
    /// Modules of packages it may import; Package.swift names the same.
    var products: Set<String> = []
    /// Modules of the system it may import.
    var system: Set<String> = []
  }

  static let rooms: [String: Room] = [
    // The core.
    "CMath": Room(isCore: true),
    "LocationTypes": Room(isCore: true, rooms: ["CMath"]),
    "DeferralCache": Room(isCore: true, rooms: ["LocationTypes"]),
    "CBytes": Room(isCore: true),
    "GNSSProtocols": Room(isCore: true, rooms: ["CBytes", "LocationTypes"]),
    "ReceiverDrivers": Room(isCore: true, rooms: ["LocationTypes", "GNSSProtocols"]),
    "CExitWeights": Room(isCore: true),
    "LocationPolicy": Room(
      isCore: true, rooms: ["CMath", "CExitWeights", "LocationTypes", "DeferralCache"]),
    "LocationEngine": Room(
      isCore: true,
      rooms: [
        "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
      ]),
    "LocationHAL": Room(isCore: true, rooms: ["LocationTypes"]),
    // What surrounds it.
    "LocationRuntime": Room(
      rooms: [
        "LocationTypes", "DeferralCache", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy",
        "LocationEngine", "LocationHAL",
      ]),
    "EnergyAccounting": Room(rooms: ["LocationTypes"]),
    "SimulatedHAL": Room(
      rooms: ["CMath", "LocationTypes", "LocationHAL", "GNSSProtocols", "EnergyAccounting"]),
    "CLinux": Room(),
    "CGPIO": Room(),
    "GPIOLines": Room(),
    "LinuxHAL": Room(
      rooms: ["CGPIO", "CLinux", "GPIOLines", "LocationTypes", "LocationHAL"], system: ["Glibc"]),
    "CTOML": Room(),
    "TOMLFiles": Room(rooms: ["CTOML"], system: ["Glibc"]),
    "BoardProfiles": Room(rooms: ["GPIOLines", "LocationTypes", "TOMLFiles"], system: ["Glibc"]),
    "BoardDoctor": Room(
      rooms: [
        "CLinux", "DeferralCache", "GPIOLines", "LinuxHAL", "LocationTypes", "GNSSProtocols",
        "BoardProfiles",
      ],
      system: ["Glibc"]),
    "AccessPolicy": Room(rooms: ["LocationPolicy", "TOMLFiles"], system: ["Glibc"]),
    "CExpat": Room(),
    "GPXFiles": Room(rooms: ["LocationTypes", "CExpat"]),
    "BoardSetup": Room(
      rooms: [
        "LocationTypes", "GNSSProtocols", "ReceiverDrivers", "LocationPolicy", "LocationEngine",
        "BoardProfiles", "EnergyAccounting",
      ]),
    "LocationSimulation": Room(
      rooms: [
        "BoardSetup", "EnergyAccounting", "LocationTypes", "DeferralCache", "GNSSProtocols",
        "ReceiverDrivers",
        "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL",
        "BoardProfiles",
      ],
      system: ["Foundation", "Glibc"]),
    "LocationWire": Room(rooms: ["LocationTypes", "LocationPolicy", "EnergyAccounting"]),
    "LocationClient": Room(
      rooms: ["CLinux", "LocationTypes", "LocationPolicy", "LocationWire"], system: ["Glibc"]),
    "TorporLocation": Room(
      rooms: ["LocationTypes", "LocationPolicy", "LocationWire", "LocationClient"],
      system: ["Glibc", "Synchronization"]),
    "LocationService": Room(
      rooms: [
        "AccessPolicy", "CLinux", "LinuxHAL", "LocationTypes", "DeferralCache", "GNSSProtocols",
        "ReceiverDrivers", "LocationPolicy", "LocationEngine", "LocationHAL", "LocationRuntime",
        "LocationWire", "EnergyAccounting", "ServiceState",
      ],
      system: ["Glibc"]),
    "torpord": Room(
      rooms: [
        "AccessPolicy", "CBuildDate", "GPIOLines", "LinuxHAL", "LocationTypes", "LocationEngine",
        "LocationRuntime",
        "LocationService", "BoardProfiles", "BoardSetup", "EnergyAccounting", "ServiceState",
      ],
      system: ["Glibc"]),
    "CSQLite": Room(),
    "ServiceState": Room(
      rooms: ["LocationTypes", "LocationPolicy", "CSQLite"], system: ["Glibc"]),
    "StateProbe": Room(
      rooms: ["LocationTypes", "LocationPolicy", "ServiceState"], system: ["Glibc"]),
    "ClientProbe": Room(
      rooms: ["LocationTypes", "LocationWire", "LocationClient"], system: ["Glibc"]),
    "CoreProbe": Room(
      rooms: [
        "LocationTypes", "GNSSProtocols", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
      ],
      system: ["Glibc"]),
    "trail-log": Room(rooms: ["TorporLocation"]),
    "CBuildDate": Room(),
    "torpor": Room(
      rooms: [
        "BoardDoctor", "CBuildDate", "CLinux", "LinuxHAL", "LocationTypes", "GNSSProtocols",
        "LocationPolicy", "BoardProfiles", "GPXFiles", "LocationSimulation", "SimulatedHAL",
        "LocationWire", "LocationClient",
        "EnergyAccounting",
      ],
      products: ["ArgumentParser"], system: ["Foundation", "Glibc"]),
    // Figures.
    "CMallocCount": Room(),
    "CBenchFloor": Room(),
    "TorporBench": Room(
      rooms: [
        "CMallocCount", "CBenchFloor", "LocationTypes", "GNSSProtocols", "DeferralCache",
        "ReceiverDrivers", "LocationPolicy", "LocationEngine", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation", "LocationWire",
      ]),
    // Seeded runs of the whole system.
    "TorporSoak": Room(
      rooms: [
        "BoardSetup", "LocationTypes", "GNSSProtocols", "DeferralCache", "ReceiverDrivers",
        "LocationPolicy",
        "LocationEngine", "LocationHAL", "LocationRuntime", "SimulatedHAL", "BoardProfiles",
        "LocationSimulation",
      ],
      system: ["Glibc"]),
    // The virtual board.
    "GuestTime": Room(rooms: ["LinuxHAL"]),
    "TorporBoard": Room(
      rooms: [
        "LinuxHAL", "LocationTypes", "SimulatedHAL", "BoardProfiles", "LocationSimulation",
        "GuestTime",
      ],
      system: ["Glibc"]),
    // What holds for any bytes.
    "DecoderProperties": Room(
      rooms: [
        "LocationTypes", "GNSSProtocols", "DeferralCache", "BoardProfiles", "SimulatedHAL",
        "LocationSimulation", "LocationWire",
      ]),
    "TorporFuzz": Room(rooms: ["DecoderProperties"], system: ["Glibc"]),
  ]

  /// The C library, by the name it has on each system; a room that may use it says `Glibc`.
  static let cLibraries: Set<String> = ["Glibc", "Musl", "Darwin"]

  /// Modules that the compiler itself brings; anyone may import them.
  static let builtIn: Set<String> = ["Swift"]

  /// Words that have no place in the core, whatever they are imported from.
  ///
  /// The Embedded build refuses most of what costs a heap; these it would let through.
  static let notInTheCore: Set<String> = [
    "Codable", "Encodable", "Decodable", "class", "actor", "async", "await",
    "_silgen_name", "_extern", "_cdecl",
  ]

  /// Everything that stands at the top of the repository and is not hidden.
  static let topLevel: Set<String> = [
    "Package.swift", "Sources", "Tests", "Boards", "Docs", "README.md", "LICENSE", "Makefile",
    ".swift-format", ".gitignore", ".ci", "packaging",
  ]

  /// The longest a source file may be.
  static let linesAtMost = 450

  /// Boards whose name is an everyday word of the field and the default of the command.
  static let boardNamesThatAreWords: Set<String> = ["simulated"]

  /// Paths of somebody's machine.
  static let machinePaths = ["/work/", "/home/", "/root/", "/tmp/", "/opt/", "/Users/"]

  /// What a room imports and must not.
  static func violations(of room: Room, imports: [String]) -> [String] {
    imports.filter { module in
      !room.rooms.contains(module) && !room.products.contains(module)
        && !room.system.contains(module) && !builtIn.contains(module)
        && !(room.system.contains("Glibc") && cLibraries.contains(module))
    }
  }

  /// Programs that make a room's constants: they lie beside them and are in no build.
  static func isTraining(_ file: Repository.File) -> Bool {
    file.path.hasPrefix("Sources/Core/CExitWeights/Training/")
  }

  /// The lines of C that include something but the room's `own` header.
  static func includes(in text: String, but own: String) -> [Substring] {
    text.split(separator: "\n").filter { line in
      let line = line.drop { $0 == " " || $0 == "\t" }
      return line.hasPrefix("#") && line.contains("include") && !line.contains(own)
    }
  }

  /// Whether a line at the left edge of C begins a constant, or the one function that hands them out.
  static func isConstantOrAccess(_ line: some StringProtocol) -> Bool {
    line.hasPrefix("static const ") || line.hasPrefix("const float *torpor_exit_weights(")
  }

  /// All rooms reached from `name`, itself included; a missing one is reached and has no row.
  static func reach(of name: String, in table: [String: Set<String>]) -> Set<String> {
    var reached: Set<String> = []
    var ahead = [name]
    while let next = ahead.popLast() {
      guard reached.insert(next).inserted else { continue }
      ahead.append(contentsOf: table[next] ?? [])
    }
    return reached
  }
}
