import ArgumentParser
import BoardHardware
import BoardProfiles
import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import torpor

@Suite("Values on the command line", .tags(.process))
struct ArgumentValuesTests {
  @Test("a distance is in metres or kilometres, or unlimited")
  func distances() throws {
    #expect(try ArgumentValues.distance("500") == 500)
    #expect(try ArgumentValues.distance("0") == 0)
    #expect(try ArgumentValues.distance("500m") == 500)
    #expect(try ArgumentValues.distance("1.5km") == 1_500)
    #expect(try ArgumentValues.distance("2 km") == 2_000)
    #expect(try ArgumentValues.distance("1e3") == 1_000)
    #expect(try ArgumentValues.distance("Unlimited") == .infinity)
  }

  @Test("a time is in seconds, minutes or hours, or unlimited")
  func timeouts() throws {
    #expect(try ArgumentValues.timeout("90") == 90)
    #expect(try ArgumentValues.timeout("90s") == 90)
    #expect(try ArgumentValues.timeout("10min") == 600)
    #expect(try ArgumentValues.timeout("1.5h") == 5_400)
    #expect(try ArgumentValues.timeout("unlimited") == .infinity)
  }

  @Test(
    "text that is not a number, negative numbers and infinity are rejected",
    arguments: [
      "nan", "NaN", "-nan", "inf", "infinity", "-inf", "-1", "-0.001", "1e999", "", " ", "m",
      "0x10",
      "1,5", "12abc", "--json", "１",
    ])
  func refused(text: String) {
    #expect(throws: ValidationError.self) { try ArgumentValues.distance(text) }
    #expect(throws: ValidationError.self) { try ArgumentValues.timeout(text) }
    #expect(throws: ValidationError.self) { try ArgumentValues.hours(text) }
    // -1 is valid: Core Location's `kCLLocationAccuracyBest`.
    if text != "-1" { #expect(throws: ValidationError.self) { try ArgumentValues.accuracy(text) } }
    #expect(throws: ValidationError.self) { try ArgumentValues.capacity(text) }
  }

  @Test("hours are more than 0 and at most 31 days")
  func hours() throws {
    #expect(try ArgumentValues.hours("0.5") == 0.5)
    #expect(try ArgumentValues.hours("744") == 744)
    #expect(throws: ValidationError.self) { try ArgumentValues.hours("0") }
    #expect(throws: ValidationError.self) { try ArgumentValues.hours("745") }
  }

  @Test("STD-1: accuracy is best, navigation or metres")
  func accuracies() throws {
    #expect(try ArgumentValues.accuracy("best") == -1)
    #expect(try ArgumentValues.accuracy("navigation") == -2)
    #expect(try ArgumentValues.accuracy("-1") == -1)
    #expect(try ArgumentValues.accuracy("-2") == -2)
    #expect(try ArgumentValues.accuracy("10") == 10)
    for text in ["-3", "-1.5", "-0.5"] {
      #expect(throws: ValidationError.self) { try ArgumentValues.accuracy(text) }
    }
  }

  @Test("RNG-1: a profile and --capacity accept the capacities that a ring supports")
  func ringRange() throws {
    #expect(BoardProfile.Cache.capacityRange == FixRing.capacityRange)
    let half = FixRing.capacityRange.lowerBound / 2...FixRing.capacityRange.upperBound / 2
    #expect(BoardProfile.Cache.deferralLimitRange == half)
    func expectation(_ path: String) -> String? {
      ProfileSchema.keys.first { $0.path == path }?.expectation
    }
    #expect(expectation("cache.capacity_fixes") == "a whole number of fixes, 2 to 1048576")
    #expect(expectation("cache.deferral_limit_fixes") == "a whole number of fixes, 1 to 524288")
  }

  @Test("a capacity is 1 to 524,288 fixes")
  func capacities() throws {
    #expect(try ArgumentValues.capacity("1") == 1)
    #expect(try ArgumentValues.capacity("524288") == 524_288)
    #expect(throws: ValidationError.self) { try ArgumentValues.capacity("0") }
    #expect(throws: ValidationError.self) { try ArgumentValues.capacity("524289") }
    #expect(throws: ValidationError.self) { try ArgumentValues.capacity("1.5") }
  }

  @Test("seeds and line speeds are whole numbers, and a wrong value is reported")
  func numbers() throws {
    #expect(try ArgumentValues.seed("18446744073709551615") == .max)
    #expect(try ArgumentValues.baud("115200") == 115_200)
    for text in ["-1", "", "1.5", "18446744073709551616"] {
      #expect(throws: ValidationError.self) { try ArgumentValues.seed(text) }
    }
    for text in ["-9600", "9601", "fast", ""] {
      #expect(throws: ValidationError.self) { try ArgumentValues.baud(text) }
    }
    for arguments in [["simulate", "--seed", "-1"], ["decode", "--date", "-5", "x"]] {
      let result = Command.run(arguments)
      #expect(result.status == 64 && result.errors.contains("it should be"), "\(arguments)")
    }
  }

  @Test("a date is YYYY-MM-DD from 1980 to 2999")
  func dates() throws {
    #expect(try ArgumentValues.date("2014-04-03") == CalendarDate(year: 2014, month: 4, day: 3))
    #expect(try ArgumentValues.date("2020-02-29") == CalendarDate(year: 2020, month: 2, day: 29))
    for wrong in [
      "2019-02-29", "2014-13-01", "2014-00-01", "2014-01-32", "14-04-03", "2014-04",
      "2014/04/03", "1979-12-31", "3000-01-01", "9999-12-31", "-5", "2014-04-03x", "",
      "-2014-04-03", "2014-04-+3", "0000-01-01",
    ] {
      #expect(throws: ValidationError.self) { try ArgumentValues.date(wrong) }
    }
  }

  @Test("a typing error gives a suggestion, an unrelated word does not")
  func suggestions() {
    let names = ["decode", "replay", "simulate", "board"]
    #expect(nearestName(to: "deocde", among: names) == "decode")
    #expect(nearestName(to: "Replya", among: names) == "replay")
    #expect(nearestName(to: "sim", among: names) == "simulate")
    #expect(nearestName(to: "boards", among: names) == "board")
    #expect(nearestName(to: "xyz", among: names) == nil)
    #expect(nearestName(to: "boa", among: names + ["boat"]) == "boat", "the most similar first")
    #expect(nearestName(to: "dec", among: names + ["decline"]) == nil, "two begin with it")
    #expect(nearestName(to: "", among: names) == nil)
    #expect(editDistance("kitten", "sitting", limit: 9) == 3)
    #expect(editDistance("ab", "ba", limit: 9) == 1)
    #expect(editDistance("", "abc", limit: 9) == 3)
  }
}

@Suite("Options of the commands")
struct OptionTests {
  @Test("replay accepts the options in the reference")
  func replay() throws {
    let command = try Replay.parse([
      "--distance", "2km", "--timeout", "unlimited", "--capacity", "300", "--json", "a.nmea",
    ])
    #expect(command.deferral.distance == 2_000)
    #expect(command.deferral.timeout == .infinity)
    #expect(command.capacity == 300)
    #expect(command.printing.json)
    #expect(command.file == "a.nmea")
    #expect(command.board.name == "simulated")
  }

  @Test("simulate accepts the options in the reference")
  func simulate() throws {
    let command = try Simulate.parse([
      "--scenario", "commute", "--hours", "24", "--service", "standard", "--accuracy", "10",
      "--noise", "none", "--ttff", "sampled", "--seed", "7", "--trace", "t.jsonl",
    ])
    #expect(command.routeOptions.scenario == .commute)
    #expect(command.hours == 24)
    #expect(command.service == .standard)
    #expect(command.accuracy == 10)
    #expect(command.random.noise == .none)
    #expect(command.ttff == .sampled)
    #expect(command.random.seed == 7)
    #expect(command.printing.trace == "t.jsonl")
  }

  @Test(
    "conflicting options and invalid values are rejected",
    arguments: [
      ["--track", "a.csv", "--scenario", "day"], ["--hours", "0"], ["--hours", "nan"],
      ["--timeout", "-5"], ["--distance", "nan"], ["--scenario", "swim"], ["--seed", "-1"],
      ["--noise", "some"], ["--trace", "-"], ["extra"],
    ])
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try Simulate.parse(arguments) }
  }

  @Test("every command has help")
  func help() {
    let help = Torpor.helpMessage()
    #expect(help.contains("torpor simulate"))
    #expect(help.contains("\n      Needs the service.\n") && help.contains("\n      and when.\n"))
    for line in Simulate.helpMessage().split(separator: "\n") { #expect(line.count <= 80) }
    for command in Torpor.configuration.subcommands {
      #expect(!command.helpMessage().isEmpty)
      #expect(!command.configuration.abstract.isEmpty)
    }
  }
}
