/// Baud rates of receivers, of whatever family.
public enum BaudRate {
  /// All of them, ascending.
  public static var all: InlineArray<9, UInt32> {
    [4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]
  }

  /// Position of a baud rate in ``all``; nil for any other.
  public static func index(of speed_baud: UInt32) -> Int? {
    for i in all.indices where all[i] == speed_baud { return i }
    return nil
  }
}

/// Protocol of the live epochs.
@frozen public enum ReceiverOutput: UInt8, Sendable {
  /// UBX-NAV-PVT: one frame per epoch, NMEA output disabled.
  case ubx = 0
  /// NMEA sentences; u-blox commands and batch entries are still UBX.
  case nmea = 1
}

/// Length of an epoch on the line.
@frozen public struct EpochLength: Equatable, Sendable {
  /// Bytes of the shortest complete epoch with the longest fields.
  public let least: Int
  /// Bytes of the longest epoch that is planned for.
  public let most: Int

  /// Largest length of a sentence, bytes (NMEA 0183, section 5.3).
  private static var sentence: Int { 82 }

  /// NAV-PVT with its frame.
  static var ubx: EpochLength { EpochLength(least: 100, most: 100) }
  /// RMC and GGA; receivers that are not configured add GSA, GSV, VTG and GLL.
  static var sentences: EpochLength { EpochLength(least: 2 * sentence, most: 700) }
  /// RMC, GGA and GSA: the sentences that the drivers enable. A receiver of several systems sends one GSA for each.
  static var configuredSentences: EpochLength { EpochLength(least: 3 * sentence, most: 700) }
}

extension ReceiverFamily {
  /// Length of an epoch in this protocol.
  public func epochLength(_ output: ReceiverOutput) -> EpochLength {
    switch (output, descriptor.commandProtocol) {
    case (.ubx, _): .ubx
    case (.nmea, .sentences): .configuredSentences
    case (.nmea, .ubx), (.nmea, .none): .sentences
    }
  }
}
