import GNSSProtocols
import LocationTypes

// Stands in for GNSSProtocols' own declarations until that room has them.

/// A decoded message.
public enum GNSSMessage: Sendable {
  /// UBX-NAV-PVT.
  case navPVT(UBXSolution)
  /// UBX-ACK-ACK.
  case acknowledged(UBXIdentity)
  /// UBX-ACK-NAK.
  case refused(UBXIdentity)
  /// UBX-MON-BATCH.
  case batchStatus(UBXBatchStatus)
  /// UBX-LOG-BATCH.
  case batchEntry(UBXBatchEntry)
  /// Another valid message.
  case other
}
/// Where an epoch comes from.
public enum EpochOrigin: Sendable {
  /// Sent as it was made.
  case live
  /// Out of the receiver's buffer.
  case batch
}
/// What one epoch's messages add up to.
public struct Epoch: Sendable {
  /// UTC.
  public var utc: UTCTime?
  /// Fix.
  public var fix: Fix?
  /// Origin.
  public var origin: EpochOrigin
}
