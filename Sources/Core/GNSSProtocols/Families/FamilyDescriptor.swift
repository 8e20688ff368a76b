import LocationTypes

/// Protocol in which a receiver accepts commands.
@frozen public enum CommandProtocol: UInt8, Sendable {
  /// None: the receiver only sends.
  case none
  /// UBX (u-blox).
  case ubx
  /// Proprietary NMEA sentences.
  case sentences
}

/// What the receivers of a family can do beyond sending epochs.
///
/// No `OptionSet`, because its literals are arrays, which need a heap.
@frozen public struct ReceiverCapabilities: Equatable, Sendable {
  /// One bit for each capability.
  public let bits: UInt16

  /// Creates a set from its bits.
  public init(bits: UInt16 = 0) { self.bits = bits }

  /// Whether the set has all capabilities of `other`.
  public func contains(_ other: ReceiverCapabilities) -> Bool { bits & other.bits == other.bits }

  /// The capabilities of both sets.
  public func union(_ other: ReceiverCapabilities) -> ReceiverCapabilities {
    ReceiverCapabilities(bits: bits | other.bits)
  }

  /// Sends epochs as UBX-NAV-PVT as well.
  public static let ubxOutput = ReceiverCapabilities(bits: 1 << 0)
  /// Stores epochs in a batch buffer; ``FamilyDescriptor/batchLimits`` has its size.
  public static let batching = ReceiverCapabilities(bits: 1 << 1)
  /// Has a duty cycle of its own with a fix at each interval.
  public static let dutyCycle = ReceiverCapabilities(bits: 1 << 2)
  /// Sends its navigation database and accepts it back (PWR-8).
  public static let databaseTransfer = ReceiverCapabilities(bits: 1 << 3)
  /// Has a UBX configuration message for each setting instead of CFG-VALSET.
  public static let separateMessages = ReceiverCapabilities(bits: 1 << 4)
  /// Applies a new baud rate at the next start.
  public static let speedAtRestart = ReceiverCapabilities(bits: 1 << 5)
  /// Loads its baud rate and configuration from flash, so ``SentenceCommand/configuration`` only reads them.
  public static let configurationInFlash = ReceiverCapabilities(bits: 1 << 6)
  /// Leaves standby by the wake pin only, not by bytes on its RX.
  public static let needsWakePin = ReceiverCapabilities(bits: 1 << 7)
}

/// Largest batch buffer, in epochs.
@frozen public struct BatchLimits: Equatable, Sendable {
  /// Without the extra PVT fields.
  public var basic: Int
  /// With the extra PVT fields.
  public var extraPVT: Int

  /// Creates limits.
  public init(basic: Int, extraPVT: Int) {
    self.basic = basic
    self.extraPVT = extraPVT
  }

  /// The limit for entries with or without these fields.
  public func entries(extraPVT hasExtraPVT: Bool) -> Int { hasExtraPVT ? extraPVT : basic }
}

/// Fix intervals that the commands of a family can set.
@frozen public enum PermittedIntervals: Sendable {
  /// Each one.
  case any
  /// At most this many milliseconds.
  case upTo(ms: Int64)
  /// These milliseconds, ascending; 0 for an unused place.
  case list(InlineArray<5, Int64>)

  /// Whether the commands can set `interval`.
  public func contains(_ interval: Interval) -> Bool {
    switch self {
    case .any: return true
    case .upTo(let maximum): return interval <= .milliseconds(maximum)
    case .list(let values):
      for i in values.indices where values[i] > 0 && interval == .milliseconds(values[i]) {
        return true
      }
      return false
    }
  }
}

/// How a receiver is made to send its satellites in view.
@frozen public enum SatelliteOutput: Equatable, Sendable {
  /// No command: they come, or not.
  case fixed
  /// A command switches their output on and off, with every nth fix up to this number.
  case switched(longestRate: UInt8)
  /// A command requests them once.
  case requested
}

/// Query for the identity of a receiver with proprietary sentences, and where its answer states it.
public struct IdentityQuery: Sendable {
  /// Where the answer states the model.
  @frozen public enum Model: Equatable, Sendable {
    /// Nowhere.
    case none
    /// In this field.
    case field(Int)
    /// In the release, up to this character.
    case release(upTo: UInt8)
  }

  /// The query without `$` and checksum. It must not change a setting.
  public var query: StaticString
  /// Address of the answer; three letters stand for the sentence type of any talker.
  public var answer: StaticString
  /// First field of the release; 0 is the address.
  public var releaseField = 1
  /// Last field of the release.
  public var lastReleaseField = 1
  /// Text with which the release begins, not part of it; a sentence without it is no answer.
  public var prefix: StaticString = ""
  /// Where the answer states the model.
  public var model = Model.none
}

/// The properties of a receiver family that drivers, profiles, doctor and simulator use: one row of the table of families. Each
/// family's row is in its own file, beside its commands (``SentenceFamily``) and the sources of its facts.
public struct FamilyDescriptor: Sendable {
  /// Value of `family` in a board's profile.
  public var name: StaticString
  /// The maker, in texts for users.
  public var maker: StaticString = ""
  /// Generation of u-blox receivers; empty for other makers.
  public var generation: StaticString = ""
  /// Protocol of the commands, which determines the driver.
  public var commandProtocol = CommandProtocol.none
  /// What the receivers can do beyond sending epochs.
  public var capabilities = ReceiverCapabilities()
  /// Baud rate after power-on of a receiver that was never configured.
  public var defaultBaudRate: UInt32 = 9_600
  /// Another one that some models have.
  public var otherDefaultBaudRate: UInt32 = 9_600
  /// Highest baud rate that the commands can set.
  public var maximumBaudRate: UInt32 = .max
  /// Fix intervals that the commands can set.
  public var intervals = PermittedIntervals.any
  /// Largest batch buffer; nil without one.
  public var batchLimits: BatchLimits?
  /// How satellites in view are obtained.
  public var satelliteOutput = SatelliteOutput.fixed
  /// Query for the identity by a sentence; nil for UBX (MON-VER) and for receivers without commands.
  public var identity: IdentityQuery?
  /// Number of parts of ``SentenceCommand/configuration``, each with its own answer.
  public var configurationParts: UInt8 = 1
  /// Part of the configuration that a receiver with a fixed rate of 1 Hz rejects; nil if no receiver does.
  public var fixedRatePart: UInt8?
  /// Time after which standby ends by itself; nil if it lasts until the receiver is woken.
  public var standbyLimit: Interval?

  /// Whether receivers usually have this speed after power-on. Any other speed was probably set by a program such as
  /// `torpord`.
  public func isUsualDefaultSpeed(_ speed_baud: UInt32) -> Bool {
    commandProtocol == .none || speed_baud == defaultBaudRate || speed_baud == otherDefaultBaudRate
  }
}
