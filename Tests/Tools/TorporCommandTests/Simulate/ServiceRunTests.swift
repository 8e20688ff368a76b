import TestSupport
import Testing

@testable import torpor

@Suite("torpor simulate with each service", .tags(.process))
struct ServiceRunTests {
  /// A run as JSON Lines: what was told, and the summary.
  static func run(_ arguments: [String]) throws -> (told: [Substring], summary: Substring) {
    let result = Command.run(["simulate", "--noise", "none", "--json"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    let summary = try #require(lines.last)
    let told = lines.filter { $0.contains(#""kind":"told""#) }
    #expect(EndToEndTests.number("notices", in: summary) == Double(told.count))
    return (told, summary)
  }

  static func words(_ told: [Substring]) -> [String] {
    told.compactMap { $0.firstMatch(of: /"what":"([a-z]+)"/).map { String($0.output.1) } }
  }

  @Test(
    "what a service delivers is in the text and on the page",
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
    "PWR-11: a run ends with its scenario where standby has an end of its own",
    arguments: ["standard", "deferred"])
  func casic(_ service: String) throws {
    let (_, summary) = try Self.run([
      "--scenario", "drive", "--hours", "0.1", "--board", "pi4-l76k-hat", "--service", service,
    ])
    #expect(EndToEndTests.number("duration_s", in: summary) == 360)
    let board = try #require(EndToEndTests.number("board_mj", in: summary))
    // Idle, 2.7 W, for most of the time.
    #expect(board > 360 * 2_700 && board < 360 * 3_000, "\(board)")
  }

  static let hour = ["--scenario", "commute", "--hours", "1"]

  @Test("significant: reports, five minutes apart at least")
  func significant() throws {
    let (told, summary) = try Self.run(Self.hour + ["--service", "significant"])
    #expect(told.count > 2 && Set(Self.words(told)) == ["report"])
    let times = told.map { EndToEndTests.number("t", in: $0) ?? .nan }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 299.999 })
    #expect(summary.contains(#""batches":0"#) && !summary.contains("promise"))
  }

  @Test("visits: arrivals and departures take turns, told after they were")
  func visits() throws {
    let (told, _) = try Self.run(
      ["--scenario", "commute", "--hours", "1.5", "--service", "visits"])
    #expect(Self.words(told) == ["arrived", "departed", "arrived"])
    for line in told {
      let moment = try #require(EndToEndTests.number("at", in: line))
      #expect(moment < EndToEndTests.number("t", in: line) ?? .nan)
      #expect(abs((EndToEndTests.number("lat", in: line) ?? .nan) - 52.5) < 0.2)
    }
  }

  @Test("live: reports, and that the wearer stands at the end of the way")
  func live() throws {
    let words = Self.words(try Self.run(Self.hour + ["--service", "live"]).told)
    #expect(words.filter { $0 == "report" }.count > 1_000)
    #expect(words.contains("stationary") && Set(words).count == 2)
  }

  @Test("region: the wearer leaves it once and for all; a larger one later; none of 0 m")
  func region() throws {
    func left(_ radius: [String]) throws -> Double {
      let told = try Self.run(Self.hour + ["--service", "region"] + radius).told
      #expect(Self.words(told).last == "exited")
      return EndToEndTests.number("t", in: try #require(told.last)) ?? .nan
    }
    #expect(try left(["--radius", "3km"]) > left([]))
    #expect(try left([]) == left(["--radius", "200m"]))
    for wrong in ["0", "-1", "100001", "unlimited", "x"] {
      let none = Command.run(["simulate", "--service", "region", "--radius", wrong])
      #expect(none.status == 64 && none.output.isEmpty, "\(wrong)")
      #expect(
        none.errors.contains("it should be metres, more than 0 and at most 100 km"),
        "\(none.errors)")
    }
  }

  @Test("standard with an accuracy: a promise in the summary, near the optimum; else none")
  func standard() throws {
    let (told, summary) = try Self.run(
      Self.hour + ["--service", "standard", "--accuracy", "100"])
    #expect(told.isEmpty && summary.contains(#""promise":{"bound_m":100,"seconds":3"#))
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

  @Test("pause: updates pause while nobody moves, and only where that was asked for")
  func pause() throws {
    let still = ["--scenario", "still", "--hours", "0.5", "--service", "standard"]
    #expect(Self.words(try Self.run(still + ["--pause"]).told) == ["paused"])
    #expect(try Self.run(still).told.isEmpty)
    let people = Command.run(["simulate"] + still + ["--pause", "--noise", "none"])
    #expect(people.output.contains("  paused    device stationary\n"))
    #expect(people.output.contains("\nnotices         1\n"))
  }

  @Test("motion: its edges wake a board whose sleep hears them, and save the receiver's energy")
  func motion() throws {
    let folder = Command.directory()
    let path = "\(folder)/moving.toml"
    let profile = Command.run(["board", "show", "simulated"]).output
    Command.write(
      Array(
        (profile.replacing("\"batch_pin\"]", with: "\"batch_pin\", \"motion\"]")
          + "\n[motion]\nline = \"MOTION\"\nstill_after_s = 30\n").utf8), to: path)
    let asked = Self.hour + ["--service", "standard", "--accuracy", "100"]
    func run(_ more: [String]) -> (energy: Double, wakes: Int) {
      let result = Command.run(["simulate", "--noise", "none", "--json"] + asked + more)
      #expect(result.status == 0, "\(result.errors)")
      let lines = result.output.split(separator: "\n")
      return (
        EndToEndTests.number("receiver_mj", in: lines.last ?? "") ?? .nan,
        lines.count { $0.contains(#""kind":"wake","reason":"motion""#) }
      )
    }
    let without = run([])
    let with = run(["--motion"])
    let wired = run(["--board", path])
    #expect(without.wakes == 0 && with.wakes > 1 && wired.wakes > 1)
    #expect(with.energy < without.energy && wired.energy < without.energy)
    // The profile says how long the line stays up, also where it is asked for once more.
    #expect(run(["--board", path, "--motion"]) == wired)
  }

  @Test("a service there is not is refused, with those that there are")
  func noSuch() {
    let wrong = Command.run(["simulate", "--service", "often"])
    #expect(wrong.status == 64 && wrong.errors.contains("significant"))
  }

  @Test(
    "the headline says what is asked for",
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
    #expect(first == "simulated: day, 6 min; " + words)
  }
}
