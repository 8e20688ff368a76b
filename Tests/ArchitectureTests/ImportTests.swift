import Testing

@Suite("Rooms look only into the rooms the architecture names")
struct ImportTests {
  @Test("every room has a row in the table, and every row a room")
  func tableIsComplete() {
    #expect(Set(Repository.folders(in: "Sources")) == Set(HouseRules.rooms.keys))
  }

  @Test("no import reaches further than the table", arguments: try Repository.swiftSources())
  func imports(_ file: Repository.File) throws {
    let room = try #require(HouseRules.rooms[file.room])
    let violations = HouseRules.violations(of: room, imports: SwiftText(file.text).imports)
    #expect(violations.isEmpty, "\(file.path) may not import \(violations.joined(separator: ", "))")
  }

  @Test("Package.swift names the same dependencies as the table")
  func manifestAgrees() throws {
    let manifest = Manifest(try Repository.text("Package.swift"))
    for (name, room) in HouseRules.rooms {
      #expect(manifest.targets[name] == room.rooms, "dependencies of \(name)")
      #expect(manifest.products[name] ?? [] == room.products, "packages of \(name)")
    }
    // What the tests share is no room of the house.
    #expect(Set(manifest.targets.keys).subtracting(["TestSupport"]) == Set(HouseRules.rooms.keys))
  }

  @Test("the core reaches nothing outside the core, and no package or system module")
  func coreIsClosed() {
    let table = HouseRules.rooms.mapValues(\.rooms)
    for (name, room) in HouseRules.rooms where room.isCore {
      for reached in HouseRules.reach(of: name, in: table) {
        #expect(HouseRules.rooms[reached]?.isCore == true, "\(name) reaches \(reached)")
      }
      #expect(room.products.isEmpty && room.system.isEmpty, "\(name)")
    }
  }

  @Test("engine and HAL do not know each other")
  func engineAndHALApart() {
    let table = HouseRules.rooms.mapValues(\.rooms)
    #expect(!HouseRules.reach(of: "LocationEngine", in: table).contains("LocationHAL"))
    #expect(!HouseRules.reach(of: "LocationHAL", in: table).contains("LocationEngine"))
  }

  @Test("the simulated truth reaches the engine as bytes alone")
  func simulatorDoesNotKnowTheEngine() {
    let reached = HouseRules.reach(of: "SimulatedHAL", in: HouseRules.rooms.mapValues(\.rooms))
    #expect(reached.isDisjoint(with: ["LocationEngine", "LocationPolicy", "ReceiverDrivers"]))
  }

  @Test(
    "RNG-5: only policy, engine, what drives them in one process, and the doctor look into the ring"
  )
  func ringIsNotForClients() throws {
    let readers: Set = [
      "LocationPolicy", "LocationEngine", "LocationRuntime", "LocationSimulation", "TorporBench",
      "LocationService", "DecoderProperties", "TorporSoak", "BoardDoctor",
    ]
    let named = HouseRules.rooms.filter { $0.value.rooms.contains("DeferralCache") }.keys
    #expect(Set(named) == readers)
    for file in try Repository.swiftSources() where !(readers.contains(file.room)) {
      #expect(!SwiftText(file.text).imports.contains("DeferralCache"), "\(file.path)")
    }
  }

  @Test("no room is reached from itself")
  func noCircle() {
    let table = HouseRules.rooms.mapValues(\.rooms)
    for (name, rooms) in table {
      for room in rooms {
        #expect(!HouseRules.reach(of: room, in: table).contains(name), "\(name) and \(room)")
      }
    }
  }

  @Test("the core's C declares mathematics, constants and what vectors lack, and includes nothing")
  func coreCIncludesNothing() throws {
    for file in try Repository.sources()
    where HouseRules.rooms[file.room]?.isCore == true && !file.path.hasSuffix(".swift") {
      // Training makes constants and is in no build.
      if HouseRules.isTraining(file) { continue }
      let includes = HouseRules.includes(in: file.text, but: "\"\(file.room).h\"")
      #expect(includes.isEmpty, "\(file.path)")
    }
  }

  @Test("what trains the network is in no build")
  func trainingIsOutside() throws {
    let manifest = try Repository.text("Package.swift")
    #expect(manifest.contains(#".target(name: "CExitWeights", exclude: ["Training"])"#))
    let files = try Repository.sources().filter(HouseRules.isTraining)
    #expect(!files.isEmpty)
    for file in files { #expect(!file.path.hasSuffix(".swift"), "\(file.path)") }
  }

  @Test("the network's weights are constants: no variable, no start-up code, one way to them")
  func weightsAreConstant() throws {
    let text = try Repository.text("Sources/Core/CExitWeights/weights.c")
    for line in text.split(separator: "\n") where line.first?.isLetter == true {
      #expect(HouseRules.isConstantOrAccess(line), "\(line)")
    }
  }

  @Test("the core uses no word that needs more than Embedded Swift")
  func coreWords() throws {
    for file in try Repository.swiftSources() where HouseRules.rooms[file.room]?.isCore == true {
      let words = HouseRules.notInTheCore.intersection(SwiftText(file.text).tokens)
      #expect(words.isEmpty, "\(file.path): \(words.sorted().joined(separator: ", "))")
    }
  }
}
