import CCore
import LocationTypes

/// Interpolates a track at ascending times in O(1) per step; a step back or a jump costs a binary search.
///
/// Positions between two points are interpolated linearly in latitude and longitude, across the antimeridian by the
/// shorter side.
public struct TrackReader: Sendable {
  /// The track.
  public let track: Track
  private var segment = -1
  // The segment from points[segment] to the next one:
  private var segmentStart: Int64 = 0
  private var segmentLength: Int64 = 1
  private var deltaLatitude: Int64 = 0
  private var deltaLongitude: Int64 = 0
  private var meanSpeed = 0.0
  private var east = 0.0
  private var north = 1.0
  private var climb = 0.0
  private var isGap = false

  /// Creates a reader at the start of `track`.
  public init(_ track: Track) { self.track = track }

  /// Returns the state at `time`. Before the first point and after the last one, the device stands at that point.
  public mutating func state(at time: UTCTime) -> TrackState {
    let offset = (time - track.start).microseconds
    let points = track.points
    let last = points.count - 1
    if offset >= points[last].offset.microseconds {
      seek(to: max(last - 1, 0))
      return stationaryState(at: points[last], isGap: offset > points[last].offset.microseconds)
    }
    if offset < points[0].offset.microseconds {
      return stationaryState(at: points[0], isGap: true)
    }
    if segment < 0 || offset < segmentStart || offset >= segmentStart + segmentLength {
      seek(to: segmentIndex(of: offset))
    }
    return interpolatedState(fraction: Double(offset - segmentStart) / Double(segmentLength))
  }

  private func stationaryState(at point: TrackPoint, isGap: Bool) -> TrackState {
    TrackState(
      coordinate: point.coordinate, altitude_mm: point.altitude_mm, speed: 0, east: east,
      north: north, climb: 0, isGap: isGap)
  }

  private func interpolatedState(fraction: Double) -> TrackState {
    let a = track.points[segment]
    let b = track.points[segment + 1]
    var longitude =
      a.coordinate.longitude_e9 + Int64((Double(deltaLongitude) * fraction).rounded())
    if longitude > 180_000_000_000 { longitude -= 360_000_000_000 }
    if longitude < -180_000_000_000 { longitude += 360_000_000_000 }
    let latitude = a.coordinate.latitude_e9 + Int64((Double(deltaLatitude) * fraction).rounded())
    return TrackState(
      coordinate: Coordinate(latitude_e9: latitude, longitude_e9: longitude),
      altitude_mm: TrackReader.interpolate(a.altitude_mm, b.altitude_mm, fraction),
      speed: TrackReader.interpolate(a.speed_mmps, b.speed_mmps, fraction).map { Double($0) / 1e3 }
        ?? meanSpeed,
      east: east, north: north, climb: climb, isGap: isGap && fraction > 0)
  }

  /// Interpolates between two values if both are known; otherwise returns the known one.
  private static func interpolate(_ a: Int32?, _ b: Int32?, _ fraction: Double) -> Int32? {
    guard let a else { return b }
    guard let b else { return a }
    return Int32((Double(a) + Double(Int64(b) - Int64(a)) * fraction).rounded())
  }

  /// Returns the segment that contains `offset`; tries the next segment before a binary search.
  private func segmentIndex(of offset: Int64) -> Int {
    let points = track.points
    let next = segment + 1
    if next + 1 < points.count, points[next].offset.microseconds <= offset,
      offset < points[next + 1].offset.microseconds
    {
      return next
    }
    var low = 0
    var high = points.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if points[middle].offset.microseconds <= offset { low = middle } else { high = middle }
    }
    return low
  }

  private mutating func seek(to index: Int) {
    guard index != segment, index + 1 < track.points.count else { return }
    segment = index
    let a = track.points[index]
    let b = track.points[index + 1]
    segmentStart = a.offset.microseconds
    segmentLength = b.offset.microseconds - segmentStart
    deltaLatitude = b.coordinate.latitude_e9 - a.coordinate.latitude_e9
    deltaLongitude = b.coordinate.longitude_e9 - a.coordinate.longitude_e9
    if deltaLongitude > 180_000_000_000 { deltaLongitude -= 360_000_000_000 }
    if deltaLongitude < -180_000_000_000 { deltaLongitude += 360_000_000_000 }
    isGap = segmentLength > track.gapLimit.microseconds
    let seconds = Double(segmentLength) / 1e6
    let step = a.coordinate.localOffset(to: b.coordinate)
    let distance = sqrt(step.east * step.east + step.north * step.north)
    meanSpeed = distance / seconds
    if let low = a.altitude_mm, let high = b.altitude_mm {
      climb = Double(Int64(high) - Int64(low)) / 1e3 / seconds
    } else {
      climb = 0
    }
    // A step of up to 2 cm may be rounding of the recording, so it gives no course: the last course applies.
    if distance > 0.02 {
      east = step.east / distance
      north = step.north / distance
    }
  }
}
