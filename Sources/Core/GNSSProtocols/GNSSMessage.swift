/// Every message a receiver sends that this project understands.
public enum GNSSMessage: Equatable, Sendable {
  /// NMEA RMC: recommended minimum.
  case rmc(RMC)
  /// NMEA GGA: fix data.
  case gga(GGA)
  /// NMEA GSA: mode, satellites used, dilution of precision.
  case gsa(GSA)
  /// NMEA GSV: satellites in view.
  case gsv(GSV)
  /// NMEA GST: pseudorange error statistics.
  case gst(GST)
  /// NMEA VTG: course and speed over ground.
  case vtg(VTG)
  /// NMEA ZDA: time and date.
  case zda(ZDA)
  /// NMEA GLL: geographic position.
  case gll(GLL)
  /// NMEA GNS: fix data of several systems.
  case gns(GNS)
  /// NMEA GBS: expected errors and the satellite that is thought to fail.
  case gbs(GBS)
  /// `$PUBX,00`: u-blox position.
  case ubloxPosition(UBloxPosition)
  /// `$PGRME`: Garmin's estimated errors.
  case garminErrors(GarminErrors)
  /// `$PGRMZ`: Garmin's altitude.
  case garminAltitude(GarminAltitude)
  /// `$PMTK001` or `$PAIR001`: what became of a command.
  case commandResult(CommandResult)
  /// `$PMTK010`, `$PMTK011` or a `TXT` of CASIC: what such a receiver says of itself.
  case receiverNotice(ReceiverNotice)
  /// UBX-NAV-PVT.
  case navPVT(UBXSolution)
  /// UBX-HNR-PVT: a solution between those of NAV-PVT.
  case hnrPVT(UBXSolution)
  /// A UBX message that says a part of an epoch, such as NAV-POSLLH.
  case navigation(UBXNavigation)
  /// UBX-ACK-ACK: the receiver did what that message asked.
  case acknowledged(UBXIdentity)
  /// UBX-ACK-NAK: the receiver refused that message.
  case refused(UBXIdentity)
  /// UBX-MON-VER.
  case receiverVersion(UBXVersion)
  /// UBX-MON-BATCH.
  case batchStatus(UBXBatchStatus)
  /// UBX-LOG-BATCH.
  case batchEntry(UBXBatchEntry)
  /// UBX-MGA-DBD.
  case aidingEntry(UBXAidingEntry)
  /// UBX-MGA-ACK-DATA0.
  case aidingAnswer(UBXAidingAnswer)
  /// Framing and checksum are right, but it is not one of the above: what it is called.
  case unread(MessageName)
  /// Framing and checksum are right, but what it says cannot be read.
  case other
}

/// What a message is called that nobody here reads.
@frozen public enum MessageName: Hashable, Sendable {
  /// A sentence: the first eight characters of its address (`GPTXT`), the first one lowest, zeros
  /// behind the last; zero where there is no field.
  case sentence(UInt64)
  /// A UBX frame.
  case frame(UBXIdentity)
}

/// What a decoder has met since it was created; each count stops at its largest value.
@frozen public struct DecoderCounters: Equatable, Sendable {
  /// NMEA sentences with a right checksum.
  public var sentences: UInt32 = 0
  /// Sentences without a checksum, where the options allow them.
  public var unchecked: UInt32 = 0
  /// UBX frames with a right checksum.
  public var frames: UInt32 = 0
  /// Binary frames of other formats with a right checksum, passed over: RTCM 3, CASIC, SiRF …
  public var otherFrames: UInt32 = 0
  /// Which formats those frames were of.
  public var otherFormats = FrameFormats()
  /// Sentences and frames whose checksum was wrong; a false start in noise counts as well.
  public var checksumErrors: UInt32 = 0
  /// Sentences and frames with a right checksum whose content cannot be read.
  public var malformed: UInt32 = 0
  /// Sentences and frames that are right but not understood.
  public var unknown: UInt32 = 0
  /// Sentences that broke off: no checksum, a foreign byte, or the next one began inside.
  public var brokenOff: UInt32 = 0
  /// Starts of a sentence or frame that would be longer than the bounds.
  public var overlong: UInt32 = 0
  /// Bytes that belong to no sentence or frame, carriage return and line feed aside.
  public var skippedBytes: UInt64 = 0

  /// Creates counters at zero.
  public init() {}
}

/// Formats of binary frames that are known and not read; no `OptionSet`, whose literals are arrays.
@frozen public struct FrameFormats: Equatable, Sendable {
  /// A bit for each format.
  public private(set) var bits: UInt8

  /// Creates a set of the formats whose bits are set.
  public init(bits: UInt8 = 0) { self.bits = bits }

  /// Whether those formats are in it.
  public func contains(_ other: FrameFormats) -> Bool { bits & other.bits == other.bits }

  /// Adds those formats.
  public mutating func insert(_ other: FrameFormats) { bits |= other.bits }

  /// RTCM 3: corrections and observations.
  public static let rtcm3 = FrameFormats(bits: 1 << 0)
  /// SiRF binary.
  public static let sirf = FrameFormats(bits: 1 << 1)
  /// SkyTraq binary.
  public static let skyTraq = FrameFormats(bits: 1 << 2)
  /// CASIC binary.
  public static let casic = FrameFormats(bits: 1 << 3)
  /// Allystar binary.
  public static let allystar = FrameFormats(bits: 1 << 4)
}

extension UInt32 {
  /// Adds one; stays at the largest value.
  @inline(__always) mutating func count() {
    if self != .max { self += 1 }
  }
}
