import GNSSProtocols
import Glibc
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import torpor

@Suite("Output files and standard output", .tags(.process))
struct OutputTests {
  static let drive = EndToEndTests.drive

  @Test("when standard output is closed, a run continues and its files are complete")
  func closedOutput() {
    let folder = Command.directory()
    func run(_ name: String, closesOutput: Bool) -> Command.Result {
      Command.run(
        [
          "simulate", "--scenario", "walk", "--hours", "0.5", "--json", "--trace",
          "\(folder)/\(name).jsonl", "--bytes", "\(folder)/\(name).bytes",
        ], closesOutput: closesOutput)
    }
    let alone = run("alone", closesOutput: true)
    #expect(alone.status == 0 && alone.errors.isEmpty)
    #expect(run("read", closesOutput: false).status == 0)
    for kind in ["jsonl", "bytes"] {
      let complete = Command.read("\(folder)/read.\(kind)")
      #expect(complete?.isEmpty == false)
      #expect(Command.read("\(folder)/alone.\(kind)") == complete)
    }
  }

  @Test("two outputs to one file, or an output that is also an input, are rejected")
  func sameFile() {
    let folder = Command.directory()
    let recording = "\(folder)/drive.nmea"
    let board = "\(folder)/mine.toml"
    Command.write(Self.drive, to: recording)
    Command.write(Array(Command.run(["board", "show"]).output.utf8), to: board)
    unsafe symlink(recording, "\(folder)/link")
    let simulate = ["simulate", "--hours", "0.01"]
    for arguments in [
      simulate + ["--trace", "\(folder)/q", "--bytes", "\(folder)/./q"],
      simulate + ["--board", board, "--trace", board],
      simulate + ["--track", recording, "--bytes", recording],
      ["replay", "--trace", "\(folder)/link", recording],
      ["decode", "-o", recording, "\(folder)/link"],
    ] {
      let result = Command.run(arguments)
      #expect(result.status == 64 && result.output.isEmpty, "\(arguments)")
      #expect(result.errors.contains("is the same file as"), "\(arguments)")
    }
    #expect(Command.read(recording) == String(decoding: Self.drive, as: UTF8.self))
    #expect(TestFolder.names(in: folder) == ["drive.nmea", "link", "mine.toml"])
    // A device accepts several outputs.
    let none = Command.run(simulate + ["-q", "--trace", "/dev/null", "--bytes", "/dev/null"])
    #expect(none.status == 0)
  }

  @Test("a stale temporary file of a process with the same ID does not interfere")
  func staleFile() {
    let folder = Command.directory()
    Command.write([1], to: "\(folder)/.a.torpor-\(getpid())")
    var file = PendingFile(for: "\(folder)/a")
    let descriptor = file.open()
    #expect(descriptor >= 0)
    close(descriptor)
    #expect(file.replaceTarget())
    #expect(TestFolder.names(in: folder) == [".a.torpor-\(getpid())", "a"])
  }

  @Test("progress is shown on a terminal, unless records are printed to one")
  func progress() {
    #expect(Progress(recordsOnTerminal: false, errorsOnTerminal: true).isShown)
    #expect(!Progress(recordsOnTerminal: true, errorsOnTerminal: true).isShown)
    #expect(!Progress(recordsOnTerminal: false, errorsOnTerminal: false).isShown)
  }

  @Test("decode --json is --format jsonl")
  func json() {
    let json = Command.run(["decode", "--json", "-"], input: Self.drive)
    let named = Command.run(["decode", "--format", "jsonl", "-"], input: Self.drive)
    #expect(json.status == 0 && !json.output.isEmpty && json.output == named.output)
    #expect(Command.run(["decode", "--json", "--format", "csv", "-"]).status == 64)
  }

  @Test("a decoded table can be used as a track with the same points")
  func roundTrip() throws {
    let folder = Command.directory()
    let lost = RecordingDecoderTests.sentence("GPRMC,120010.00,V,,,,,,,010420,,,N")
    let drive = Self.drive + Array(lost.utf8)
    let path = "\(folder)/drive.csv"
    let decoded = Command.run(["decode", "--format", "csv", "-o", path, "-"], input: drive)
    #expect(decoded.status == 0)
    let table = try #require(Command.read(path))
    #expect(table.split(separator: "\n").count == 12)
    var epochs: [Epoch] = []
    var recording = RecordingDecoder(dateGiven: nil)
    recording.decode(drive) { epochs.append($0) }
    recording.finish { epochs.append($0) }
    let fixes = epochs.compactMap(\.fix)
    let track = try Track(csv: table)
    #expect(track.points.map(\.coordinate) == fixes.map(\.coordinate))
    #expect(track.points.map(\.speed_mmps) == fixes.map { $0.speed_mmps.map { Int32($0) } })
    #expect(track.points.map { track.start + $0.offset } == fixes.compactMap(\.utc))
    let run = Command.run(["simulate", "--track", path, "--noise", "none", "--json"])
    #expect(run.status == 0 && run.output.contains(#""kind":"summary""#))
  }

  @Test("input without an epoch gives an empty document and a message with the reason")
  func noEpoch() {
    let bytes = Array("$GPGSV,1,1,00*79\r\n".utf8)
    let gpx = Command.run(["decode", "--format", "gpx", "-"], input: bytes)
    #expect(gpx.status == 0 && gpx.output.hasSuffix(" <trk>\n </trk>\n</gpx>\n"))
    #expect(gpx.errors.contains("there is no epoch") && gpx.errors.contains("1 NMEA sentence"))
    let csv = Command.run(["decode", "--format", "csv", "-"], input: bytes)
    #expect(csv.status == 0 && csv.output.hasPrefix("unix_time,lat,lon"))
  }

  @Test("decode -o - is standard output")
  func standardOutput() {
    let named = Command.run(["decode", "-o", "-", "-"], input: Self.drive)
    #expect(named.status == 0)
    #expect(named.output == Command.run(["decode", "-"], input: Self.drive).output)
    let empty = Command.run(["decode", "-o", "", "-"], input: Self.drive)
    #expect(empty.status == 73 && empty.errors.contains("the name is empty"))
  }

  @Test("--quiet --json prints the summary alone, and the trace has everything")
  func quietJSON() {
    let folder = Command.directory()
    let quiet = Command.run(
      ["replay", "-q", "--json", "--trace", "\(folder)/t", "-"], input: Self.drive)
    let all = Command.run(["replay", "--json", "-"], input: Self.drive)
    let lines = all.output.split(separator: "\n")
    #expect(quiet.status == 0 && lines.count > 10)
    #expect(quiet.output == lines.suffix(1).joined() + "\n")
    #expect(
      Command.read("\(folder)/t") == lines.dropLast().map { $0 + "\n" }.joined())
  }

  @Test("a track of more than 31 days needs --hours")
  func longTrack() {
    let folder = Command.directory()
    let path = "\(folder)/long.csv"
    Command.write(
      Array("unix_time,lat,lon,alt,speed\n0,1,2,,\n1,1,2,,\n3000000,1,2,,\n".utf8), to: path)
    let result = Command.run(["simulate", "--track", path, "--trace", "\(folder)/t"])
    #expect(result.status == 65 && result.output.isEmpty)
    #expect(result.errors.contains("line 4: the largest step"))
    #expect(result.errors.contains("split it or give --hours"))
    #expect(TestFolder.names(in: folder) == ["long.csv"])
    #expect(Command.run(["simulate", "--track", path, "--hours", "0.01"]).status == 0)
  }
}
