/// What a receiver commanded by sentences says of itself unasked, or of its firmware when asked.
@frozen public enum ReceiverNotice: UInt8, Sendable {
  /// It has started: `$PMTK010,001`, `$PMTK011`, a `TXT` of CASIC with its maker.
  case started = 0
  /// It works, again or still: any other `$PMTK010`, such as `002` after standby.
  case awake = 1
  /// A `TXT` of CASIC with its firmware, which it sends as it starts and in answer to `$PCAS06`.
  case firmware = 2
}

extension NMEADecoding {
  /// Number: 1 started, 2 asks for aiding, 3 back in normal operation.
  static func systemMessage(_ f: inout NMEAFields) -> ReceiverNotice {
    f.whole(0, as: UInt16.self) == 1 ? .started : .awake
  }

  /// How many texts, which, severity, text: `MA=CASIC` or `SW=…` of CASIC; nil for any other.
  static func text(_ f: inout NMEAFields) -> ReceiverNotice? {
    guard f.byte(2, ofField: 3) == UInt8(ascii: "=") else { return nil }
    switch (f.byte(0, ofField: 3), f.byte(1, ofField: 3)) {
    case (UInt8(ascii: "M"), UInt8(ascii: "A")): return .started
    case (UInt8(ascii: "S"), UInt8(ascii: "W")): return .firmware
    case _: return nil
    }
  }
}
