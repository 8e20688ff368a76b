import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

// Properties of the files that users edit or record: board profiles, tracks in CSV, recordings.

/// Any bytes are a profile that parses to the same value when written again, or give errors with valid locations.
enum ProfileProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    do throws(ProfileErrors) {
      let profile = try BoardProfile.parse(bytes: input, file: "p.toml")
      trial.countDecoded(profile.settings.count)
      do throws(ProfileErrors) {
        let again = try BoardProfile.parse(profile.text, file: "p.toml")
        trial.require(again == profile, "the written profile parses differently: \(profile.text)")
      } catch {
        trial.require(false, "the written profile is rejected: \(error)")
      }
    } catch {
      expectLocations(error, input, &trial)
    }
  }

  private static func expectLocations(
    _ errors: ProfileErrors, _ input: [UInt8], _ trial: inout PropertyResult
  ) {
    let lines = input.count { $0 == UInt8(ascii: "\n") } + 1
    let count = errors.problems.count
    trial.require(count >= 1 && count <= ProfileErrors.maxListed, "\(count) problems")
    for problem in errors.problems {
      let exists = problem.line >= 1 && problem.line <= lines && problem.column >= 1
      trial.require(exists, "the location does not exist: \(problem)")
      let isPrintable = problem.description.unicodeScalars.allSatisfy {
        $0.properties.generalCategory != .control
      }
      trial.require(isPrintable, "a control character in the text of \(problem)")
      // An error with a key has passed the TOML grammar.
      if !problem.key.isEmpty { trial.countDecoded() }
    }
  }
}

/// Any bytes are a track with a valid state at every time, or give an error with a valid line number.
enum TrackProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    let lines = input.count { $0 == UInt8(ascii: "\n") } + 1
    do throws(TrackError) {
      let track = try Track(csv: input, maximumDuration: .seconds(1_000_000))
      trial.countDecoded(track.points.count)
      trial.require(track.duration <= .seconds(1_000_000), "longer than allowed")
      trial.require(track.length_m.isFinite && track.length_m >= 0, "\(track.length_m) m long")
      sample(track, &trial)
    } catch {
      trial.require(error.line >= 1 && error.line <= lines, "the line does not exist: \(error)")
    }
  }

  private static func sample(_ track: Track, _ trial: inout PropertyResult) {
    var times = [track.firstTime - .seconds(1), track.lastTime + .seconds(1)]
    for (a, b) in zip(track.points, track.points.dropFirst()).prefix(64) {
      let length = (b.offset - a.offset).microseconds
      for part in [0, length / 3, length - 1] {
        times.append(track.start + a.offset + Interval(microseconds: part))
      }
    }
    var reader = TrackReader(track)
    // Forward, then backward: the reader finds the segment in both directions.
    for time in times + times.reversed() {
      let state = reader.state(at: time)
      trial.require(state.coordinate.isValid, "an invalid coordinate at \(time)")
      trial.require(state.speed.isFinite && state.speed >= 0, "\(state.speed) m/s")
      trial.require(state.climb.isFinite, "a climb rate of \(state.climb) m/s")
      let unit = state.east * state.east + state.north * state.north
      trial.require(abs(unit - 1) < 1e-6, "a course vector with the squared length \(unit)")
    }
  }
}

/// Chunk boundaries do not change which bytes of a recording are the receiver's, and playback sends each byte once.
///
/// Input: one byte of chunk lengths; one byte of line speed in kilobaud; then the recording.
enum RecordingProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let chunks = ChunkLengths(reader.byte())
    let speed = UInt32(reader.byte()) * 1_000 + 1
    let bytes = reader.remainingBytes()
    let whole = filtered(bytes, nil)
    let parts = filtered(bytes, chunks)
    trial.require(whole.bytes == parts.bytes, "chunk boundaries change the bytes")
    trial.require(whole.dates == parts.dates, "chunk boundaries change the dates")
    let scan = RecordingScan(bytes, date: nil, interval: .seconds(1), lineSpeed: speed)
    trial.require(scan.recording.bytes == whole.bytes, "not the receiver's bytes")
    trial.require(scan.date == whole.dates.first, "the date differs from that of the header")
    let played = scan.recording.chunks.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
    var end = 0
    for range in played {
      trial.require(range.lowerBound == end, "a gap or an overlap at \(end)")
      end = range.upperBound
    }
    trial.require(end == whole.bytes.count, "playback omits bytes at the end")
    trial.require(
      scan.recording.chunks.allSatisfy { $0.time >= .boot && $0.time <= scan.end },
      "a chunk is played before the start or after the end of the recording")
    trial.countDecoded(scan.epochs + whole.dates.count)
  }

  private static func filtered(
    _ bytes: [UInt8], _ chunks: ChunkLengths?
  ) -> (bytes: [UInt8], dates: [CalendarDate]) {
    var filter = RecordingFilter()
    var result: (bytes: [UInt8], dates: [CalendarDate]) = ([], [])
    for range in chunkRanges(bytes.count, chunks) {
      let chunk = bytes.span.extracting(range)
      var offset = 0
      while let piece = filter.next(chunk, &offset) {
        switch piece {
        case .bytes(let range): for i in range { result.bytes.append(chunk[i]) }
        case .date(let date): result.dates.append(date)
        case .invalidDate: break
        }
      }
    }
    return result
  }
}
