import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// A collector that receives sentences, each at its own time.
private struct Sky {
  var collector = SatelliteCollector()
  private var decoder = GNSSDecoder()
  private(set) var now = Instant.boot + .seconds(100)

  /// Sends sentences, 10 ms apart.
  mutating func send(_ sentences: String...) {
    for text in sentences {
      now = now + .milliseconds(10)
      let data = sentence(text)
      var offset = 0
      while let message = decoder.next(data.span, &offset) {
        collector.collect(message, from: decoder, at: now)
      }
    }
  }

  mutating func wait(_ milliseconds: Int64) { now = now + .milliseconds(milliseconds) }

  var view: SatelliteView? { collector.view(at: now) }
  /// NMEA numbers of the satellites in view, and of those used.
  var numbers: [UInt16] { view?.satellites.map { $0.nmeaNumber ?? 0 } ?? [] }
  var used: [UInt16] { view?.satellites.filter(\.isUsed).map { $0.nmeaNumber ?? 0 } ?? [] }
}

// Sentences of a u-blox M8 with NMEA 4.0, and of an M9 with NMEA 4.11 (gpsd's regression tests).
private let rmc = "GNRMC,233205.00,A,4404.14059,N,12118.85834,W,0.015,,130918,,,A"

@Suite("Satellites of NMEA sentences") struct SatelliteCollectorTests {
  @Test("a view is published when as many groups are complete as in the cycle before")
  func cycle() throws {
    var sky = Sky()
    sky.send(rmc, "GNGSA,A,3,03,05,,,,,,,,,,,1.8,1.0,1.5", "GNGSA,A,3,69,,,,,,,,,,,,1.8,1.0,1.5")
    sky.send("GPGSV,2,1,05,03,35,178,45,07,36,250,44,22,17,170,,05,62,310,44")
    sky.send("GPGSV,2,2,05,46,38,196,48", "GLGSV,1,1,02,69,10,015,28,70,32,068,44")
    // The number of groups is not known yet.
    #expect(sky.view == nil)
    sky.wait(600)
    #expect(sky.numbers == [3, 7, 22, 5, 46, 69, 70])
    sky.send(rmc, "GNGSA,A,3,03,07,,,,,,,,,,,1.7,0.9,1.5", "GNGSA,A,3,70,,,,,,,,,,,,1.7,0.9,1.5")
    sky.send("GPGSV,1,1,03,03,35,178,45,07,36,250,44,22,17,170,20")
    // Still the view of the previous cycle.
    #expect(sky.numbers == [3, 7, 22, 5, 46, 69, 70])
    sky.send("GLGSV,1,1,01,70,32,068,43")
    let view = try #require(sky.view)
    #expect(sky.numbers == [3, 7, 22, 70])
    #expect(sky.used == [3, 7, 70])
    #expect(view.time == sky.now)
    #expect(view.dilutions.position_e2 == 170 && view.dilutions.horizontal_e2 == 90)
    #expect(view.dilutions.vertical_e2 == 150 && view.dilutions.time_e2 == nil)
    #expect(view[2] == Satellite(.gps, 22, elevation_deg: 17, azimuth_deg: 170, signal_dBHz: 20))
    #expect(view[3].constellation == .glonass && view[3].number == 6)
  }

  @Test("signals of NMEA 4.11 are merged: the strongest one counts, each group once")
  func signals() {
    var sky = Sky()
    for _ in 0..<2 {
      sky.send("GNGSA,A,3,03,,,,,,,,,,,,1.8,1.0,1.5,1", "GNGSA,A,3,09,,,,,,,,,,,,1.8,1.0,1.5,3")
      sky.send("GPGSV,1,1,02,03,35,178,45,07,36,250,22,1", "GPGSV,1,1,01,07,36,250,38,6")
      sky.send("GAGSV,1,1,02,09,62,310,,26,50,080,31,2", "GAGSV,1,1,01,09,62,310,41,7", rmc)
    }
    #expect(sky.numbers == [3, 7, 309, 326])
    #expect(sky.used == [3, 309])
    #expect(sky.view?.satellites.map(\.signal_dBHz) == [45, 38, 41, 31])
  }

  @Test("missing fields are nil; a satellite without a number and a signal of 0 are none")
  func missing() throws {
    var sky = Sky()
    sky.send("GPGSV,1,1,04,03,,,45,07,36,,,,17,170,20,05,62,360,00")
    sky.wait(600)
    let view = try #require(sky.view)
    #expect(
      view.satellites == [
        Satellite(.gps, 3, signal_dBHz: 45), Satellite(.gps, 7, elevation_deg: 36),
        Satellite(.gps, 5, elevation_deg: 62, azimuth_deg: 0),
      ])
    sky.send("GPGSV,,,,08,10,010,30")
    sky.wait(600)
    #expect(sky.numbers.contains(8))
  }

  @Test("an empty group is a cycle of its own: no satellite is in view")
  func empty() {
    var sky = Sky()
    sky.send("GPGSV,1,1,00", rmc)
    sky.wait(990)
    #expect(sky.view?.count == 0)
    sky.send("GPGSV,1,1,01,03,35,178,45", rmc)
    #expect(sky.numbers == [3])
  }

  @Test("a lost page or group loses its satellites, and the next cycle is whole again")
  func lost() {
    var sky = Sky()
    let first = "GPGSV,2,1,05,03,35,178,45,07,36,250,44,22,17,170,42,09,62,310,44"
    let second = "GPGSV,2,2,05,46,38,196,48"
    let glonass = "GLGSV,1,1,01,70,32,068,43"
    for _ in 0..<2 { sky.send(first, second, glonass, rmc) }
    #expect(sky.numbers == [3, 7, 22, 9, 46, 70])
    sky.send(first, glonass, rmc)
    sky.wait(900)
    #expect(sky.numbers == [3, 7, 22, 9, 70])
    sky.send(second, glonass, rmc)
    #expect(sky.numbers == [46, 70])
    sky.send(first, second, rmc)
    sky.wait(900)
    #expect(sky.numbers == [3, 7, 22, 9, 46])
    for _ in 0..<2 { sky.send(first, second, glonass, rmc) }
    #expect(sky.numbers == [3, 7, 22, 9, 46, 70])
  }

  @Test("a system that appears is in the first view after it, one that disappears leaves it")
  func systems() {
    var sky = Sky()
    let gps = "GPGSV,1,1,01,03,35,178,45"
    let beidou = "BDGSV,1,1,01,11,32,068,43"
    for _ in 0..<3 { sky.send(gps, rmc) }
    sky.send(gps, beidou, rmc)
    #expect(sky.numbers == [3, 411])
    sky.send(gps, beidou, rmc)
    sky.send(gps, rmc)
    #expect(sky.numbers == [3, 411])
    sky.wait(600)
    #expect(sky.numbers == [3])
    sky.send(gps, rmc)
    #expect(sky.numbers == [3])
  }

  @Test("satellites used apply in any order of GSA and GSV, also with GSV in every fifth epoch")
  func orders() {
    let gsa = "GNGSA,A,3,03,,,,,,,,,,,,1.8,1.0,1.5,1"
    let other = "GNGSA,A,3,07,,,,,,,,,,,,1.2,0.8,0.9,1"
    let gsv = "GPGSV,1,1,02,03,35,178,45,07,36,250,22"
    for sentences in [[rmc, gsa, gsv], [gsv, gsa, rmc], [gsa, rmc, gsv], [gsv, rmc, gsa]] {
      var sky = Sky()
      for _ in 0..<3 {
        for text in sentences { sky.send(text) }
        sky.wait(900)
      }
      sky.send(rmc)
      #expect(sky.used == [3], "\(sentences)")
      #expect(sky.view?.dilutions.position_e2 == 180)
    }
    var sky = Sky()
    for _ in 0..<3 { sky.send(rmc, gsa, gsv) }
    for _ in 0..<4 {
      sky.wait(900)
      sky.send(rmc, other)
    }
    sky.send(rmc)
    #expect(sky.numbers == [3, 7])
    // They are not those of the view any more.
    #expect(sky.used == [3])
    sky.send(other, gsv, rmc)
    #expect(sky.used == [7])
  }

  @Test("without a fix no satellite is used")
  func noFix() {
    var sky = Sky()
    for _ in 0..<2 {
      sky.send("GNGSA,A,1,03,,,,,,,,,,,,99.9,99.9,99.9", "GPGSV,1,1,01,03,35,178,45", rmc)
    }
    #expect(sky.numbers == [3] && sky.used.isEmpty)
    #expect(sky.view?.dilutions == DilutionsOfPrecision())
  }

  @Test("more groups and satellites than there is space for are left out")
  func bounds() {
    var sky = Sky()
    for _ in 0..<3 {
      for signal in 0..<16 {
        let digit = String(signal, radix: 16, uppercase: true)
        sky.send(
          "GBGSV,1,1,04,\(signal * 4 + 1),10,010,30,\(signal * 4 + 2),10,010,30,"
            + "\(signal * 4 + 3),10,010,30,\(signal * 4 + 4),10,010,30,\(digit)")
      }
      for talker in ["GP", "GL", "GA"] {
        sky.send("\(talker)GSV,1,1,02,1,35,178,45,2,35,178,45")
      }
      sky.send(rmc)
      sky.wait(900)
    }
    #expect(sky.view?.count == SatelliteView.capacity)
  }

  @Test("nothing of the past is left after a restart of the collection")
  func removal() {
    var sky = Sky()
    for _ in 0..<2 { sky.send("GPGSV,1,1,01,03,35,178,45", rmc) }
    sky.collector.removeAll()
    sky.wait(1_000)
    #expect(sky.view == nil)
  }
}

@Suite("Satellite numbers of sentences") struct SatelliteNumberTests {
  @Test(
    "the system of the sentence decides where numbers overlap",
    arguments: [
      (1, nil, .gps, 1), (32, .gps, .gps, 32), (33, .gps, .sbas, 120), (64, nil, .sbas, 151),
      (46, .glonass, .sbas, 133), (65, nil, .glonass, 1), (96, .glonass, .glonass, 32),
      (1, .glonass, .glonass, 1), (5, .galileo, .galileo, 5), (305, .galileo, .galileo, 5),
      (336, nil, .galileo, 36), (101, .galileo, .galileo, 1), (36, .galileo, .galileo, 36),
      (40, .beidou, .beidou, 40), (401, nil, .beidou, 1), (201, .beidou, .beidou, 1),
      (263, .beidou, .beidou, 63), (203, nil, .beidou, 3), (1, .qzss, .qzss, 1),
      (193, nil, .qzss, 1), (202, .gps, .qzss, 10), (120, nil, .sbas, 120),
      (158, .gps, .sbas, 158), (173, nil, .imes, 1), (14, .navic, .navic, 14),
    ] as [(UInt16, Constellation?, Constellation, UInt8)])
  func defined(
    _ number: UInt16, _ system: Constellation?, _ expected: Constellation, _ vehicle: UInt8
  ) {
    let satellite = Satellite(nmeaNumber: number, of: system)
    #expect(satellite == Satellite(expected, vehicle))
  }

  @Test(
    "undefined numbers are no satellite",
    arguments: [
      (0, nil), (97, nil), (119, nil), (159, nil), (172, nil), (183, .gps), (192, nil),
      (264, .beidou), (300, nil), (337, .galileo), (400, nil), (464, .beidou), (15, .navic),
      (11, .qzss), (65_535, nil),
    ] as [(UInt16, Constellation?)])
  func undefined(_ number: UInt16, _ system: Constellation?) {
    #expect(Satellite(nmeaNumber: number, of: system) == nil)
  }

  @Test("every number is handled, and what has an NMEA number keeps it")
  func everyNumber() {
    let systems: [Constellation?] = [nil, .gps, .glonass, .galileo, .beidou, .qzss, .navic, .sbas]
    for number: UInt16 in 0...1_000 {
      for system in systems {
        guard let satellite = Satellite(nmeaNumber: number, of: system) else { continue }
        guard let extended = satellite.nmeaNumber else {
          #expect(satellite.constellation == .navic)
          continue
        }
        #expect(Satellite(nmeaNumber: extended, of: nil) == satellite)
      }
    }
  }
}
