import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// A NAV-SAT of a u-blox 8 with 24 satellites of GPS, SBAS and GLONASS.
let navSAT24 = bytes(
  hex: """
    B5 62 01 35 28 01 30 4C C7 1B 01 18 00 00 00 02 2D 26 45 00 DD FF 5F 19 00 00 00 06 26 09 1E 00 00 00 57 19 00 00
    00 0C 2A 23 5C 00 FE FF 5F 19 00 00 00 0E 1F 1B 04 01 32 00 5F 19 00 00 00 18 28 06 99 00 67 FF 57 19 00 00
    00 19 33 4A 4C 00 1E 00 5F 19 00 00 00 1A 00 06 1B 01 00 00 11 12 00 00 00 1D 31 44 D7 00 22 00 5F 19 00 00
    00 1F 1C 2D 2D 01 3C 00 5F 19 00 00 00 20 2C 11 F0 00 FF FF 5F 19 00 00 01 78 28 1C D2 00 00 00 17 19 00 00
    01 7B 2D 1D 97 00 00 00 17 19 00 00 01 7F 00 12 7E 00 00 00 00 12 00 00 01 80 00 01 66 00 00 00 00 12 00 00
    01 88 2D 21 B9 00 00 00 27 07 00 00 06 06 00 04 26 01 00 00 11 12 00 00 06 07 13 0C 55 01 8E 00 13 19 00 00
    06 08 1A 03 1B 00 00 00 14 12 00 00 06 0E 00 27 81 00 00 00 20 12 00 00 06 0F 2A 50 67 00 FD FF 1F 19 00 00
    06 10 00 21 3D 01 00 00 11 12 00 00 06 11 2D 4D 9E 00 DE FF 1F 19 00 00 06 12 2C 1C CC 00 0D 00 1F 19 00 00
    06 18 28 29 27 00 17 00 1F 19 00 00 B6 E7
    """)

/// The view that a collector has after a stream, in chunks of `size` bytes; one second later.
func satelliteView(of bytes: [UInt8], chunk size: Int = 0) -> SatelliteView? {
  var decoder = GNSSDecoder()
  var collector = SatelliteCollector()
  var i = 0
  while i < bytes.count {
    let end = size == 0 ? bytes.count : min(bytes.count, i + size)
    let part = Array(bytes[i..<end])
    var offset = 0
    while let message = decoder.next(part.span, &offset) {
      collector.collect(message, from: decoder, at: .boot)
    }
    i = end
  }
  return collector.view(at: .boot + .seconds(1))
}

extension SatelliteView {
  var satellites: [Satellite] { (0..<count).map { self[$0] } }
}

@Suite("NAV-SAT, NAV-SVINFO and NAV-DOP") struct NavSATTests {
  @Test("a real NAV-SAT is read in chunks of any size", arguments: [0, 1, 7, 64, 311])
  func real(_ size: Int) throws {
    let view = try #require(satelliteView(of: navSAT24, chunk: size))
    #expect(view.count == 24)
    #expect(
      view[0]
        == Satellite(
          .gps, 2, isUsed: true, elevation_deg: 38, azimuth_deg: 69, signal_dBHz: 45))
    // In view, not tracked.
    #expect(view[6] == Satellite(.gps, 26, elevation_deg: 6, azimuth_deg: 283))
    #expect(view[10] == Satellite(.sbas, 120, elevation_deg: 28, azimuth_deg: 210, signal_dBHz: 40))
    #expect(view[23].nmeaNumber == 88)
    #expect(view.satellites.filter { $0.constellation == .glonass }.count == 9)
    let used = view.satellites.filter(\.isUsed).compactMap(\.nmeaNumber)
    #expect(used == [2, 12, 14, 25, 29, 31, 32, 79, 81, 82, 88])
    #expect(view.usedCount == 11)
    #expect(view.dilutions == DilutionsOfPrecision())
  }

  @Test("a cut or changed frame yields no view, and the frame after it one")
  func damaged() {
    for length in 0..<navSAT24.count where length % 13 == 0 {
      #expect(satelliteView(of: Array(navSAT24.prefix(length))) == nil)
      #expect(satelliteView(of: Array(navSAT24.prefix(length)) + navSAT24)?.count ?? 24 == 24)
    }
    for bit in stride(from: 0, to: navSAT24.count * 8, by: 31) {
      var changed = navSAT24
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(satelliteView(of: changed) == nil, "bit \(bit)")
    }
  }

  @Test("entries of undefined systems and without a number are left out; no direction is nil")
  func undefined() throws {
    let payload: [UInt8] =
      [0, 0, 0, 0, 1, 4, 0, 0] + [9, 1, 40, 10, 0, 0, 0, 0, 8, 0, 0, 0]
      + [0, 0, 40, 10, 0, 0, 0, 0, 8, 0, 0, 0] + [6, 255, 40, 91, 10, 0, 0, 0, 0, 0, 0, 0]
      + [3, 11, 0, 0xD8, 0x68, 1, 0, 0, 0, 0, 0, 0]
    let view = try #require(satelliteView(of: ubx(0x01, 0x35, payload)))
    #expect(
      view.satellites == [
        Satellite(.glonass, 255, signal_dBHz: 40),
        Satellite(.beidou, 11, elevation_deg: -40, azimuth_deg: 0),
      ])
  }

  @Test("NAV-SVINFO of older receivers has one number for all systems")
  func channels() throws {
    let entries: [[UInt8]] = [
      1, 33, 64, 65, 96, 120, 158, 159, 163, 173, 182, 193, 202, 211, 246, 100,
    ]
    .map { [0, $0, $0 == 1 ? 1 : 0, 0, 30, 20, 0, 1, 0, 0, 0, 0] }
    let payload: [UInt8] = [0, 0, 0, 0, UInt8(entries.count), 0, 0, 0] + entries.flatMap { $0 }
    let view = try #require(satelliteView(of: ubx(0x01, 0x30, payload)))
    #expect(
      view[0]
        == Satellite(
          .gps, 1, isUsed: true, elevation_deg: 20, azimuth_deg: 256, signal_dBHz: 30))
    let expected: [(Constellation, UInt8)] = [
      (.gps, 1), (.beidou, 6), (.beidou, 37), (.glonass, 1), (.glonass, 32), (.sbas, 120),
      (.sbas, 158), (.beidou, 1), (.beidou, 5), (.imes, 1), (.imes, 10), (.qzss, 1), (.qzss, 10),
      (.galileo, 1), (.galileo, 36),
    ]
    #expect(view.count == expected.count)
    for (satellite, pair) in zip(view.satellites, expected) {
      #expect(satellite.constellation == pair.0 && satellite.number == pair.1)
    }
  }

  @Test("255 satellites fit the decoder; the view keeps 64, the used ones among them")
  func many() throws {
    var payload: [UInt8] = [0, 0, 0, 0, 1, 255, 0, 0]
    for i in 0..<255 {
      let isUsed = i >= 200
      payload += [UInt8(i / 60), UInt8(1 + i % 60), 30, 5, 0, 0, 0, 0, isUsed ? 8 : 0, 0, 0, 0]
    }
    let view = try #require(satelliteView(of: ubx(0x01, 0x35, payload)))
    #expect(view.count == SatelliteView.capacity)
    #expect(view.usedCount == 55)
  }

  @Test("NAV-DOP belongs to the NAV-SAT of its time, before or after it")
  func dilutions() throws {
    var dilutions = DilutionsOfPrecision()
    dilutions.east_e2 = 60
    dilutions.north_e2 = 98
    dilutions.geometric_e2 = 280
    dilutions.position_e2 = 242
    dilutions.horizontal_e2 = 115
    dilutions.vertical_e2 = 213
    dilutions.time_e2 = 140
    var sent = SatelliteView()
    sent.add(
      Satellite(.galileo, 8, isUsed: true, elevation_deg: -3, azimuth_deg: 359, signal_dBHz: 7))
    sent.add(Satellite(.qzss, 2))
    var dop = FrameBuffer()
    dop.appendNavDOP(dilutions, timeOfWeek_ms: 7_000)
    var sat = FrameBuffer()
    sat.appendNavSAT(sent, timeOfWeek_ms: 7_000)
    var later = FrameBuffer()
    later.appendNavSAT(sent, timeOfWeek_ms: 8_000)
    for stream in [bytes(dop) + bytes(sat), bytes(sat) + bytes(dop)] {
      let view = try #require(satelliteView(of: stream))
      #expect(view.dilutions == dilutions)
      #expect(view.satellites == sent.satellites)
    }
    #expect(satelliteView(of: bytes(dop) + bytes(later))?.dilutions == DilutionsOfPrecision())
    #expect(satelliteView(of: bytes(dop)) == nil)
    var unknown = FrameBuffer()
    unknown.appendNavDOP(DilutionsOfPrecision(), timeOfWeek_ms: 8_000)
    #expect(
      satelliteView(of: bytes(dop) + bytes(unknown) + bytes(later))?.dilutions
        == DilutionsOfPrecision())
  }
}
