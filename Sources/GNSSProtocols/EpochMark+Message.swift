extension EpochMark {
  /// The place of a message in its epoch, the turn not yet counted; nil for what is of no epoch.
  init?(_ message: GNSSMessage) {
    switch message {
    case .rmc(let m): self.init(0, m.talker)
    case .gga(let m): self.init(1, m.talker)
    case .gll(let m): self.init(2, m.talker)
    case .gst(let m): self.init(3, m.talker)
    case .zda(let m): self.init(4, m.talker)
    case .gsa(let m): self.init(5, m.talker)
    case .gsv(let m):
      self.init(6, m.talker)
      mayEnd = m.number == m.sentences
    case .vtg(let m): self.init(7, m.talker)
    case .gns(let m): self.init(8, m.talker)
    case .gbs(let m): self.init(9, m.talker)
    case .ubloxPosition: self.init(kind: 10)
    case .garminErrors: self.init(kind: 11)
    case .garminAltitude: self.init(kind: 12)
    case .navigation(let part): self.init(kind: EpochMark.kind(part))
    case .navPVT, .hnrPVT, .batchEntry, .acknowledged, .refused, .receiverVersion, .batchStatus,
      .commandResult, .unread, .other:
      return nil
    }
  }

  private init(_ kind: UInt8, _ talker: Talker) {
    self.init(kind: kind, talker: UInt16(talker.first) << 8 | UInt16(talker.second))
  }

  private static func kind(_ part: UBXNavigation) -> UInt8 {
    switch part {
    case .ecefPosition: 16
    case .position: 17
    case .status: 18
    case .dilutions: 19
    case .ecefSolution: 20
    case .ecefVelocity: 21
    case .velocity: 22
    case .precisePosition: 23
    case .gpsTime: 24
    case .utc: 25
    case .leapSeconds: 26
    case .channels: 27
    case .satellites: 28
    case .endOfEpoch: 29
    }
  }
}
