import LocationTypes

// What the commands of a family can say.

extension ProfileRules {
  /// `$PMTK220` takes 100 to 10,000 ms, `$PAIR050` 100 to 1,000, `$PCAS02` five values.
  static let intervalOfFamily = ProfileRule(
    keys: ["receiver.family", "receiver.fix_interval_ms"]
  ) { draft in
    let interval = draft.receiver.fixInterval
    let expected: String? =
      switch draft.receiver.family {
      case .mtk: interval > .seconds(10) ? "at most 10000" : nil
      case .airoha: interval > .seconds(1) ? "at most 1000" : nil
      case .casic:
        casicIntervals_ms.contains { interval == .milliseconds($0) }
          ? nil : "100, 200, 250, 500 or 1000"
      case .ubloxM10, .ubloxM8, .nmea: nil
      }
    guard let expected else { return nil }
    return .init(
      key: "receiver.fix_interval_ms",
      problem: "\(interval.microseconds / 1_000) ms is more than a receiver of the family "
        + "\"\(draft.receiver.family.rawValue)\" can be told, or between two of its rates",
      expected: expected)
  }

  private static let casicIntervals_ms: [Int64] = [100, 200, 250, 500, 1_000]

  /// `$PMTK251` and `$PCAS01` end at 115,200 baud.
  static let speedOfFamily = ProfileRule(
    keys: ["receiver.family", "receiver.line_speed_baud"]
  ) { draft in
    switch draft.receiver.family {
    case .ubloxM10, .ubloxM8, .airoha, .nmea: return nil
    case .mtk, .casic: break
    }
    guard draft.receiver.lineSpeed_baud > 115_200 else { return nil }
    return .init(
      key: "receiver.line_speed_baud",
      problem: "\(draft.receiver.lineSpeed_baud) baud is more than a receiver of the family "
        + "\"\(draft.receiver.family.rawValue)\" can be told",
      expected: "at most 115200")
  }
}
