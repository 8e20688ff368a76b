import LocationTypes
import Testing

@testable import GNSSProtocols

/// The sentence that each value of an epoch is read from; each sentence has different values.
@Suite("Sources of an epoch's values") struct EpochSourceTests {
  private static let gga = "GNGGA,120000,4800.0001,N,01100.0,E,4,05,1.01,501.0,M,41.0,M,,"
  private static let gns = "GNGNS,120000,4800.0002,N,01100.0,E,DD,06,1.02,502.0,42.0,,"
  private static let rmc = "GNRMC,120000,A,4800.0003,N,01100.0,E,1.0,10.0,010626,,,F"
  private static let gll = "GNGLL,4800.0004,N,01100.0,E,120000,A,E"
  private static let pubx =
    "PUBX,00,120000,4800.0005,N,01100.0,E,555.0,G3,2.5,3.5,36.0,91.0,-1.5,,0.92,1.19,0.77,8,0,0"
  private static let vtg = "GNVTG,20.0,T,,M,2.0,N,,K,A"
  private static let gsa = "GNGSA,A,3,01,02,,,,,,,,,,,2.0,1.2,1.6"
  private static let garmin = "PGRMZ,48,f,3"
  private static let all = [gga, gns, rmc, gll, pubx, vtg, gsa, garmin]

  private func epoch(_ lines: [String]) -> Epoch? {
    epochs(lines.flatMap { sentence($0) }).first
  }
  private func fix(_ lines: String...) -> Fix? { epoch(lines)?.fix }

  /// The value with all sentences, then without the first, and so on.
  private func without<Value>(_ removed: String..., value: (Epoch) -> Value?) -> [Value?] {
    (0...removed.count).map { count in
      let lines = Self.all.filter { !removed.prefix(count).contains($0) }
      return epoch(lines).flatMap(value)
    }
  }

  @Test("position: GGA, GNS, RMC, GLL, PUBX")
  func position() {
    // In 1e-4 minutes beyond 48°.
    let found = without(Self.gga, Self.gns, Self.rmc, Self.gll) {
      $0.fix.map { ($0.coordinate.latitude_e9 - 48_000_000_000) * 6 / 9_999 }
    }
    #expect(found == [1, 2, 3, 4, 5])
  }

  @Test("dilutions: GGA, GNS, GSA, PUBX")
  func dilutions() {
    #expect(without(Self.gga, Self.gns, Self.gsa) { $0.hdop_e2 } == [101, 102, 120, 92])
    #expect(without(Self.gsa) { $0.vdop_e2 } == [160, 119])
    #expect(without(Self.gsa) { $0.pdop_e2 } == [200, nil])
  }

  @Test("LOC-5: heights from GGA, GNS, PGRMZ; ellipsoidal height from PUBX if these are missing")
  func heights() {
    #expect(
      without(Self.gga, Self.gns, Self.garmin) { $0.fix?.altitude_mm }
        == [501_000, 502_000, 14_630, nil])
    #expect(without(Self.gga, Self.gns) { $0.geoidSeparation_mm } == [41_000, 42_000, nil])
    #expect(
      without(Self.gga, Self.gns) { $0.fix?.ellipsoidalAltitude_mm }
        == [542_000, 544_000, 555_000])
  }

  @Test("speed and course: RMC, VTG, PUBX; satellites: GNS, GGA, PUBX, GSA")
  func motion() {
    #expect(without(Self.rmc, Self.vtg) { $0.fix?.speed_mmps } == [514, 1_029, 10_000])
    #expect(
      without(Self.rmc, Self.vtg) { $0.fix?.course_e4 } == [100_000, 200_000, 910_000])
    #expect(
      without(Self.gns, Self.gga, Self.pubx, Self.gsa) { $0.fix?.satellites }
        == [6, 5, 8, 2, nil])
  }

  @Test("the quality: GGA, GNS, RMC, GLL, PUBX")
  func quality() {
    #expect(
      without(Self.gga, Self.gns, Self.rmc, Self.gll) { $0.fix?.quality }
        == [.rtkFixed, .differential, .rtkFloat, .deadReckoning, .autonomous])
    let fromDeadReckoning = Self.pubx.replacing("G3", with: "DR")
    #expect(
      fix(fromDeadReckoning)?.quality == .deadReckoning
        && fix(fromDeadReckoning)?.mode == .twoDimensional)
    let combined = Self.pubx.replacing("G3", with: "RK")
    #expect(fix(combined)?.quality == .combined && fix(combined)?.mode == .threeDimensional)
    let surveyed = Self.pubx.replacing("G3", with: "TT")
    #expect(fix(surveyed)?.quality == .surveyed && fix(surveyed)?.mode == .threeDimensional)
  }

  @Test("a sentence without position from one talker does not remove another talker's position")
  func invalid() {
    let far = "4900.0,N,01200.0,E"
    for (valid, other) in [
      (Self.rmc, "GLRMC,120000,V,\(far),9.0,90.0,010626,,,N"),
      (Self.gga, "GLGGA,120000,\(far),0,00,9.9,9.0,M,9.0,M,,"),
      (Self.gll, "GLGLL,\(far),120000,V,N"),
      (Self.gns, "GLGNS,120000,\(far),NN,00,9.9,9.0,9.0,,"),
      (Self.gns, "GLGNS,120000,,,,,AN,03,9.9,,,,"),
      (Self.pubx, "PUBX,00,120000,\(far),9.0,NF,,,9.0,9.0,,,,,,0,0,0"),
    ] {
      let alone = fix(valid)
      #expect(alone != nil && fix(valid, other) == alone, "\(other)")
    }
  }

  @Test(
    "GGA without quality is ignored; GNS without mode supplies a position, without position a mode")
  func partial() {
    #expect(epoch(["GNGGA,120000,4800.0,N,01100.0,E,,05,1.0,,M,,M,,"]) == nil)
    #expect(fix("GNGNS,120000,4800.0,N,01100.0,E,,05,1.0,,,,") != nil)
    for none in ["GNGGA,120000,,,,,0,,,,M,,M,,", "GNGNS,120000,,,,,NN,,,,,,"] {
      #expect(epoch([none])?.mode == .noFix && fix(Self.rmc, none) == nil, "\(none)")
    }
    for empty in ["GNGGA,120000,,,,,,,,,M,,M,,", "GNGNS,120000,,,,,,,,,,,"] {
      #expect(epoch([empty]) == nil && fix(Self.rmc, empty) != nil, "\(empty)")
    }
  }

  @Test("2D or 3D: GSA's best mode, then PUBX and PGRMZ, then whether a height exists")
  func dimensions() {
    let flat = Self.gsa.replacing("A,3", with: "A,2")
    let silent = Self.gsa.replacing("A,3", with: "A,")
    #expect(fix(Self.gga, Self.gsa, flat)?.mode == .threeDimensional)
    #expect(fix(Self.gga, flat)?.mode == .twoDimensional)
    #expect(fix(Self.gga, silent)?.mode == .threeDimensional)
    #expect(fix(Self.gga, Self.gsa.replacing("A,3", with: "A,1"))?.mode == .threeDimensional)
    #expect(fix(Self.gga, Self.gsa.replacing("A,3", with: "A,9"))?.mode == .twoDimensional)
    #expect(epoch([Self.gll])?.mode == .twoDimensional && fix(Self.gll)?.mode == .twoDimensional)
    // Without a height there is no vertical accuracy; half of a height is enough.
    let spatial = fix(Self.rmc, Self.gsa)
    #expect(spatial?.mode == .threeDimensional && spatial?.verticalAccuracy_mm == nil)
    let altitude = "GNGGA,120000,4800.0,N,01100.0,E,1,05,1.0,500.0,M,,M,,"
    #expect(fix(altitude)?.mode == .threeDimensional)
    #expect(fix(altitude, Self.gsa)?.verticalAccuracy_mm == 8_000)
    #expect(fix(Self.pubx)?.verticalAccuracy_mm == 3_500)
    #expect(fix(Self.pubx.replacing("555.0", with: ""))?.mode == .threeDimensional)
    // An ellipsoidal height alone is a height.
    let unsure = Self.pubx.replacing("G3", with: "")
    #expect(fix(Self.gll, unsure)?.mode == .twoDimensional)
  }

  @Test("latitude and longitude errors: one of them is enough; without both the error is unknown")
  func errors() {
    func gst(_ errors: String) -> Epoch? { epoch([Self.gga, "GNGST,120000,,,,,\(errors)"]) }
    let both = gst("3.0,4.0,5.0")
    #expect(both?.latitudeError_mm == 3_000 && both?.longitudeError_mm == 4_000)
    #expect(gst("3.0,0.0,5.0")?.fix?.horizontalAccuracy_mm == 3_000)
    #expect(gst("0.0,4.0,5.0")?.fix?.horizontalAccuracy_mm == 4_000)
    let none = gst("0.0,0.0,0.0")
    #expect(none?.latitudeError_mm == nil && none?.longitudeError_mm == nil)
    #expect(none?.fix?.horizontalAccuracy_mm == 5_050 && none?.fix?.verticalAccuracy_mm == nil)
    #expect(gst("0.001,0.0,0.001")?.fix?.verticalAccuracy_mm == 1)
    let zero = "PGRME,0.0,M,0.0,M,0.0,M"
    #expect(fix(Self.gga, zero)?.horizontalAccuracy_mm == 5_050)
  }

  @Test("out-of-range values are bounded or unknown, and none traps")
  func extremes() {
    var draft = EpochDraft()
    var rmc = RMC()
    rmc.isValid = true
    rmc.coordinate = Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11_000_000_000)
    draft.apply(rmc)
    draft.applyHeights(altitude_mm: -.max, separation_mm: -1)
    draft.applyErrors(latitude_mm: .max, longitude_mm: .min)
    var pubx = UBloxPosition(status: .threeDimensional)
    pubx.velocityDown_mmps = .min
    draft.apply(pubx)
    var epoch = draft.epoch(EpochOptions())
    #expect(epoch.fix?.ellipsoidalAltitude_mm == nil && epoch.climb_mmps == nil)
    #expect(epoch.fix?.horizontalAccuracy_mm == Fix.accuracyLimit_mm)
    draft.applyErrors(latitude_mm: .min, longitude_mm: .max)
    epoch = draft.epoch(EpochOptions())
    #expect(epoch.fix?.horizontalAccuracy_mm == Fix.accuracyLimit_mm)
    draft.applyErrors(latitude_mm: .max, longitude_mm: .max)
    draft.applyHeights(altitude_mm: .max, separation_mm: .max)
    epoch = draft.epoch(EpochOptions())
    #expect(epoch.fix?.horizontalAccuracy_mm == Fix.accuracyLimit_mm)
    #expect(epoch.fix != nil && epoch.fix?.ellipsoidalAltitude_mm == nil)
    var options = EpochOptions()
    options.rangeError_mm = -5_000
    let accuracy = epochs(sentence(Self.gga), options).first?.fix?.horizontalAccuracy_mm
    #expect(accuracy == 0)
    // At most 254 satellites are counted over many GSA.
    let many = (0..<25).map { i in
      "GNGSA,A,3,\((1...12).map { "\($0 + 12 * i)" }.joined(separator: ",")),2.0,1.2,1.6"
    }
    #expect(self.epoch([Self.rmc] + many)?.fix?.satellites == 254)
  }
}

extension EpochDraft {
  /// Adds a GGA with these heights.
  fileprivate mutating func applyHeights(altitude_mm: Int32, separation_mm: Int32) {
    var gga = GGA(quality: 1)
    gga.altitude_mm = altitude_mm
    gga.separation_mm = separation_mm
    apply(gga)
  }

  /// Adds a GST with these errors.
  fileprivate mutating func applyErrors(latitude_mm: Int32, longitude_mm: Int32) {
    var gst = GST()
    gst.latitude_mm = latitude_mm
    gst.longitude_mm = longitude_mm
    apply(gst)
  }

  /// The combined fix.
  fileprivate func epoch(_ options: EpochOptions) -> Epoch {
    var epoch = Epoch()
    write(to: &epoch, options)
    return epoch
  }
}
