import GNSSProtocols

/// How a simulated receiver with proprietary sentences behaves: one row of the table of simulated families, each in a
/// file of its own.
///
/// It does not use the family's ``FamilyDescriptor``, so that the drivers' output is checked by separate code.
struct SimulatedSentences: Sendable {
  /// One step of the response to a sentence.
  enum Reaction {
    /// Send an answer, which a fault may lose.
    case answer(String)
    /// Send another sentence.
    case send(String)
    /// Send the satellites in view.
    case sendSatellites
    /// Record a violation, for example of a command that the receiver does not support.
    case violation(String)
    /// Change settings.
    case update((inout SentenceSettings) -> Void)
    /// Enter standby for this time, 0 for no limit, unless it is in standby.
    case standby(seconds: Int)
    /// Leave standby.
    case leaveStandby
    /// Restart.
    case restart
  }

  /// Effect of input on a receiver in standby.
  enum StandbyInput {
    /// Its first byte wakes the receiver; the bytes that do so are lost.
    case wakes
    /// The receiver executes it.
    case executed
    /// None.
    case ignored
  }

  /// Address of the sentence that requests standby.
  var standbyRequest: String
  /// Effect of input in standby.
  var standbyInput = StandbyInput.wakes
  /// Whether the settings are lost in standby.
  var losesSettingsInStandby = false
  /// Sentences after a start, without `$` and checksum.
  var startupSentences: [String] = []
  /// Executes a command: its address and its fields.
  var execute:
    @Sendable (_ address: String, _ fields: [String], _ settings: SentenceSettings) -> [Reaction]

  /// Line speeds that the commands of most families can set, baud.
  static let speeds = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]

  /// A rejection with its answer.
  static func rejection(of command: String, _ reason: String, _ answer: String) -> [Reaction] {
    [.violation("the receiver rejected command \(command): \(reason)"), .answer(answer)]
  }
}

extension ReceiverFamily {
  /// Behaviour of a simulated receiver; nil for a family without proprietary sentences.
  var simulatedSentences: SimulatedSentences? {
    switch self {
    case .mtk: .mediaTek
    case .airoha: .airoha
    case .casic: .casic
    case .teseo: .teseo
    case .ubloxM10, .ubloxM8, .passive: nil
    }
  }
}

/// A number with at least three digits.
func threeDigits(_ number: Int) -> String {
  String(repeating: "0", count: max(0, 3 - "\(number)".count)) + "\(number)"
}
