import GNSSProtocols
import LocationTypes

// What MediaTek, Airoha and CASIC receivers are told. Where each sentence was published:
// Docs/Reference/receivers.md.

/// Which sentences a receiver takes.
enum SentenceDialect: UInt8, Sendable {
  /// `$PMTK`: each command is answered by `$PMTK001`.
  case pmtk
  /// `$PAIR`: each command is answered by `$PAIR001`.
  case pair
  /// `$PCAS`: no command is answered but `$PCAS06`, which asks for the firmware. So each is followed by
  /// that: its answer shows that the line up to there was heard.
  case pcas

  init(_ family: ReceiverFamily) {
    switch family {
    case .mtk: self = .pmtk
    case .airoha: self = .pair
    // A driver of another family has one of these too, and never uses it.
    case .casic, .passive, .ubloxM8, .ubloxM10: self = .pcas
    }
  }
}

/// What a receiver that is commanded by sentences is told.
enum SentenceCommand: ReceiverCommand {
  /// Nothing to say.
  case none
  /// Any answer will do.
  case probe
  /// What wakes it.
  case wakeUp
  /// Talk at this speed from now on.
  case lineSpeed(UInt32)
  /// Start anew: an Airoha's line speed changes with that.
  case restart
  /// RMC, GGA and GSA alone, and the rate.
  case configuration
  /// Go to standby until woken.
  case standby
}

/// What answers a command.
enum SentenceAnswer: CommandAnswer {
  /// `$PMTK001` or `$PAIR001` of this number.
  case result(UInt16)
  /// A text with the firmware.
  case firmware

  /// The command's number, or one that no command has.
  var kind: UInt16 {
    switch self {
    case .result(let command): command
    case .firmware: .max
    }
  }
}

extension SentenceCommand {
  /// The sentences that an Airoha is told of: GGA, GLL, GSA, GSV, RMC, VTG, by their numbers.
  private static let airohaSentences: UInt8 = 6

  /// A CASIC sleeps at most so long, seconds.
  static let longestSleep_s: Int64 = 65_535
  static let longestSleep = Interval.seconds(longestSleep_s)

  func parts(for setup: ReceiverSetup) -> UInt8 {
    guard self == .configuration else { return 1 }
    switch SentenceDialect(setup.family) {
    case .pmtk, .pcas: return 2
    case .pair: return SentenceCommand.airohaSentences + 1
    }
  }

  func answer(part: UInt8, for setup: ReceiverSetup) -> SentenceAnswer? {
    switch (self, SentenceDialect(setup.family)) {
    case (.none, _), (.wakeUp, _), (.restart, _), (.standby, .pcas): nil
    case (_, .pcas): .firmware
    case (.probe, .pmtk): .result(0)
    case (.probe, .pair): .result(2)
    case (.lineSpeed, .pmtk): .result(251)
    case (.lineSpeed, .pair): .result(864)
    case (.configuration, .pmtk): .result(part == 0 ? 314 : 220)
    case (.configuration, .pair): .result(part < SentenceCommand.airohaSentences ? 62 : 50)
    case (.standby, .pmtk): .result(161)
    case (.standby, .pair): .result(3)
    }
  }

  /// Whether a part may be refused: a rate that is the receiver's own all the same.
  func isDispensable(part: UInt8, for setup: ReceiverSetup) -> Bool {
    // LC76G of variants PA and PB navigate once a second and know no other rate.
    self == .configuration && setup.family == .airoha
      && part == SentenceCommand.airohaSentences && setup.interval_ms == 1_000
  }

  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer {
    var buffer = FrameBuffer()
    switch SentenceDialect(setup.family) {
    case .pmtk: appendPMTK(part, setup, to: &buffer)
    case .pair: appendPAIR(part, setup, to: &buffer)
    case .pcas:
      appendPCAS(part, setup, to: &buffer)
      if answer(part: part, for: setup) == .firmware, self != .probe { buffer.appendPCAS(6, 0) }
    }
    return buffer
  }

  private func appendPMTK(_ part: UInt8, _ setup: ReceiverSetup, to buffer: inout FrameBuffer) {
    switch self {
    case .none, .restart: break
    case .probe: buffer.appendPMTK(0)
    case .wakeUp: SentenceCommand.appendWakeBytes(to: &buffer)
    case .lineSpeed(let speed): buffer.appendPMTK(251, Int64(speed))
    case .configuration:
      if part == 0 {
        buffer.appendPMTKOutput()
      } else {
        buffer.appendPMTK(220, Int64(setup.interval_ms))
      }
    case .standby: buffer.appendPMTK(161, 0)
    }
  }

  private func appendPAIR(_ part: UInt8, _ setup: ReceiverSetup, to buffer: inout FrameBuffer) {
    switch self {
    case .none: break
    // Its processor hears in standby; what switches the receiver on is answered by one that is on too.
    case .probe, .wakeUp: buffer.appendPAIR(2)
    case .lineSpeed(let speed): buffer.appendPAIR(864, 0, 0, Int64(speed))
    case .restart: buffer.appendPAIR(23)
    case .configuration:
      if part < SentenceCommand.airohaSentences {
        // GGA, GSA and RMC.
        buffer.appendPAIR(62, Int64(part), part == 0 || part == 2 || part == 4 ? 1 : 0)
      } else {
        buffer.appendPAIR(50, Int64(setup.interval_ms))
      }
    case .standby: buffer.appendPAIR(3)
    }
  }

  private func appendPCAS(_ part: UInt8, _ setup: ReceiverSetup, to buffer: inout FrameBuffer) {
    switch self {
    case .none, .restart: break
    case .probe: buffer.appendPCAS(6, 0)
    case .wakeUp: SentenceCommand.appendWakeBytes(to: &buffer)
    case .lineSpeed(let speed): buffer.appendPCAS(1, SentenceCommand.speedNumber(speed))
    case .configuration:
      if part == 0 {
        buffer.appendPCASOutput()
      } else {
        buffer.appendPCAS(2, Int64(setup.interval_ms))
      }
    // As long as it can be: 18 hours.
    case .standby: buffer.appendPCAS(12, SentenceCommand.longestSleep_s)
    }
  }

  /// Any byte wakes; the first ones are lost to it, and the others do no harm.
  private static func appendWakeBytes(to buffer: inout FrameBuffer) {
    for _ in 0..<8 { buffer.append(0xFF) }
  }

  /// The number of a speed in `$PCAS01`; one that it does not have counts as 9,600 baud.
  private static func speedNumber(_ speed: UInt32) -> Int64 {
    switch speed {
    case 4_800: 0
    case 19_200: 2
    case 38_400: 3
    case 57_600: 4
    case 115_200: 5
    case _: 1
    }
  }
}
