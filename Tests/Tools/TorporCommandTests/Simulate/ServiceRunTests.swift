import TestSupport
import Testing

@testable import torpor

@Suite("torpor simulate with each service", .tags(.process))
struct ServiceRunTests {
  /// Notices and summary of a run with `--json`.
  static func run(_ arguments: [String]) throws -> (notices: [Substring], summary: Substring) {
    let result = Command.run(["simulate", "--noise", "none", "--json"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    let summary = try #require(lines.last)
    let notices = lines.filter { $0.contains(#""kind":"told""#) }
    #expect(EndToEndTests.number("notices", in: summary) == Double(notices.count))
    return (notices, summary)
  }

  static func kinds(_ notices: [Substring]) -> [String] {
    notices.compactMap { $0.firstMatch(of: /"what":"([a-z]+)"/).map { String($0.output.1) } }
  }

  @Test(
    "the text and the report show what a service delivered",
    arguments: [
      ("significant", #"[1-9]\d* significant change"#), ("visits", "1 arrival, 0 departures"),
      ("live", #"[1-9],\d{3} locations, flags changed 0 times, stationary changed"#),
      ("region", "region entered once, exited twice"),
    ])
  func delivered(_ service: String, _ words: String) throws {
    let path = "\(Command.directory())/run.html"
    let run = Command.run(["simulate", "-q", "--service", service, "--report", path] + Self.hour)
    let line = try #require(
      run.output.firstMatch(of: Regex("delivered       " + words)), "\(run.output)")
    #expect(!run.output.contains("deferrals") && !run.output.contains("batches"))
    #expect(Command.read(path)?.contains(": \(run.output[line.range].dropFirst(16))") == true)
  }

  @Test(
    "PWR-11: a run ends with its scenario on a board with a limited standby",
    arguments: ["standard", "deferred"])
  func casic(_ service: String) throws {
    let (_, summary) = try Self.run([
      "--scenario", "drive", "--hours", "0.1", "--board", "pi4-l76k-hat", "--service", service,
    ])
    #expect(EndToEndTests.number("duration_s", in: summary) == 360)
    let board = try #require(EndToEndTests.number("board_mj", in: summary))
    // The board idles at 2.7 W most of the time.
    #expect(board > 360 * 2_700 && board < 360 * 3_000, "\(board)")
  }

  static let hour = ["--scenario", "commute", "--hours", "1"]

  @Test("significant: reports are at least five minutes apart")
  func significant() throws {
    let (notices, summary) = try Self.run(Self.hour + ["--service", "significant"])
    #expect(notices.count > 2 && Set(Self.kinds(notices)) == ["report"])
    let times = notices.map { EndToEndTests.number("t", in: $0) ?? .nan }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 299.999 })
    #expect(summary.contains(#""batches":0"#) && !summary.contains("promise"))
  }

  @Test("visits: arrivals and departures alternate, each reported after its time")
  func visits() throws {
    let (notices, _) = try Self.run(
      ["--scenario", "commute", "--hours", "1.5", "--service", "visits"])
    #expect(Self.kinds(notices) == ["arrived", "departed", "arrived"])
    for line in notices {
      let moment = try #require(EndToEndTests.number("at", in: line))
      #expect(moment < EndToEndTests.number("t", in: line) ?? .nan)
      #expect(abs((EndToEndTests.number("lat", in: line) ?? .nan) - 52.5) < 0.2)
    }
  }

  @Test("live: reports, and a stationary flag at the end of the route")
  func live() throws {
    let words = Self.kinds(try Self.run(Self.hour + ["--service", "live"]).notices)
    #expect(words.filter { $0 == "report" }.count > 1_000)
    #expect(words.contains("stationary") && Set(words).count == 2)
  }

  @Test("region: the device exits once, later for a larger radius; a radius of 0 m is rejected")
  func region() throws {
    func exitTime(_ radius: [String]) throws -> Double {
      let notices = try Self.run(Self.hour + ["--service", "region"] + radius).notices
      #expect(Self.kinds(notices).last == "exited")
      return EndToEndTests.number("t", in: try #require(notices.last)) ?? .nan
    }
    #expect(try exitTime(["--radius", "3km"]) > exitTime([]))
    #expect(try exitTime([]) == exitTime(["--radius", "200m"]))
    for wrong in ["0", "-1", "100001", "unlimited", "x"] {
      let none = Command.run(["simulate", "--service", "region", "--radius", wrong])
      #expect(none.status == 64 && none.output.isEmpty, "\(wrong)")
      #expect(
        none.errors.contains("it should be metres, more than 0 and at most 100 km"),
        "\(none.errors)")
    }
  }

  @Test("standard with an accuracy bound: the summary compares with the optimum; else not")
  func standard() throws {
    let (notices, summary) = try Self.run(
      Self.hour + ["--service", "standard", "--accuracy", "100"])
    #expect(notices.isEmpty && summary.contains(#""promise":{"bound_m":100,"seconds":3"#))
    let ratio = try #require(EndToEndTests.number("ratio", in: summary))
    let broken = try #require(EndToEndTests.number("broken_share", in: summary))
    #expect((1..<4).contains(ratio) && (0..<0.05).contains(broken))
    for accuracy in ["best", "10"] {
      let finer = try Self.run(
        ["--hours", "0.1", "--service", "standard", "--accuracy", accuracy])
      #expect(!finer.summary.contains("promise") && finer.summary.contains(#""lost":0"#))
    }
    let deferred = try Self.run(["--hours", "0.1", "--accuracy", "100"])
    #expect(!deferred.summary.contains("promise"))
  }

  @Test("pause: updates pause while the device is stationary, only with --pause")
  func pause() throws {
    let still = ["--scenario", "still", "--hours", "0.5", "--service", "standard"]
    #expect(Self.kinds(try Self.run(still + ["--pause"]).notices) == ["paused"])
    #expect(try Self.run(still).notices.isEmpty)
    let text = Command.run(["simulate"] + still + ["--pause", "--noise", "none"])
    #expect(text.output.contains("  paused    device stationary\n"))
    #expect(text.output.contains("\nnotices         1\n"))
  }

  @Test("motion: its edges wake a board whose sleep state allows it, and save receiver energy")
  func motion() throws {
    let folder = Command.directory()
    let path = "\(folder)/moving.toml"
    let profile = Command.run(["board", "show", "simulated"]).output
    Command.write(
      Array(
        (profile.replacing("\"batch_pin\"]", with: "\"batch_pin\", \"motion\"]")
          + "\n[motion]\nline = \"MOTION\"\nstill_after_s = 30\n").utf8), to: path)
    let request = Self.hour + ["--service", "standard", "--accuracy", "100"]
    func run(_ more: [String]) -> (energy: Double, wakes: Int) {
      let result = Command.run(["simulate", "--noise", "none", "--json"] + request + more)
      #expect(result.status == 0, "\(result.errors)")
      let lines = result.output.split(separator: "\n")
      return (
        EndToEndTests.number("receiver_mj", in: lines.last ?? "") ?? .nan,
        lines.count { $0.contains(#""kind":"wake","reason":"motion""#) }
      )
    }
    let withoutSensor = run([])
    let withSensor = run(["--motion"])
    let wired = run(["--board", path])
    #expect(withoutSensor.wakes == 0 && withSensor.wakes > 1 && wired.wakes > 1)
    #expect(withSensor.energy < withoutSensor.energy && wired.energy < withoutSensor.energy)
    // The profile sets how long the line stays active, also with --motion.
    #expect(run(["--board", path, "--motion"]) == wired)
  }

  @Test("an unknown service is rejected with the list of services")
  func noSuch() {
    let wrong = Command.run(["simulate", "--service", "often"])
    #expect(wrong.status == 64 && wrong.errors.contains("significant"))
  }

  @Test(
    "the headline shows the request",
    arguments: [
      (["--service", "significant"], "significant change"), (["--service", "visits"], "visits"),
      (["--service", "live"], "live updates"),
      (["--service", "region", "--radius", "2km"], "a region of 2 km"),
      (["--service", "standard"], "every fix immediately"),
      (["--service", "standard", "--accuracy", "100"], "within 100 m"),
    ])
  func headline(_ arguments: [String], _ words: String) {
    let result = Command.run(["simulate", "--hours", "0.1"] + arguments)
    let first = result.output.split(separator: "\n").first ?? ""
    #expect(first == "board simulated: day, 6 min; " + words)
  }
}
