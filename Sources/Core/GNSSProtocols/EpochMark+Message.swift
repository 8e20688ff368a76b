extension EpochMark {
  /// The place of a sentence in its epoch, the turn not yet counted.
  @inline(__always) init(_ kind: UInt8, _ talker: Talker) {
    self.init(kind: kind, talker: UInt16(talker.first) << 8 | UInt16(talker.second))
  }

  /// The place of a UBX message in its epoch, the turn not yet counted.
  init(_ part: UBXNavigation) { self.init(kind: EpochMark.kind(part)) }

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
