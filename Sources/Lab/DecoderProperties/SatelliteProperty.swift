import GNSSProtocols
import LocationTypes

/// Any messages give views of valid, distinct satellites; the receiver's own report of a view gives it back.
enum SatelliteProperty {
  /// Collects the satellites of a stream, in views in their order.
  struct Collection {
    private var collector = SatelliteCollector()
    private var now = Instant.boot
    private(set) var views: [SatelliteView] = []

    mutating func add(_ message: GNSSMessage, from decoder: GNSSDecoder, after step: Interval) {
      now = now + step
      collector.collect(message, from: decoder, at: now)
      if let view = collector.view(at: now), view != views.last { views.append(view) }
    }
  }

  static func check(_ views: [SatelliteView], _ trial: inout PropertyResult) {
    for view in views {
      check(view, &trial)
      checkRepeated(view, &trial)
    }
  }

  private static func check(_ view: SatelliteView, _ trial: inout PropertyResult) {
    trial.require(view.usedCount <= view.count, "more satellites used than in view")
    for i in 0..<view.count {
      let satellite = view[i]
      trial.require(satellite.number > 0, "a satellite without a number")
      trial.require(satellite.azimuth_deg ?? 0 < 360, "an azimuth of 360° or more")
      trial.require((-90...90).contains(satellite.elevation_deg ?? 0), "an invalid elevation")
      trial.require(satellite.signal_dBHz != 0, "a signal of 0 dB-Hz")
      trial.require(
        !(0..<i).contains { view[$0].isSame(as: satellite) }, "a satellite is contained twice")
    }
  }

  /// Checks that a NAV-SAT with the view's satellites gives the same view.
  private static func checkRepeated(_ view: SatelliteView, _ trial: inout PropertyResult) {
    var buffer = FrameBuffer()
    buffer.appendNavSAT(view, timeOfWeek_ms: 1)
    var decoder = GNSSDecoder()
    var collection = Collection()
    var offset = 0
    while let message = decoder.next(buffer.span, &offset) {
      collection.add(message, from: decoder, after: .zero)
    }
    guard let copy = collection.views.last, copy.count == view.count else {
      return trial.require(false, "NAV-SAT loses satellites")
    }
    for i in 0..<view.count {
      var satellite = view[i]
      // NAV-SAT has no azimuth without elevation, and no elevation without azimuth.
      if satellite.elevation_deg == nil { satellite.azimuth_deg = nil }
      if satellite.elevation_deg != nil { satellite.azimuth_deg = satellite.azimuth_deg ?? 0 }
      trial.require(copy[i] == satellite, "NAV-SAT changes \(satellite)")
    }
  }
}
