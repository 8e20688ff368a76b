/// Status that a receiver with NMEA commands (MediaTek, CASIC) sends without a request; CASIC receivers
/// send their firmware version also on request.
@frozen public enum ReceiverNotice: UInt8, Sendable {
  /// The receiver started: `$PMTK010,001`, `$PMTK011`, or a CASIC `TXT` with the manufacturer.
  case started = 0
  /// The receiver operates: any other `$PMTK010`, such as `002` after standby.
  case awake = 1
  /// A CASIC `TXT` with the firmware version, sent at start and in response to `$PCAS06`.
  case firmware = 2
}

extension NMEADecoding {
  /// Fields: number (1 started, 2 requests aiding, 3 back in normal operation).
  static func systemMessage(_ f: inout NMEAFields) -> ReceiverNotice {
    f.whole(0, as: UInt16.self) == 1 ? .started : .awake
  }

  /// Fields: number of texts, index, severity, text. Accepts texts that begin with `MA=` (manufacturer) or
  /// `SW=` (firmware), as CASIC receivers send them; nil for any other text.
  static func text(_ f: inout NMEAFields) -> ReceiverNotice? {
    guard f.byte(2, ofField: 3) == UInt8(ascii: "=") else { return nil }
    switch (f.byte(0, ofField: 3), f.byte(1, ofField: 3)) {
    case (UInt8(ascii: "M"), UInt8(ascii: "A")): return .started
    case (UInt8(ascii: "S"), UInt8(ascii: "W")): return .firmware
    case _: return nil
    }
  }
}
