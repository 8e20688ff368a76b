import BoardHardware

extension ProfileRules {
  /// A key that names a GPIO line.
  private struct LineKey: Sendable {
    let key: String
    let line: @Sendable (ProfileDraft) -> String?
  }

  private static let lineKeys: [LineKey] = [
    LineKey(key: "receiver.wake_line") { $0.receiver.wakeLine },
    LineKey(key: "receiver.supply_line") { $0.receiver.supplyLine },
    LineKey(key: "receiver.pulse_line") { $0.receiver.pulseLine },
    LineKey(key: "receiver.batch.line") { $0.batch.line },
    LineKey(key: "motion.line") { $0.motion.line },
    LineKey(key: "battery.low_line") { $0.battery.lowLine },
    LineKey(key: "board.session_light_line") { $0.board.sessionLightLine },
  ]

  /// Each line's text names one, and no line does two things.
  static var lines: [ProfileRule] {
    var rules = lineKeys.map(named)
    for (place, first) in lineKeys.enumerated() {
      rules += lineKeys.dropFirst(place + 1).map { differ(first, $0) }
    }
    return rules
  }

  private static func named(_ key: LineKey) -> ProfileRule {
    ProfileRule(keys: [key.key]) { draft in
      guard let text = key.line(draft), !text.isEmpty else { return nil }
      do throws(GPIOLineError) {
        _ = try GPIOLine(text)
        return nil
      } catch {
        return .init(
          key: key.key, problem: "\"\(text)\" names no GPIO line: \(error.description)",
          expected: "a name or gpiochip0:17, then attributes, each after a comma")
      }
    }
  }

  private static func differ(_ first: LineKey, _ second: LineKey) -> ProfileRule {
    ProfileRule(keys: [first.key, second.key]) { draft in
      guard let one = first.line(draft).flatMap({ try? GPIOLine($0) }),
        let other = second.line(draft).flatMap({ try? GPIOLine($0) }), one.place == other.place
      else { return nil }
      return .init(
        key: second.key, problem: "\(other.text) is the line of \(first.key)",
        expected: "a line of its own")
    }
  }
}
