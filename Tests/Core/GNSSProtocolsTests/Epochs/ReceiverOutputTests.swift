import Testing

@testable import GNSSProtocols

@Suite("Lines and epochs of receivers") struct ReceiverOutputTests {
  @Test("an epoch of a configured receiver has GSA; its length never exceeds what is planned for")
  func lengths() {
    for family in [
      ReceiverFamily.ubloxM10, .ubloxM8, .mtk, .airoha, .casic, .teseo, .passive,
    ] {
      let sentences = family.epochLength(.nmea)
      let isConfigured = family.descriptor.commandProtocol == .sentences
      #expect(sentences.least == (isConfigured ? 246 : 164) && sentences.most == 700)
      #expect(family.epochLength(.ubx) == EpochLength(least: 100, most: 100))
    }
  }

  @Test("a NAV-PVT frame has the planned length")
  func frame() {
    var frame = FrameBuffer()
    frame.appendNavPVT(
      UBXSolution(
        utc: nil, fixType: 3, isFixOK: true, longitude_e7: 0, latitude_e7: 0, height_mm: 0,
        horizontalAccuracy_mm: 1))
    #expect(frame.count == EpochLength.ubx.least)
  }

  @Test("baud rates are ascending, and each has its index")
  func baudRates() {
    let all = BaudRate.all
    for i in all.indices {
      #expect(BaudRate.index(of: all[i]) == i && (i == 0 || all[i - 1] < all[i]))
    }
    #expect(BaudRate.index(of: 14_400) == nil && BaudRate.index(of: 0) == nil)
  }
}
