import CExpat
import Foundation
import LocationTypes
import LocationWire
import SimulatedHAL
import TestSupport
import Testing
import TextFormats

@testable import torpor

@Suite("The HTML report of a run", .tags(.process))
struct ReportPageTests {
  /// Runs `simulate --report`; returns the page and the result.
  func page(_ arguments: [String]) -> (page: String, run: Command.Result) {
    let path = "\(Command.directory())/run.html"
    let run = Command.run(["simulate", "--report", path] + arguments)
    return (Command.read(path) ?? "", run)
  }

  /// The error of expat when it parses `page`; nil if the page is well-formed.
  func problem(_ page: String) -> String? {
    let parser = unsafe XML_ParserCreate("UTF-8")
    defer { unsafe XML_ParserFree(parser) }
    let bytes = Array(page.utf8)
    let status = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XML_Parse(
        parser, buffer.bindMemory(to: CChar.self).baseAddress, Int32(buffer.count), 1)
    }
    guard status != XML_STATUS_OK else { return nil }
    return
      unsafe "error \(XML_GetErrorCode(parser).rawValue) in line \(XML_GetCurrentLineNumber(parser))"
  }

  @Test(
    "a report is well-formed, self-contained and small",
    arguments: [
      ["--battery", "3000mAh@3.7V"],
      ["--service", "standard", "--accuracy", "100"],
      ["--service", "standard", "--noise", "none"],
      ["--scenario", "still", "--hours", "0.001"],
      ["--scenario", "walk", "--hours", "1", "--motion"],
      ["--service", "visits"], ["--service", "region", "--radius", "300"],
      ["--service", "significant"], ["--service", "live"],
    ])
  func wellFormed(_ arguments: [String]) {
    let (page, run) = page(["--quiet"] + arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    #expect(problem(page) == nil)
    for word in ["http:", "https:", "//", "url(", "@import", "src=", "NaN", "inf"] {
      #expect(!page.contains(word), "\(word)")
    }
    for word in ["width=device-width", "prefers-color-scheme:dark", "role=\"img\"", "<title>"] {
      #expect(page.contains(word), "\(word)")
    }
    for image in page.split(separator: "<svg ").dropFirst() {
      #expect(image.prefix { $0 != ">" }.contains("aria-label=\""))
    }
    #expect((5_000..<250_000).contains(page.utf8.count), "\(page.utf8.count) bytes")
  }

  @Test("markup in file names is escaped")
  func names() {
    let folder = Command.directory()
    let name = "<b onload='x'>&amp;\"\u{7}\u{FFFE}\u{202E}.csv"
    Command.write(OptimumCommandTests.track(600), to: "\(folder)/\(name)")
    let (page, run) = page(["--quiet", "--track", "\(folder)/\(name)"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(problem(page) == nil)
    let shown = "&lt;b onload=&#39;x&#39;&gt;&amp;amp;&quot;\u{FFFD}\u{FFFD}\u{202E}.csv"
    #expect(page.contains("<title>\(shown) on simulated</title>"))
    #expect(page.contains("<bdi>\(shown)</bdi>"))
    #expect(!page.contains("<b onload"))
    let none = Unicode.Scalar(0xFDD0 as UInt32).map { String($0) } ?? ""
    #expect(XMLText.escaped("a\tb\n\u{B}\u{9F}\(none)é") == "a&#9;b&#10;\u{FFFD}\u{FFFD}\u{FFFD}é")
  }

  @Test("interpolated strings are escaped, interpolated markup is not")
  func markup() {
    let part: HTML = "<c/>"
    let page: HTML = "<a b=\"\("<\"'&>")\">\("1 < 2")\(part)\(nil as HTML?)\([part, part])\(3)</a>"
    #expect(page.text == "<a b=\"&lt;&quot;&#39;&amp;&gt;\">1 &lt; 2<c/><c/><c/>3</a>")
    #expect(
      HTML.table(["x", "<"], [("1", ["&"])]).text
        == "<table><thead><tr><th scope=\"col\">x</th><th scope=\"col\">&lt;</th></tr></thead>"
        + "<tbody><tr><th scope=\"row\">1</th><td>&amp;</td></tr></tbody></table>")
  }

  @Test("the page has the numbers of the summary")
  func numbers() {
    let (page, run) = page(["--service", "standard", "--accuracy", "100", "--battery", "10Wh"])
    let output = run.output
    func row(_ name: String) -> Substring {
      output.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(16) ?? ""
    }
    let energyRows = output.split(separator: "\n")
      .filter { $0.contains(" kJ ") || $0.contains(" J ") }
    var compared = 0
    for line in energyRows where line.hasPrefix("  ") {
      let parts = line.split(separator: "  ").map { String($0).trimming }
      guard parts.count == 5 else { continue }
      if parts[0] == "total" {
        #expect(page.contains(">\(parts[4])</dd>"), "\(parts)")
        #expect(page.contains(">\(parts[3]) saved;"), "\(parts)")
      } else {
        #expect(page.contains(">\(parts[1])</span>") && page.contains(">\(parts[2])</span>"))
      }
      compared += 1
    }
    #expect(compared == 3)
    // Example: above 100 m for 4.25 % of the time, p95 87.6 m, worst 733 m
    #expect(page.contains(">\(row("fixes").prefix { $0 != " " })</dd>"))
    let errorRow = row("error")
    #expect(errorRow.contains("above"))
    for match in errorRow.matches(of: /m for (.*%)|p95 (.*m),|worst (.*)$/) {
      let value = match.output.1 ?? match.output.2 ?? match.output.3 ?? "?"
      #expect(page.contains(value), "\(value)")
    }
    let ratio = row("optimum").split(separator: ": ").last ?? "?"
    #expect(
      page.contains("<th scope=\"col\">of the time</th><th scope=\"col\">energy</th>")
        && !page.contains("share"))
    #expect(page.contains(">\(ratio)</dd>"))
    let states = output.matches(of: /([a-z]+) (\d[^(,\n]*) \(([0-9.]+) %\)/)
    #expect(states.count > 4)
    // The time above the bound is on its own tile.
    for state in states where state.output.1 != "above" {
      let (word, time, share) = (state.output.1, state.output.2, state.output.3)
      #expect(
        page.contains("</span> \(word)</th><td>\(time)</td><td>\(share) %</td>"),
        "\(state.output.0)")
    }
  }

  @Test("a failed report keeps the old file; a report that would replace an input is rejected")
  func outputPaths() {
    let folder = Command.directory()
    let page = "\(folder)/run.html"
    let track = "\(folder)/way.csv"
    Command.write(OptimumCommandTests.track(60), to: track)
    Command.write(Array("old".utf8), to: page)
    let run = ["simulate", "--track", track, "--report", page]
    #expect(Command.run(run + ["--trace", "/dev/full"]).status == 74)
    #expect(Command.read(page) == "old")
    #expect(TestFolder.names(in: folder) == ["run.html", "way.csv"])
    #expect(Command.run(run).status == 0)
    #expect(Command.read(page)?.hasPrefix("<!DOCTYPE html>") == true)
    for path in [track, page] {
      let both = Command.run(["simulate", "--track", track, "--trace", page, "--report", path])
      #expect(both.status == 64 && both.errors.contains("is the same file as"))
    }
    #expect(Command.run(["simulate", "--report", "/dev/full", "--hours", "0.1"]).status == 74)
    #expect(Command.run(["simulate", "--report", "\(folder)/none/a.html"]).status == 73)
    #expect(Command.run(["simulate", "--report", "-"]).status == 64)
    let withoutReport = Command.run(["simulate", "--battery", "1Wh"])
    #expect(withoutReport.status == 64 && withoutReport.errors.contains("add --report FILE"))
    let empty = Command.run(["simulate", "--charge", "30"])
    #expect(empty.status == 64 && empty.errors.contains("add --battery"))
    for wrong in ["0", "101", "-1", "nan", "full", "%"] {
      let refused = Command.run(["simulate", "--battery", "1Wh", "--charge", wrong])
      #expect(refused.status == 64 && refused.errors.contains("at most 100"), "\(wrong)")
    }
  }

  @Test("PWR-10: the report draws a low battery and lists the degraded services")
  func charge() throws {
    let folder = Command.directory()
    let arguments = [
      "simulate", "--service", "standard", "--scenario", "walk", "--hours", "1", "--battery",
      "200mWh", "--charge", "35%",
    ]
    let run = Command.run(arguments + ["--report", "\(folder)/a.html"])
    #expect(run.status == 0 && run.output.contains("degraded  battery at 29 %: within 100 m"))
    let page = try #require(Command.read("\(folder)/a.html"))
    #expect(page.contains("Battery, %") && page.contains("from 35 % to 18 %"))
    #expect(page.contains("<b>degraded</b>") && page.contains("within 100 m at best"))
    let full = Command.run(arguments.dropLast(4) + ["--report", "\(folder)/b.html"])
    #expect(full.status == 0 && Command.read("\(folder)/b.html")?.contains("Battery, %") == false)
    // Battery life is that of 70 mWh (35 % of 200 mWh) at the mean power of the run.
    func life(of page: String?) -> Substring? {
      page?.firstMatch(of: /Battery life<\/dt><dd class="big">([^<]*)</)?.output.1
    }
    #expect(page.contains("0.200 Wh, 35 % full") && page.contains("battery charged to 35 %"))
    let whole = Command.run(
      arguments.dropLast() + ["100", "--report", "\(folder)/whole.html", "--quiet"])
    let long = Command.read("\(folder)/whole.html")
    #expect(whole.status == 0 && long?.contains("a new battery charged to 100 %") == true)
    #expect(life(of: page) != nil && life(of: page) != life(of: long))
    let short = Command.run(arguments.dropLast() + ["1"])
    #expect(short.status == 0 && short.errors.contains("the battery was empty after"))
    let other = Command.run(arguments + ["--board", "zero2w-pa1616s", "--quiet"])
    #expect(other.errors.contains("its profile has no [battery]"))
  }

  @Test("the battery chart falls with consumption, to 0 where the battery is empty")
  func emptyBattery() throws {
    let (page, run) = page([
      "--quiet", "--scenario", "still", "--hours", "12", "--service", "live", "--battery",
      "300mWh", "--charge", "40",
    ])
    #expect(run.errors.contains("the battery was empty after"))
    #expect(page.contains("from 40 % to 0 %"))
    let chart = try #require(
      page.firstMatch(of: /Battery, %: charge.*?class="curve"[^>]* d="([^"]*)"/))
    let heights = chart.output.1.matches(of: /[ML](\d+) (\d+)/).compactMap { Int($0.output.2) }
    // 1,000 is the axis, an empty battery. The curve never rises, because power is always consumed.
    #expect(heights.count > 100 && heights.first == 600 && heights.last == 1_000)
    #expect(zip(heights, heights.dropFirst()).allSatisfy { $0 <= $1 })
    let late = heights[heights.count * 3 / 4]
    #expect((700..<1_000).contains(late), "\(late)")
  }

  @Test("a legend lists exactly what is drawn; coordinates have five decimals")
  func keys() throws {
    let stationary = page([
      "--quiet", "--scenario", "still", "--hours", "0.5", "--service", "standard", "--accuracy",
      "100",
    ]).page
    #expect(stationary.contains("class=\"area\"") && stationary.contains("within the bound</span>"))
    #expect(!stationary.contains("class=\"over\"") && !stationary.contains("above the bound"))
    #expect(!stationary.contains("gap in the recording") && !stationary.contains(">track</span>"))
    let visits = page(["--quiet", "--service", "visits", "--hours", "8"]).page
    #expect(!visits.contains("gap in the recording") && visits.contains(">track</span>"))
    let coordinates = try #require(
      visits.firstMatch(of: /arrived<\/b><\/th><td>([^<]*)</))
    for part in coordinates.output.1.split(separator: ", ").prefix(2) {
      #expect(part.split(separator: ".")[1].count == 5, "\(part)")
    }
    // The legend of a bar lists exactly its parts.
    let bars = visits.matches(of: /<figure class="bars"(.*?)<p class="key">(.*?)<\/p>/)
    #expect(bars.count == 3)
    for bar in bars {
      let part = /<(?:path|span) class="(?:k )?r[0-3]".*?>([a-z]+) [0-9.]+ % of the energy</
      let drawn = bar.output.1.matches(of: part).map(\.output.1)
      let listed = bar.output.2.matches(of: part).map(\.output.1)
      #expect(!listed.isEmpty && listed == drawn, "\(listed) \(drawn)")
    }
  }

  @Test(
    "the page has the values of its charts as a table and as JSON, which agree with the summary")
  func data() throws {
    let (page, run) = page(["--service", "standard", "--accuracy", "100", "--hours", "8"])
    let text = try #require(page.firstMatch(of: /id="data">([^<]*)</)).output.1
    let data = try JSONDocument(Array(text.utf8), limits: .reply).root.object
    let from = try #require(data["from"]?.elements).compactMap { $0.string }
    #expect(
      data["interval_s"]?.integer == 600 && (48...49).contains(from.count) && from[1] == "0:10")
    #expect(page.components(separatedBy: "<tr><th scope=\"row\">").count > from.count)
    let charts = try #require(data["charts"]?.elements).map { $0.object }
    #expect(
      charts.compactMap { $0["title"]?.string } == [
        "Receiver power, mW", "Board power, mW", "Fixes in 10 min", "Error of the last report, m",
      ])
    func values(_ chart: Int, _ column: Int) -> [Double?] {
      let columns = charts[chart]["columns"]?.elements ?? []
      #expect(columns.count > column)
      return columns[column].object["values"]?.elements?.map { $0.double } ?? []
    }
    // The rows have equal lengths, so the mean of their means is that of the run.
    for (chart, name) in [(0, "receiver"), (1, "board")] {
      let row = try #require(
        run.output.firstMatch(of: try Regex("\n  \(name) .* ([0-9.]+) mW\n")))
      let mean = Double(row[1].substring ?? "") ?? -1
      let means = values(chart, 0).compactMap { $0 }
      #expect(abs(means.prefix(48).reduce(0, +) / 48 - mean) < 0.1, "\(name)")
      for (index, mean) in means.enumerated() {
        let (low, high) = (values(chart, 1)[index] ?? .infinity, values(chart, 2)[index] ?? 0)
        #expect(low <= mean && mean <= high)
      }
    }
    let fixes = values(2, 0).compactMap { $0 }.reduce(0, +)
    #expect(run.output.contains("\(HumanFormat.count(Int(fixes))) in 8 h"))
    let worst = values(3, 0).compactMap { $0 }.max() ?? 0
    #expect(run.output.contains("worst \(HumanFormat.distance(worst))"))
  }

  @Test("a power whose range is wide has a logarithmic axis on which the mean is visible")
  func logarithmic() throws {
    let (page, _) = page(["--quiet", "--service", "standard", "--accuracy", "100"])
    #expect(page.components(separatedBy: "; logarithmic scale").count == 5)
    let board = try #require(page.firstMatch(of: /Board power, mW: mean.*?<\/figure>/)).output
    for label in ["10", "100", "1,000"] { #expect(board.contains(">\(label)</span>")) }
    let line = try #require(board.firstMatch(of: /class="curve" d="M0 (\d+)/))
    #expect((300..<900).contains(Int(line.output.1) ?? 0))
  }

  @Test("the same run gives the same report")
  func same() {
    let arguments = ["--quiet", "--scenario", "walk", "--hours", "0.5", "--ttff", "sampled"]
    #expect(page(arguments).page == page(arguments).page)
    #expect(page(arguments).page != page(arguments + ["--seed", "2"]).page)
  }

  @Test("tracks across the antimeridian and at a pole are projected with their true width")
  func plane() {
    func track(_ positions: [(Double, Double)]) -> Track {
      Track(
        start: UTCTime(microseconds: 0),
        points: positions.enumerated().compactMap { index, position in
          Coordinate(latitude: position.0, longitude: position.1).map {
            TrackPoint(offset: .seconds(Int64(index)), coordinate: $0)
          }
        })
    }
    let border = track([(0, 179.999), (0, -179.999)])
    let points = border.points.map { TangentPlane(border).point($0.coordinate) }
    #expect(abs(points[1].x - points[0].x - 222.64) < 0.01)
    #expect(abs(points[0].x + points[1].x) < 1e-3)
    let pole = track([(90, 0), (89.999, 90), (89.999, -90)])
    for point in pole.points.map({ TangentPlane(pole).point($0.coordinate) }) {
      #expect(abs(point.y) < 60 && abs(point.x) < 200)
    }
  }
}

extension String {
  /// This string without leading and trailing spaces.
  fileprivate var trimming: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension JSONValue {
  /// The members of an object by name.
  fileprivate var object: [String: JSONValue] {
    Dictionary((members ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
