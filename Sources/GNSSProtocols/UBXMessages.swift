import LocationTypes

/// Class and identifier of a UBX message, written as the manuals do: `0x0107` is NAV-PVT.
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

  /// UBX-NAV-PVT.
  public static let navPVT = UBXIdentity(0x01, 0x07)
  /// UBX-RXM-PMREQ.
  public static let rxmPMREQ = UBXIdentity(0x02, 0x41)
  /// UBX-ACK-NAK.
  public static let ackNAK = UBXIdentity(0x05, 0x00)
  /// UBX-ACK-ACK.
  public static let ackACK = UBXIdentity(0x05, 0x01)
  /// UBX-CFG-VALSET.
  public static let cfgVALSET = UBXIdentity(0x06, 0x8A)
  /// UBX-MON-VER.
  public static let monVER = UBXIdentity(0x0A, 0x04)
  /// UBX-MON-BATCH.
  public static let monBATCH = UBXIdentity(0x0A, 0x32)
  /// UBX-LOG-RETRIEVEBATCH.
  public static let logRETRIEVEBATCH = UBXIdentity(0x21, 0x10)
  /// UBX-LOG-BATCH.
  public static let logBATCH = UBXIdentity(0x21, 0x11)
}

/// Navigation solution in the fields that NAV-PVT and LOG-BATCH share.
///
/// Units are the protocol's own: degrees × 1e7, millimetres, mm/s, degrees × 1e5. What a frame does
/// not carry, or marks as invalid, is nil.
public struct UBXSolution: Equatable, Sendable {
  /// GPS time of week of the epoch, ms, where the frame carries it.
  public var timeOfWeek_ms: UInt32?
  /// UTC of the epoch to the microsecond; nil unless date and time are flagged valid.
  public var utc: UTCTime?
  /// Flag fullyResolved: the seconds of ``utc`` are no longer in doubt (leap seconds known).
  public var isTimeResolved: Bool
  /// Estimated error of the time, ns.
  public var timeAccuracy_ns: UInt32?
  /// Protocol's fixType: 0 none, 1 dead reckoning, 2 2D, 3 3D, 4 GNSS + dead reckoning, 5 time.
  public var fixType: UInt8
  /// Flag gnssFixOK, and not flag invalidLlh: within the receiver's limits of accuracy.
  public var isFixOK: Bool
  /// Flag diffSoln: differential corrections were applied.
  public var isDifferential: Bool
  /// carrSoln: 0 none, 1 float, 2 fixed.
  public var carrierSolution: UInt8
  /// Satellites used.
  public var satellites: UInt8?
  /// Degrees × 1e7.
  public var longitude_e7: Int32
  /// Degrees × 1e7.
  public var latitude_e7: Int32
  /// Height above the ellipsoid, mm.
  public var height_mm: Int32
  /// Height above mean sea level, mm.
  public var heightMSL_mm: Int32?
  /// Horizontal accuracy, mm.
  public var horizontalAccuracy_mm: UInt32
  /// Vertical accuracy, mm.
  public var verticalAccuracy_mm: UInt32?
  /// Velocity north, mm/s.
  public var velocityNorth_mmps: Int32?
  /// Velocity east, mm/s.
  public var velocityEast_mmps: Int32?
  /// Velocity down, mm/s.
  public var velocityDown_mmps: Int32?
  /// Ground speed, mm/s.
  public var groundSpeed_mmps: Int32
  /// Heading of motion, degrees × 1e5.
  public var headingOfMotion_e5: Int32
  /// Speed accuracy, mm/s.
  public var speedAccuracy_mmps: UInt32?
  /// Heading accuracy, degrees × 1e5.
  public var headingAccuracy_e5: UInt32?
  /// Position DOP × 100.
  public var positionDOP_e2: UInt16?

  /// Creates a solution of a place and moment; the rest is unknown or zero as the protocol has it.
  public init(
    utc: UTCTime?, fixType: UInt8, isFixOK: Bool, longitude_e7: Int32, latitude_e7: Int32,
    height_mm: Int32, horizontalAccuracy_mm: UInt32
  ) {
    self.utc = utc
    self.fixType = fixType
    self.isFixOK = isFixOK
    self.longitude_e7 = longitude_e7
    self.latitude_e7 = latitude_e7
    self.height_mm = height_mm
    self.horizontalAccuracy_mm = horizontalAccuracy_mm
    isTimeResolved = utc != nil
    isDifferential = false
    carrierSolution = 0
    groundSpeed_mmps = 0
    headingOfMotion_e5 = 0
  }
}

/// UBX-MON-BATCH: how full the receiver's own batch buffer is (M8/M10 interface description).
public struct UBXBatchStatus: Equatable, Sendable {
  /// Epochs in the buffer.
  public var fillLevel: UInt16
  /// Epochs dropped since batching was enabled.
  public var dropsAll: UInt16
  /// Epochs dropped since the last MON-BATCH.
  public var dropsSinceLast: UInt16
  /// msgCnt of the next LOG-BATCH that comes.
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

/// UBX-LOG-BATCH: one epoch out of the receiver's batch buffer.
public struct UBXBatchEntry: Equatable, Sendable {
  /// Counts entries, wraps at 65,536.
  public var messageCount: UInt16
  /// Whether contentValid says that the extra PVT fields are there.
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
