import GPXFiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import torpor

@Suite("Reading track files", .tags(.process))
struct TrackFileTests {
  static let drive = EndToEndTests.drive

  func write(_ text: String, _ name: String = "track.gpx") -> String {
    let path = "\(Command.directory())/\(name)"
    Command.write(Array(text.utf8), to: path)
    return path
  }

  /// A GPX file of points; a point without a second has no <time>.
  func gpx(_ points: [(second: Int?, parts: String)]) -> String {
    let body = points.enumerated().map { index, point in
      let time = point.second.map { "<time>2020-04-01T12:00:0\($0)Z</time>" } ?? ""
      return "<trkpt lat=\"47.\(index)\" lon=\"8\">\(point.parts)\(time)</trkpt>\n"
    }
    return "<gpx xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n" + body.joined()
      + "</trkseg></trk></gpx>"
  }

  /// The error message for an invalid file; empty if the file is valid.
  func refusal(_ text: String, longest: Interval? = nil) -> String {
    do {
      _ = try TrackFile.read(write(text), longest: longest)
      return ""
    } catch { return (error as? CommandError)?.message ?? "\(error)" }
  }

  @Test("a recording decoded as gpx and as csv gives the same track, for any file name")
  func sameTrack() throws {
    let folder = Command.directory()
    for format in ["gpx", "csv"] {
      let result = Command.run(
        ["decode", "--format", format, "-o", "\(folder)/\(format).track", "-"], input: Self.drive)
      #expect(result.status == 0)
    }
    let gpx = try TrackFile.read("\(folder)/gpx.track", longest: nil)
    #expect(gpx.points.count == 10 && gpx.points.allSatisfy { $0.speed_mmps != nil })
    #expect(try TrackFile.read("\(folder)/csv.track", longest: nil) == gpx)
    let run = Command.run(["simulate", "--track", "\(folder)/gpx.track", "--json", "-q"])
    #expect(run.status == 0 && run.output.contains(#""kind":"summary""#))
    let table = Command.run(["simulate", "--track", "\(folder)/csv.track", "--json", "-q"])
    #expect(run.output == table.output)
  }

  @Test("points without a time, and later points with the same time, are skipped")
  func skippedPoints() throws {
    let path = write(
      gpx([(nil, ""), (1, "<ele>5</ele>"), (1, "<ele>6</ele>"), (nil, ""), (4, "")]))
    let track = try TrackFile.read(path, longest: nil)
    #expect(track.points.map(\.offset) == [.zero, .seconds(3)])
    #expect(track.points.map(\.altitude_mm) == [5_000, nil])
    #expect(track.points.map(\.coordinate.latitude_e9) == [47_100_000_000, 47_400_000_000])
  }

  @Test("a file that is not a track is reported with its position and a suggestion")
  func refusals() {
    #expect(refusal(gpx([(nil, ""), (nil, "")])).contains("track.gpx:2:1: no point has a <time>"))
    #expect(refusal(gpx([(nil, "")])).contains("gpsbabel -t -i gpx -f FILE -x track,faketime="))
    #expect(
      refusal(gpx([(2, ""), (1, "")])).contains("track.gpx:3:1: this point is earlier than"))
    #expect(refusal(gpx([(1, "<ele>x</ele>")])).contains("track.gpx:2:27: ele must be a decimal"))
    #expect(refusal("<kml/>").contains("track.gpx:1:1: this is <kml> and not <gpx>"))
    #expect(
      refusal("<gpx><rte/><wpt/><wpt/></gpx>").contains("no track, but 1 route and 2 waypoints"))
    #expect(refusal("<gpx><rte/></gpx>").contains("gpsbabel -r -i gpx"))
    #expect(!refusal("<gpx><wpt/></gpx>").contains("gpsbabel"))
    #expect(refusal("<gpx><trk/></gpx>").contains("has a track without points, and no other"))
    #expect(refusal("<gpx><trk/><trk/></gpx>").contains("has tracks without points"))
    #expect(refusal("<gpx/>").contains("no track, and no other content"))
    #expect(refusal("<gpx>").contains("track.gpx:1:6: the file ends here"))
    #expect(refusal("lat,lon\n").contains("or use GPX"))
    #expect(refusal("").contains("expected a track: GPX, or a table"))
    let long = refusal(gpx([(1, ""), (9, "")]), longest: .seconds(7))
    #expect(long.contains("its points span 8 s, more than 7 s; split it or give --hours"))
    #expect(refusal(gpx([(1, ""), (9, "")]), longest: .seconds(8)).isEmpty)
  }
}
