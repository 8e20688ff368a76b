import LocationTypes

/// Class and identifier of a UBX message, for example 0x01 and 0x07 for NAV-PVT.
@frozen public struct UBXIdentity: Hashable, Sendable {
  /// Message class.
  public var messageClass: UInt8
  /// Message identifier within the class.
  public var messageID: UInt8

  /// Creates an identity.
  @inlinable public init(_ messageClass: UInt8, _ messageID: UInt8) {
    self.messageClass = messageClass
    self.messageID = messageID
  }

  /// UBX-NAV-POSECEF.
  public static let navPOSECEF = UBXIdentity(0x01, 0x01)
  /// UBX-NAV-POSLLH.
  public static let navPOSLLH = UBXIdentity(0x01, 0x02)
  /// UBX-NAV-STATUS.
  public static let navSTATUS = UBXIdentity(0x01, 0x03)
  /// UBX-NAV-DOP.
  public static let navDOP = UBXIdentity(0x01, 0x04)
  /// UBX-NAV-SOL.
  public static let navSOL = UBXIdentity(0x01, 0x06)
  /// UBX-NAV-PVT.
  public static let navPVT = UBXIdentity(0x01, 0x07)
  /// UBX-NAV-VELECEF.
  public static let navVELECEF = UBXIdentity(0x01, 0x11)
  /// UBX-NAV-VELNED.
  public static let navVELNED = UBXIdentity(0x01, 0x12)
  /// UBX-NAV-HPPOSLLH.
  public static let navHPPOSLLH = UBXIdentity(0x01, 0x14)
  /// UBX-NAV-TIMEGPS.
  public static let navTIMEGPS = UBXIdentity(0x01, 0x20)
  /// UBX-NAV-TIMEUTC.
  public static let navTIMEUTC = UBXIdentity(0x01, 0x21)
  /// UBX-NAV-TIMELS.
  public static let navTIMELS = UBXIdentity(0x01, 0x26)
  /// UBX-NAV-SVINFO.
  public static let navSVINFO = UBXIdentity(0x01, 0x30)
  /// UBX-NAV-SAT.
  public static let navSAT = UBXIdentity(0x01, 0x35)
  /// UBX-NAV-EOE.
  public static let navEOE = UBXIdentity(0x01, 0x61)
  /// UBX-RXM-PMREQ.
  public static let rxmPMREQ = UBXIdentity(0x02, 0x41)
  /// UBX-ACK-NAK.
  public static let ackNAK = UBXIdentity(0x05, 0x00)
  /// UBX-ACK-ACK.
  public static let ackACK = UBXIdentity(0x05, 0x01)
  /// UBX-CFG-PRT.
  public static let cfgPRT = UBXIdentity(0x06, 0x00)
  /// UBX-CFG-MSG.
  public static let cfgMSG = UBXIdentity(0x06, 0x01)
  /// UBX-CFG-RATE.
  public static let cfgRATE = UBXIdentity(0x06, 0x08)
  /// UBX-CFG-CFG.
  public static let cfgCFG = UBXIdentity(0x06, 0x09)
  /// UBX-CFG-RXM.
  public static let cfgRXM = UBXIdentity(0x06, 0x11)
  /// UBX-CFG-PM2.
  public static let cfgPM2 = UBXIdentity(0x06, 0x3B)
  /// UBX-CFG-BATCH.
  public static let cfgBATCH = UBXIdentity(0x06, 0x93)
  /// UBX-CFG-VALSET.
  public static let cfgVALSET = UBXIdentity(0x06, 0x8A)
  /// UBX-CFG-VALGET.
  public static let cfgVALGET = UBXIdentity(0x06, 0x8B)
  /// UBX-MON-VER.
  public static let monVER = UBXIdentity(0x0A, 0x04)
  /// UBX-MON-BATCH.
  public static let monBATCH = UBXIdentity(0x0A, 0x32)
  /// UBX-LOG-RETRIEVEBATCH.
  public static let logRETRIEVEBATCH = UBXIdentity(0x21, 0x10)
  /// UBX-LOG-BATCH.
  public static let logBATCH = UBXIdentity(0x21, 0x11)
  /// UBX-HNR-PVT.
  public static let hnrPVT = UBXIdentity(0x28, 0x00)
}

/// UBX-MON-BATCH: fill level of the receiver's batch buffer (M8/M10 interface description).
public struct UBXBatchStatus: Equatable, Sendable {
  /// Number of epochs in the buffer.
  public var fillLevel: UInt16
  /// Number of epochs dropped since batching was enabled.
  public var dropsAll: UInt16
  /// Number of epochs dropped since the last MON-BATCH.
  public var dropsSinceLast: UInt16
  /// msgCnt of the next LOG-BATCH.
  public var nextMessageCount: UInt16

  /// Creates a status.
  public init(
    fillLevel: UInt16, dropsAll: UInt16 = 0, dropsSinceLast: UInt16 = 0,
    nextMessageCount: UInt16 = 0
  ) {
    self.fillLevel = fillLevel
    self.dropsAll = dropsAll
    self.dropsSinceLast = dropsSinceLast
    self.nextMessageCount = nextMessageCount
  }
}

/// UBX-LOG-BATCH: one epoch of the receiver's batch buffer.
public struct UBXBatchEntry: Equatable, Sendable {
  /// Counter of entries, wraps at 65,536.
  public var messageCount: UInt16
  /// Whether contentValid flags the extra PVT fields as present.
  public var hasExtraPVT: Bool
  /// The epoch.
  public var solution: UBXSolution

  /// Creates an entry.
  public init(messageCount: UInt16, hasExtraPVT: Bool, solution: UBXSolution) {
    self.messageCount = messageCount
    self.hasExtraPVT = hasExtraPVT
    self.solution = solution
  }
}
