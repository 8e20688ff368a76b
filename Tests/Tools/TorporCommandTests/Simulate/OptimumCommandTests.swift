import TestSupport
import Testing

@testable import torpor

@Suite("torpor optimum", .tags(.process))
struct OptimumCommandTests {
  /// A track of `seconds` seconds at slightly more than 1 m/s.
  static func track(_ seconds: Int) -> [UInt8] {
    let lines = (0...seconds).map { second in
      "\(1_600_000_000 + second),50.0,10.\(String(100_000 + second * 2).dropFirst()),,\n"
    }
    return Array(("unix_time,lat,lon,alt,speed\n" + lines.joined()).utf8)
  }

  @Test("each track and each accuracy has a row")
  func rows() {
    let folder = Command.directory()
    for (name, seconds) in [("a.csv", 600), ("b.csv", 1_200)] {
      Command.write(Self.track(seconds), to: "\(folder)/\(name)")
    }
    let result = Command.run([
      "optimum", "--track", "\(folder)/a.csv", "\(folder)/b.csv", "--accuracy", "50", "0.1km",
      "--accuracy", "1e5",
    ])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 2 + 1 + 6 + 1)
    #expect(
      lines[0]
        == "board simulated: tracking 25 mW (10 mW in its duty cycle), acquiring 30 mW, off 0.1 mW"
    )
    #expect(Set(lines[2..<9].map(\.count)).count == 1)
    #expect(lines[3].hasPrefix("a.csv  10 min"))
    #expect(lines[5] == "a.csv  10 min    100 km  0.07 J     0.12 mW    15.00 J  99.5 %         0")
    #expect(lines[8].hasPrefix("b.csv  20 min"))
  }

  @Test("--json prints one line per row, and the track can come from a pipe")
  func json() {
    let result = Command.run(
      ["optimum", "--track", "-", "--accuracy", "1km", "--json"], input: Self.track(600))
    #expect(result.status == 0)
    #expect(
      result.output == """
        {"track":"-","board":"simulated","duration_s":600,"accuracy_m":1000,"energy_mj":69.9,\
        "mean_mw":0.1165,"always_on_mj":15000,"fixes":1,"searches":0,"off_s":599,"acquiring_s":0,\
        "tracking_s":1}

        """)
    let near = Command.run(
      ["optimum", "--track", "-", "--accuracy", "50", "--json"], input: Self.track(600))
    #expect(!near.output.contains("\"searches\":0,"))
  }

  @Test("--total adds receiver and board: first in the table, as an object in JSON")
  func total() {
    let arguments = ["optimum", "--track", "-", "--accuracy", "1km", "--total"]
    let json = Command.run(arguments + ["--json"], input: Self.track(600))
    // A second on, and 599 s off with the board suspended.
    #expect(
      json.output.hasSuffix(
        #""off_s":599,"acquiring_s":0,"tracking_s":1,"total":{"energy_mj":6179.9,"mean_mw":"#
          + #"10.299833333333332,"always_on_mj":87000,"fixes":1,"searches":0,"off_s":599,"#
          + #""acquiring_s":0,"tracking_s":1}}"# + "\n"), "\(json.output)")
    let lines = Command.run(arguments, input: Self.track(600)).output
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines[1]
        == "with the board: tracking 145 mW (130 mW in its duty cycle), acquiring 40 mW, "
        + "off 10.1 mW, resume 0.50 J")
    #expect(lines[4].contains("6.18 J"), "\(lines)")
    #expect(lines[4].hasSuffix("0.07 J  99.5 %"), "\(lines)")
  }

  @Test("--gap sets whether the seconds of a gap are excluded")
  func gap() {
    let lines = [0, 1, 40, 41].map { second in
      "\(1_600_000_000 + second),50.0,10.\(second < 20 ? "0" : "01"),,\n"
    }
    let table = Array(("unix_time,lat,lon,alt,speed\n" + lines.joined()).utf8)
    let energies = [["--gap", "30"], ["--gap", "unlimited"], []].map { more in
      let result = Command.run(
        ["optimum", "--track", "-", "--accuracy", "50", "--json"] + more, input: table)
      return result.output.firstMatch(of: /"energy_mj":([0-9.]+)/).flatMap { Double($0.output.1) }
    }
    #expect(energies[0] == energies[2])
    #expect((energies[0] ?? 0) < (energies[1] ?? 0))
  }

  @Test(
    "invalid arguments are rejected with the expected values",
    arguments: [
      (["--accuracy", "50"], 64, "--track"), (["--track", "-"], 64, "--accuracy"),
      (["--track", "-", "--accuracy", "0"], 64, "at most 100 km"),
      (["--track", "-", "--accuracy", "-100"], 64, "-100' of --accuracy is negative"),
      (["--accuracy", "50", "-3", "--track", "-"], 64, "-3' of --accuracy is negative"),
      (["--track", "-", "--accuracy", "101km"], 64, "at most 100 km"),
      (["--track", "-", "--accuracy", "near"], 64, "metres"),
      (["--track", "-", "--accuracy", "50", "--gap", "-1"], 64, "negative"),
      (["--track", "-", "--accuracy", "50"], 65, "standard input is empty"),
      (["--track", "/nonexistent/a.csv", "--accuracy", "50"], 66, "there is no such file"),
      (["--track", "-", "--accuracy", "50", "--board", "none"], 78, "none"),
    ] as [([String], Int32, String)])
  func refused(arguments: [String], status: Int32, message: String) {
    let result = Command.run(["optimum"] + arguments)
    #expect(result.status == status)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test("a track that is too short or too long is reported")
  func length() {
    let arguments = ["optimum", "--track", "-", "--accuracy", "50"]
    let short = Command.run(arguments, input: Self.track(0))
    #expect(short.status == 65 && short.errors.contains("standard input is too short: "))
    #expect(short.errors.contains("only one point"), "\(short.errors)")
    let far = Array("unix_time,lat,lon,alt,speed\n0,50,10,,\n2678401,50,10,,\n".utf8)
    let long = Command.run(arguments, input: far)
    #expect(long.status == 65 && long.errors.contains("standard input is too long"))
    #expect(Command.run(arguments, input: Self.track(1)).status == 0)
  }

  @Test("its help fits a terminal")
  func help() {
    for line in OptimumCommand.helpMessage().split(separator: "\n") { #expect(line.count <= 80) }
  }
}
