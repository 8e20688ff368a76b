/// A message from a receiver: the result of ``GNSSDecoder``.
///
/// Each supported NMEA sentence and UBX frame has a case; `unknown` and `malformed` stand for the
/// others.
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
  /// NMEA GBS: expected errors and the satellite most likely to fail (RAIM).
  case gbs(GBS)
  /// `$PUBX,00`: u-blox position.
  case ubloxPosition(UBloxPosition)
  /// `$PGRME`: Garmin's estimated errors.
  case garminErrors(GarminErrors)
  /// `$PGRMZ`: Garmin's altitude.
  case garminAltitude(GarminAltitude)
  /// Result of a command to a receiver with proprietary sentences, such as `$PMTK001`.
  case commandResult(CommandResult)
  /// Status that such a receiver reports without a request, such as `$PMTK011`.
  case receiverNotice(ReceiverNotice)
  /// UBX-NAV-PVT.
  case navPVT(UBXSolution)
  /// UBX-HNR-PVT: a solution between those of NAV-PVT.
  case hnrPVT(UBXSolution)
  /// A UBX message with part of an epoch, such as NAV-POSLLH.
  case navigation(UBXNavigation)
  /// UBX-ACK-ACK: the receiver executed the message with that identity.
  case acknowledged(UBXIdentity)
  /// UBX-ACK-NAK: the receiver refused the message with that identity.
  case refused(UBXIdentity)
  /// UBX-CFG-VALGET: values of configuration keys.
  case configurationValues(UBXConfigurationValues)
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
  /// A message of an unsupported kind, with valid framing and checksum.
  case unknown(MessageName)
  /// A message of a supported kind whose content is invalid, with valid framing and checksum.
  case malformed
}

/// Name of a message of an unsupported kind.
@frozen public enum MessageName: Hashable, Sendable {
  /// A sentence: the first eight characters of its address (`GPTXT`), the first in the lowest byte,
  /// padded with zeros; zero for a sentence without fields.
  case sentence(UInt64)
  /// A UBX frame.
  case frame(UBXIdentity)
}

/// Counts of a decoder since its creation; each one saturates.
@frozen public struct DecoderCounters: Equatable, Sendable {
  /// NMEA sentences with a valid checksum.
  public var sentences: UInt32 = 0
  /// Sentences accepted without a checksum (`DecoderOptions.allowsMissingChecksum`).
  public var withoutChecksum: UInt32 = 0
  /// UBX frames with a valid checksum.
  public var frames: UInt32 = 0
  /// Skipped binary frames of other formats with a valid checksum: RTCM 3, CASIC, SiRF …
  public var otherFrames: UInt32 = 0
  /// Formats of those frames.
  public var otherFormats = FrameFormats()
  /// Sentences and frames with a wrong checksum, false starts in noise included.
  public var checksumErrors: UInt32 = 0
  /// Sentences and frames with a valid checksum and invalid content.
  public var malformed: UInt32 = 0
  /// Valid sentences and frames of an unsupported kind.
  public var unknown: UInt32 = 0
  /// Truncated sentences: no checksum, an invalid byte, or another `$` inside.
  public var truncated: UInt32 = 0
  /// Sentences and frames that exceed the length limits, false starts in noise included.
  public var overlong: UInt32 = 0
  /// Bytes outside sentences and frames, except carriage returns and line feeds.
  public var skippedBytes: UInt64 = 0

  /// Creates counters at zero.
  public init() {}
}

/// Formats of binary frames that are recognised and skipped.
///
/// No `OptionSet`, because its literals are arrays, which need a heap.
@frozen public struct FrameFormats: Equatable, Sendable {
  /// One bit for each format.
  public private(set) var bits: UInt8

  /// Creates a set from its bits.
  public init(bits: UInt8 = 0) { self.bits = bits }

  /// Whether the set contains all formats of `other`.
  public func contains(_ other: FrameFormats) -> Bool { bits & other.bits == other.bits }

  /// Adds the formats of `other`.
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
  /// Adds one, saturating at the maximum.
  @inline(__always) mutating func incrementSaturating() {
    if self != .max { self += 1 }
  }
}
