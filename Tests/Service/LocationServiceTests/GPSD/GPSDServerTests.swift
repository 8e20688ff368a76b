import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

private let watchJSON = "?WATCH={\"enable\":true,\"json\":true}"

/// Number of fixes that the first client has not acknowledged.
private func backlogCount(_ bench: ServiceBench) -> UInt64 {
  bench.loop.engine.count(of: bench.loop.engine.backlog(of: ClientID(0)))
}

/// The class of each object.
private func classes(_ lines: [String]) -> [String] {
  lines.map { line in
    guard line.hasPrefix("{\"class\":\"") else { return line }
    return String(line.dropFirst(10).prefix { $0 != "\"" })
  }
}

@Suite("Programs that use gpsd's protocol")
struct GPSDServerTests {
  /// The programs need permission; root has it.
  private let user: UInt32 = 1_000

  private func bench(
    _ authorization: Authorization = .always, isReduced: Bool = false,
    _ change: (inout AccessRights) -> Void = { _ in }
  ) throws -> ServiceBench {
    var rights = AccessRights(authorization: authorization, isReduced: isReduced)
    change(&rights)
    return try ServiceBench(
      AccessPolicy(rules: [AccessRule(AccessSubject(uid: user), rights, line: 1)]), canIdle: true,
      servesGPSD: true)
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
    #expect(bench.loop.clients.gpsd.connections.isEmpty && bench.loop.clients.gpsd.clients.isEmpty)
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
    let fixes = program.lines().filter { $0.contains("\"lat\"") }
    #expect(!fixes.isEmpty)
    for fix in fixes {
      #expect(fix.contains("\"eph\":5000.000"))
      for name in ["alt", "speed", "track", "climb"] { #expect(!fix.contains("\"\(name)")) }
    }
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
  }

  @Test("TOFF follows the fix of a client that requests timing")
  func timing() throws {
    let bench = try bench()
    let program = bench.gpsdProgram("?WATCH={\"json\":true,\"pps\":true}", of: user)
    _ = program.lines()
    bench.fix()
    #expect(classes(program.lines()) == ["TPV", "SKY", "TOFF"])
  }

  @Test("fixes of the past end with their number")
  func history() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    for _ in 0..<5 { bench.fix() }
    _ = program.lines()
    program.send(Array("?TORPOR={\"since\":1750000003}".utf8))
    bench.settle()
    let lines = program.lines()
    #expect(classes(lines) == ["TPV", "TPV", "TPV", "TORPOR"])
    #expect(lines.last?.contains("\"fixes\":3,\"complete\":true") == true)
  }
}

@Suite("Savings and limits of gpsd's protocol")
struct GPSDLimitTests {
  private let user: UInt32 = 1_000

  private func bench(_ change: (inout AccessRights) -> Void = { _ in }) throws -> ServiceBench {
    var rights = AccessRights(authorization: .always)
    change(&rights)
    return try ServiceBench(
      AccessPolicy(rules: [AccessRule(AccessSubject(uid: user), rights, line: 1)]), canIdle: true,
      servesGPSD: true)
  }

  @Test("GPD-7: a client with an interval requests single fixes; the greater interval applies")
  func interval() throws {
    let bench = try bench { $0.gpsd.saving.interval_s = 30 }
    let program = bench.gpsdProgram(
      "?WATCH={\"json\":true,\"torpor_interval\":60,\"torpor_accuracy\":100}", of: user)
    _ = program.lines()
    #expect(!bench.isDemanding && bench.needsFix)
    bench.fix()
    #expect(classes(program.lines()) == ["TPV", "SKY"])
    #expect(!bench.needsFix)
    bench.pass(30)
    #expect(!bench.needsFix)
    bench.pass(31)
    #expect(bench.needsFix)
  }

  @Test("GPD-7: an accuracy alone becomes an accuracy bound")
  func accuracy() throws {
    let bench = try bench { $0.gpsd.saving.accuracy_m = 100 }
    _ = bench.gpsdProgram(watchJSON, of: user)
    #expect(
      bench.loop.engine.usage(of: ClientID(0), at: bench.stage.now).demand == .within(metres: 100))
  }

  @Test(
    "GPD-7: fixes of an interval are held back, and come in one burst only to a client that has named it"
  )
  func burst() throws {
    let bench = try bench { $0.gpsd.saving.interval_s = 10 }
    let named = bench.gpsdProgram("?WATCH={\"json\":true,\"torpor_defer\":35}", of: user)
    _ = named.lines()
    var bursts: [[String]] = []
    for _ in 0..<60 {
      if bench.needsFix { bench.fix() } else { bench.pass(1) }
      let lines = named.lines()
      if !lines.isEmpty { bursts.append(classes(lines)) }
    }
    #expect(bursts.first?.filter { $0 == "TPV" }.count ?? 0 >= 3)
    #expect(bursts.count <= 3)
  }

  @Test("GPD-9: a program that does not read delays no other, and its output is bounded")
  func silentReader() throws {
    let bench = try bench()
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
    for connection in bench.loop.clients.gpsd.connections.slots {
      #expect(connection?.output.text.count ?? 0 <= GPSDConnection.highWater + 2_048)
    }
  }

  @Test("GPD-9: a flood of requests is bounded in output and in rate")
  func flood() throws {
    let bench = try bench()
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
    let bench = try bench()
    let programs = (0..<70).map { _ in bench.gpsdProgram(of: user) }
    for program in programs { _ = program.lines() }
    #expect(programs.count { $0.isClosed } == 6)
    let stranger = (0..<10).map { _ in bench.gpsdProgram(of: 2_000) }
    for program in stranger { _ = program.lines() }
    #expect(stranger.count { $0.isClosed } == 2)
  }

  @Test("a program that connects to the service with the same name takes over")
  func takeOver() throws {
    let bench = try bench()
    let program = bench.gpsdProgram(watchJSON, of: user)
    let (control, _, _) = bench.client("gpsd", of: user)
    _ = program.lines()
    #expect(program.isClosed)
    _ = bench.gpsdProgram(watchJSON, of: user)
    _ = control.bytes()
    #expect(control.isClosed)
    #expect(bench.isDemanding)
  }

  @Test("the helper passes users and connections; another user is no helper")
  func helper() throws {
    let bench = try bench()
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
