import GNSSProtocols
import LocationTypes

// Commands of MediaTek, Airoha and CASIC receivers. Sources of the sentences: Docs/Reference/receivers.md.

/// Set of proprietary NMEA sentences that a receiver accepts.
enum SentenceDialect: UInt8, Sendable {
  /// `$PMTK`: the receiver answers each command with `$PMTK001`.
  case pmtk
  /// `$PAIR`: the receiver answers each command with `$PAIR001`.
  case pair
  /// `$PCAS`: the receiver answers only `$PCAS06`, the firmware query. The driver therefore appends this query to each
  /// command; its answer shows that the receiver has processed the line up to there.
  case pcas

  init(_ family: ReceiverFamily) {
    switch family {
    case .mtk: self = .pmtk
    case .airoha: self = .pair
    // `ReceiverDriver` also creates a `SentenceDriver` for the other families, but never uses it.
    case .casic, .passive, .ubloxM8, .ubloxM10: self = .pcas
    }
  }
}

/// Command to a receiver with proprietary NMEA sentences.
enum SentenceCommand: ReceiverCommand {
  /// No command.
  case none
  /// Query that the receiver answers in any state.
  case probe
  /// Bytes or a sentence that wakes the receiver.
  case wakeUp
  /// Set the baud rate.
  case lineSpeed(UInt32)
  /// Restart the receiver; an Airoha applies a new baud rate only then.
  case restart
  /// Enable RMC, GGA and GSA only, and set the rate.
  case configuration
  /// Enter standby until woken.
  case standby
}

/// Answer to a command.
enum SentenceAnswer: CommandAnswer {
  /// `$PMTK001` or `$PAIR001` with this command number.
  case result(UInt16)
  /// Text with the firmware version.
  case firmware

  /// The command number; for `firmware` a number that no command has.
  var kind: UInt16 {
    switch self {
    case .result(let command): command
    case .firmware: .max
    }
  }
}

extension SentenceCommand {
  /// Number of sentence types that an Airoha configures individually: GGA, GLL, GSA, GSV, RMC, VTG, numbered from 0.
  private static let airohaSentenceCount: UInt8 = 6

  /// Maximum standby time of a CASIC receiver, seconds.
  static let maximumStandby_s: Int64 = 65_535
  static let maximumStandby = Interval.seconds(maximumStandby_s)

  func partCount(for setup: ReceiverSetup) -> UInt8 {
    guard self == .configuration else { return 1 }
    switch SentenceDialect(setup.family) {
    case .pmtk, .pcas: return 2
    case .pair: return SentenceCommand.airohaSentenceCount + 1
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
    case (.configuration, .pair): .result(part < SentenceCommand.airohaSentenceCount ? 62 : 50)
    case (.standby, .pmtk): .result(161)
    case (.standby, .pair): .result(3)
    }
  }

  /// Whether the receiver may reject a part without consequence: a rate that equals its fixed rate.
  func isOptional(part: UInt8, for setup: ReceiverSetup) -> Bool {
    // LC76G of variants PA and PB have a fixed rate of 1 Hz.
    self == .configuration && setup.family == .airoha
      && part == SentenceCommand.airohaSentenceCount && setup.interval_ms == 1_000
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
    // The Airoha's processor accepts commands in standby. A receiver that is already on also answers `$PAIR002`.
    case .probe, .wakeUp: buffer.appendPAIR(2)
    case .lineSpeed(let speed): buffer.appendPAIR(864, 0, 0, Int64(speed))
    case .restart: buffer.appendPAIR(23)
    case .configuration:
      if part < SentenceCommand.airohaSentenceCount {
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
    case .lineSpeed(let speed): buffer.appendPCAS(1, SentenceCommand.baudRateCode(speed))
    case .configuration:
      if part == 0 {
        buffer.appendPCASOutput()
      } else {
        buffer.appendPCAS(2, Int64(setup.interval_ms))
      }
    // The longest possible time: 18 hours.
    case .standby: buffer.appendPCAS(12, SentenceCommand.maximumStandby_s)
    }
  }

  /// Any byte wakes the receiver. It loses the first bytes and ignores the others.
  private static func appendWakeBytes(to buffer: inout FrameBuffer) {
    for _ in 0..<8 { buffer.append(0xFF) }
  }

  /// Code of a baud rate in `$PCAS01`; unsupported rates map to 9,600 baud.
  private static func baudRateCode(_ speed: UInt32) -> Int64 {
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
