import GNSSProtocols
import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

/// Number of fixes that the first client has not acknowledged.
private func backlogCount(_ bench: ServiceBench) -> UInt64 {
  bench.loop.engine.count(of: bench.loop.engine.backlog(of: ClientID(0)))
}

@Suite("Programs that use gpsd's protocol")
struct GPSDServerTests {
  private let user = GPSDBench.user

  private func bench(
    _ authorization: Authorization = .always, isReduced: Bool = false
  ) throws -> ServiceBench {
    try GPSDBench.make(AccessRights(authorization: authorization, isReduced: isReduced))
  }

  @Test("GPD-1: the greeting is one line, and nothing follows before a request")
  func greeting() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(of: user)
    let text = String(decoding: program.bytes(), as: UTF8.self)
    #expect(text.hasPrefix("{\"class\":\"VERSION\",") && text.hasSuffix("}\r\n"))
    #expect(text.contains("\"proto_major\":3,\"proto_minor\":14"))
    bench.pass(10)
    #expect(program.bytes().isEmpty)
    #expect(bench.clientNames.isEmpty, "a connection without a request is no client")
  }

  @Test("GPD-2: a WATCH is answered with the devices and the policy in force")
  func watch() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"json\":true}", of: user)
    let lines = program.lines()
    #expect(classes(lines) == ["VERSION", "DEVICES", "WATCH"])
    #expect(lines[1].contains("\"path\":\"") && lines[1].contains("\"bps\":9600"))
    #expect(lines[2].contains("\"enable\":true,\"json\":true,\"nmea\":false,\"raw\":0"))
    program.send(Array("?WATCH={\"nmea\":true};?WATCH;".utf8))
    bench.settle()
    let later = program.lines()
    #expect(classes(later) == ["DEVICES", "WATCH", "DEVICES", "WATCH"])
    #expect(later[3].contains("\"json\":true,\"nmea\":true"))
    #expect(bench.clientNames == ["gpsd"])
  }

  @Test("GPD-3: the fix is the first object of the burst of its epoch")
  func burst() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    #expect(bench.isDemanding)
    for _ in 0..<3 {
      bench.fix()
      let lines = program.lines()
      #expect(classes(lines) == ["TPV", "SKY"])
      #expect(lines[0].hasPrefix("{\"class\":\"TPV\",\"device\":\""))
      #expect(lines[0].contains("\"mode\":3,\"time\":\"2025-") && lines[0].contains("\"lat\":48.0"))
      #expect(!lines[0].contains("null") && lines[0].utf8.count < 10_240)
    }
    #expect(backlogCount(bench) == 0, "fixes are acknowledged")
  }

  @Test("GPD-5: programs of one user and name share one client; another name is another client")
  func names() throws {
    let bench = try bench()
    let programs = (0..<3).map { _ in bench.gpsdProgram(watchJSON, of: user) }
    let other = bench.gpsdProgram(
      "?WATCH={\"json\":true,\"torpor_name\":\"logger\"}", of: user)
    #expect(bench.clientNames.sorted() == ["gpsd", "logger"])
    bench.fix()
    for program in programs + [other] { #expect(classes(program.lines()).contains("TPV")) }
  }

  @Test("GPD-6: enable false ends the data and the demand, and is answered")
  func disable() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    bench.fix()
    _ = program.lines()
    program.send(Array("?WATCH={\"enable\":false}\n".utf8))
    bench.settle()
    #expect(classes(program.lines()) == ["DEVICES", "WATCH"])
    #expect(!bench.isDemanding)
    bench.fix()
    #expect(program.bytes().isEmpty && !program.isClosed)
  }

  @Test("GPD-6: the last hang-up ends the demand")
  func hangUp() throws {
    let bench = try bench()
    let first = bench.gpsdProgram(watchJSON, of: user)
    let second = bench.gpsdProgram(watchJSON, of: user)
    first.quit()
    bench.settle()
    #expect(bench.isDemanding)
    second.quit()
    bench.settle()
    #expect(!bench.isDemanding)
    #expect(bench.loop.clients.gpsd.connections.slots.isEmpty)
    #expect(bench.loop.clients.gpsd.clients.isEmpty)
  }

  @Test(
    "GPD-4: POLL without WATCH is empty; with it, it has the last fix and keeps the receiver on for a minute"
  )
  func poll() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?POLL;", of: user)
    #expect(
      program.lines().last?.hasSuffix("\"active\":0,\"tpv\":[],\"gst\":[],\"sky\":[]}") == true)
    program.send(Array("?WATCH={\"enable\":true};".utf8))
    bench.settle()
    #expect(!bench.isDemanding, "a poll requests fixes, not a WATCH")
    _ = program.lines()
    program.send(Array("?POLL;".utf8))
    bench.settle()
    #expect(program.lines().last?.contains("\"active\":1,\"tpv\":[{\"class\":\"TPV\",") == true)
    #expect(bench.isDemanding)
    bench.fix()
    #expect(program.bytes().isEmpty)
    program.send(Array("?POLL;".utf8))
    bench.settle()
    let line = program.lines().last ?? ""
    #expect(line.contains("\"mode\":3") && line.contains("\"sky\":[{\"class\":\"SKY\""))
    #expect(bench.deadline <= bench.stage.now + GPSDPart.pollTime)
    bench.pass(70)
    #expect(!bench.isDemanding)
    program.send(Array("?POLL;".utf8))
    bench.settle()
    #expect(program.lines().last?.contains("\"mode\":3") == true, "the last fix, with its own time")
    bench.pass(130)
    program.send(Array("?POLL;".utf8))
    bench.settle()
    #expect(program.lines().last?.contains("\"mode\":1") == true, "it is too old")
  }

  @Test("GPD-8: without a fix, a live client receives a report each three seconds")
  func silence() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    for _ in 0..<9 { bench.pass(1) }
    let reports = program.lines().filter { $0.contains("TPV") }
    #expect(reports.count == 3)
    #expect(reports.allSatisfy { $0.contains("\"mode\":1") && !$0.contains("lat") })
  }

  @Test("GPD-5: a user without permission receives one report without a fix, and can be permitted")
  func denied() throws {
    let bench = try bench(.notDetermined)
    let program = bench.gpsdProgram(watchJSON, of: user)
    let lines = program.lines()
    #expect(classes(lines) == ["VERSION", "DEVICES", "WATCH"] || lines.count == 4)
    bench.settle()
    let all = lines + program.lines()
    #expect(classes(all) == ["VERSION", "DEVICES", "WATCH", "TPV"])
    #expect(all.last?.contains("\"mode\":1") == true)
    bench.pass(20)
    #expect(program.bytes().isEmpty && !bench.isDemanding)
    bench.adopt(
      AccessPolicy(rules: [
        AccessRule(AccessSubject(uid: user), AccessRights(authorization: .always), line: 1)
      ]))
    bench.settle()
    bench.fix()
    #expect(program.lines().contains { $0.contains("\"lat\":48") })
    bench.adopt(
      AccessPolicy(rules: [
        AccessRule(AccessSubject(uid: user), AccessRights(authorization: .denied), line: 1)
      ]))
    bench.settle()
    _ = program.lines()
    bench.fix()
    #expect(program.lines().allSatisfy { !$0.contains("lat") })
  }

  @Test("GPD-5: with reduced accuracy, the position is coarse and nothing else is reported")
  func reduced() throws {
    let bench = try bench(isReduced: true)
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    for _ in 0..<40 { bench.fix() }
    let lines = program.lines()
    let fixes = lines.filter { $0.contains("\"lat\"") }
    #expect(!fixes.isEmpty && !lines.contains { $0.contains("SKY") })
    program.send(Array("?POLL;".utf8))
    bench.settle()
    #expect(program.lines().last?.hasSuffix("\"sky\":[]}") == true)
    for fix in fixes {
      #expect(fix.contains("\"eph\":5000.000"))
      for name in ["alt", "speed", "track", "climb"] { #expect(!fix.contains("\"\(name)")) }
    }
  }

  @Test("GPD-6: a device that stands still for a quarter of an hour is reported, too")
  func stationary() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    bench.stay(900)
    #expect(program.lines().count { $0.contains("\"mode\":3") } == 90)
    #expect(bench.isDemanding)
  }

  @Test("GPD-8: on a low battery the board is not woken to report that there is no fix")
  func lowBattery() throws {
    var thresholds = BatteryThresholds()
    thresholds.everyFix = 50
    let bench = try GPSDBench.make(battery: thresholds)
    let program = bench.gpsdProgram(watchJSON, of: user)
    _ = program.lines()
    #expect(bench.deadline <= bench.stage.now + GPSDPart.silence)
    bench.stage.charge = 20
    bench.settle()
    bench.fix()
    #expect(bench.loop.engine.usage(of: ClientID(0), at: bench.stage.now).demand != .none)
    #expect(bench.deadline > bench.stage.now + GPSDPart.silence)
    _ = program.lines()
    bench.pass(20)
    #expect(program.lines().contains { $0.contains("\"mode\":1") }, "the board is awake anyway")
  }

  @Test("GPD-2: an empty device is all devices; a space may come before the parameters")
  func allDevices() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH= {\"json\":true,\"device\":\"\"}", of: user)
    let lines = program.lines()
    #expect(classes(lines) == ["VERSION", "DEVICES", "WATCH"])
    #expect(lines.last?.contains("\"device\"") == false)
    bench.pass(5)
    program.send(Array("?DEVICES;".utf8))
    bench.settle()
    #expect(program.lines().contains(lines[1]), "the time of activation does not change")
  }

  @Test("GPD-2: an unknown device is an error, and changes nothing")
  func devices() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(
      "?WATCH={\"json\":true,\"device\":\"/dev/nope\"};?DEVICE={\"path\":\"/dev/nope\"};?DEVICE;",
      of: user)
    #expect(classes(program.lines()) == ["VERSION", "ERROR", "ERROR", "DEVICE"])
    #expect(bench.clientNames.isEmpty)
  }

  @Test("GPD-1: an HTTP request closes the connection without an answer")
  func web() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("GET / HTTP/1.1\r\n\r\n" + watchJSON, of: user)
    _ = program.lines()
    #expect(program.isClosed && bench.clientNames.isEmpty)
  }

  @Test("GPD-10: NMEA sentences are valid, whatever the receiver sends, without objects among them")
  func sentences() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"nmea\":true}", of: user)
    _ = program.lines()
    bench.fix()
    let lines = program.lines()
    #expect(
      lines.map { String($0.prefix(6)) } == ["$GNRMC", "$GNGGA", "$GNGSA", "$GNVTG", "$GNZDA"])
    bench.sendSatellites()
    bench.fix()
    let later = program.lines()
    #expect(
      later.map { String($0.prefix(6)) } == [
        "$GNRMC", "$GNGGA", "$GNGSA", "$GPGSV", "$GNVTG", "$GNZDA",
      ])
    #expect(later[3].hasPrefix("$GPGSV,1,1,02,02,71,285,46,05,03,010,"))
  }

  /// The bytes of a fix at the next second of the bench, changed.
  private func bytes(_ change: (inout Fix) -> Void) -> [UInt8] {
    var fix = Fix(
      acquired: .boot, coordinate: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11))
    fix.utc = UTCTime(microseconds: 1_750_000_001_000_000)
    fix.horizontalAccuracy_mm = 3_000
    change(&fix)
    var frame = FrameBuffer()
    frame.appendNavPVT(UBXSolution(fix))
    return (0..<frame.count).map { frame[$0] }
  }

  @Test("STD-13: a fix of dead reckoning has no TOFF, by which a program could set a clock")
  func timingOfDeadReckoning() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"json\":true,\"pps\":true}", of: user)
    _ = program.lines()
    bench.send(bytes { $0.quality = .deadReckoning })
    #expect(classes(program.lines()) == ["TPV", "SKY"])
  }

  @Test("GPD-12: SKY lists the satellites of a binary receiver")
  func sky() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    bench.fix()
    bench.sendSatellites()
    _ = program.lines()
    bench.fix()
    let lines = program.lines()
    #expect(classes(lines) == ["TPV", "SKY"])
    #expect(
      lines.last?.contains("\"nSat\":2,\"uSat\":1,\"satellites\":[{\"PRN\":2,\"el\":71.0,") == true)
  }

  @Test(
    "GPD-12: satellites are watched by programs with full accuracy that watch every fix, and only then"
  )
  func watchesSatellites() throws {
    let bench = try bench()
    #expect(!bench.watchesSatellites)
    let program = bench.gpsdProgram(watchJSON, of: user)
    #expect(bench.watchesSatellites)
    program.send(Array("?WATCH={\"json\":true,\"torpor_interval\":60}".utf8))
    bench.settle()
    #expect(!bench.watchesSatellites)
    program.quit()
    let denied = bench.gpsdProgram(watchJSON, of: 2_000)
    #expect(!bench.watchesSatellites, "a user without permission")
    let reduced = try self.bench(isReduced: true)
    let coarse = reduced.gpsdProgram(watchJSON, of: user)
    #expect(!reduced.watchesSatellites)
    for program in [denied, coarse] { program.quit() }
  }
}

@Suite("Limits of gpsd's protocol")
struct GPSDLimitTests {
  private let user = GPSDBench.user

  @Test("GPD-9: a program that does not read delays no other, and its output is bounded")
  func silentReader() throws {
    let bench = try GPSDBench.make()
    let silent = bench.gpsdProgram(of: user)
    silent.shrinkReceiveBuffer()
    silent.send(Array(watchJSON.utf8))
    let other = bench.gpsdProgram(watchJSON, of: user)
    var count = 0
    for _ in 0..<600 {
      bench.fix()
      count += other.lines().count { $0.contains("TPV") }
    }
    #expect(count == 600)
    other.quit()
    bench.settle()
    #expect(!bench.isDemanding, "a program that does not read needs no fixes")
    for connection in bench.loop.clients.gpsd.connections.slots {
      #expect(connection?.output.text.count ?? 0 <= GPSDConnection.highWater + 2_048)
    }
    for _ in 0..<200 where !bench.isDemanding {
      _ = silent.bytes()
      bench.settle()
    }
    #expect(bench.isDemanding, "it reads again")
  }

  @Test("GPD-9, RES-6: requests of a user without permission do not wake the board")
  func deniedFlood() throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram("?WATCH={\"enable\":true};", of: 2_000)
    program.send(Array(String(repeating: "?POLL;", count: 500).utf8))
    bench.settle()
    _ = program.lines()
    #expect(bench.loop.clients.gpsd.connections.slots.contains { $0?.pending.isEmpty == false })
    #expect(bench.deadline > bench.stage.now + .seconds(3_600))
    bench.pass(10)
    #expect(!program.lines().isEmpty, "they are answered at the next wake")
  }

  @Test("GPD-9: a flood of requests is bounded in output and in rate")
  func flood() throws {
    let bench = try GPSDBench.make()
    let bad = bench.gpsdProgram("?WATCH={\"enable\":true};", of: user)
    let other = bench.gpsdProgram(watchJSON, of: user)
    let requests = Array(String(repeating: "?POLL;", count: 2_000).utf8)
    var count = 0
    for _ in 0..<50 {
      bad.send(requests)
      bench.fix()
      count += other.lines().count { $0.contains("TPV") }
      for connection in bench.loop.clients.gpsd.connections.slots {
        #expect(connection?.output.text.count ?? 0 <= GPSDConnection.highWater + 2_048)
        #expect(connection?.pending.count ?? 0 <= GPSDConnections.readSize)
      }
    }
    #expect(count >= 45)
  }

  @Test("GPD-9: a user has at most its share of connections, and a refused one is closed")
  func connections() throws {
    let bench = try GPSDBench.make()
    let programs = (0..<70).map { _ in bench.gpsdProgram(of: user) }
    for program in programs { _ = program.lines() }
    #expect(programs.count { $0.isClosed } == 6)
    let stranger = (0..<10).map { _ in bench.gpsdProgram(of: 2_000) }
    for program in stranger { _ = program.lines() }
    #expect(stranger.count { $0.isClosed } == 2)
  }

  @Test("a program that connects to the service with the same name takes over")
  func takeOver() throws {
    let bench = try GPSDBench.make()
    let program = bench.gpsdProgram(watchJSON, of: user)
    let (control, _, _) = bench.client("gpsd", of: user)
    _ = program.lines()
    #expect(program.isClosed)
    _ = bench.gpsdProgram(watchJSON, of: user)
    _ = control.bytes()
    #expect(control.isClosed)
    #expect(bench.isDemanding)
  }

  @Test(
    "a helper whose message has no descriptor, or another length, is closed; the next one is served",
    arguments: [1, 3, 4])
  func wrongMessage(_ count: Int) throws {
    let bench = try GPSDBench.make()
    let wrong = Program(bench.folder.path + "/helper")
    bench.settle()
    wrong.send([UInt8](repeating: 0, count: count))
    bench.settle()
    _ = wrong.bytes()
    #expect(wrong.isClosed && bench.loop.clients.gpsd.connections.slots.isEmpty)
    let helper = Program(bench.folder.path + "/helper")
    bench.settle()
    var pair: [Int32] = [-1, -1]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    helper.pass(pair[1], of: user)
    Glibc.close(pair[1])
    bench.settle()
    #expect(classes(Program(connected: pair[0]).lines()) == ["VERSION"])
  }

  @Test("the helper passes users and connections; another user is no helper")
  func helper() throws {
    let bench = try GPSDBench.make()
    let helper = Program(bench.folder.path + "/helper")
    bench.settle()
    var pair: [Int32] = [-1, -1]
    let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
    #expect(result == 0)
    helper.pass(pair[1], of: user)
    Glibc.close(pair[1])
    bench.settle()
    let program = Program(connected: pair[0])
    #expect(classes(program.lines()) == ["VERSION"])
    program.send(Array(watchJSON.utf8))
    bench.settle()
    bench.fix()
    #expect(classes(program.lines()).contains("TPV"))
    #expect(bench.loop.clients.clients.slots[0].name.user == user)
    let kernel = bench.gpsd.helpers?.peer
    bench.gpsd.helpers?.peer = { kernel?($0).map { Peer(user: 77, process: $0.process) } }
    let wrong = Program(bench.folder.path + "/helper")
    bench.settle()
    _ = wrong.bytes()
    #expect(wrong.isClosed)
  }
}
