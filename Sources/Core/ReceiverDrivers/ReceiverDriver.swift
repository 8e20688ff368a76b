import GNSSProtocols
import LocationTypes

/// Driver for the receiver family in the board's profile: configures, wakes, drains and powers off the receiver.
///
/// Use: call `handle` for each event; execute the effects (pin, line speed, then write `outgoing`, which the next
/// `handle` clears); call `nextReleasedEpoch()` until it returns nil; read ``status``. For each decoded epoch, call
/// `admit` after `handle` of its message. Stores one driver of each kind instead of an enum with payloads, so that a
/// step copies no driver.
public struct ReceiverDriver: ~Copyable, Sendable {
  private let commandProtocol: CommandProtocol
  /// Whether the driver uses ``DriverEvent/message(_:)``. If false, the caller may omit these events.
  public let usesMessages: Bool
  private var ublox: UBloxDriver
  private var sentences: SentenceDriver
  private var passive: PassiveDriver
  /// Current status, updated by every mutating method.
  ///
  /// Stored, because the engine reads it several times in a step.
  public private(set) var status: DriverStatus

  /// Creates a driver for the receiver family in `setup`.
  public init(_ setup: ReceiverSetup) {
    commandProtocol = setup.family.descriptor.commandProtocol
    usesMessages = commandProtocol != .none
    ublox = UBloxDriver(setup)
    sentences = SentenceDriver(setup)
    passive = PassiveDriver(setup)
    switch commandProtocol {
    case .ubx: status = ublox.status
    case .sentences: status = sentences.status
    case .none: status = passive.status
    }
  }

  /// Bytes to write now; cleared by the next `handle`.
  public var outgoing: FrameBuffer {
    switch commandProtocol {
    case .ubx: ublox.outgoing
    case .sentences: sentences.outgoing
    case .none: FrameBuffer()
    }
  }

  /// Event counters since creation.
  public var counters: DriverCounters {
    switch commandProtocol {
    case .ubx: ublox.counters
    case .sentences: sentences.counters
    case .none: passive.counters
    }
  }

  /// Writes of the configuration to the receiver's flash, by this driver and earlier ones.
  public var flashRecord: FlashRecord {
    switch commandProtocol {
    case .sentences: sentences.flash.record
    case .ubx, .none: FlashRecord()
    }
  }

  /// Handles an event and returns the effects to execute. O(1).
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    switch commandProtocol {
    case .ubx:
      let effects = ublox.handle(event, at: now)
      status = ublox.status
      return effects
    case .sentences:
      let effects = sentences.handle(event, at: now)
      status = sentences.status
      return effects
    case .none:
      let effects = passive.handle(event, at: now)
      status = passive.status
      return effects
    }
  }

  /// Sets UTC at the zero of the boot clock, in µs since 1970. The driver sends the time to a receiver that was
  /// powered off (PWR-8). Without it, the driver restores no assistance data.
  public mutating func setClock(bootUTC_us: Int64) { ublox.setClock(bootUTC_us: bootUTC_us) }

  /// Records that an earlier run of the service may have left undelivered fixes in the receiver's batch buffer. Call it
  /// before the first event.
  public mutating func expectBufferedFixes() {
    switch commandProtocol {
    case .ubx:
      ublox.expectBufferedFixes()
      status = ublox.status
    case .sentences, .none: break
    }
  }

  /// Records that output of the receiver up to `now` was lost, so that its silence means nothing.
  public mutating func restartSilenceTimeout(at now: Instant) {
    switch commandProtocol {
    case .ubx:
      ublox.restartSilenceTimeout(at: now)
      status = ublox.status
    case .sentences:
      sentences.restartSilenceTimeout(at: now)
      status = sentences.status
    case .none: break
    }
  }

  /// Decides whether an epoch from the assembler is accepted, held or dropped.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch commandProtocol {
    case .ubx:
      let admission = ublox.admit(epoch, at: now)
      status = ublox.status
      return admission
    case .sentences: return sentences.admit(epoch, at: now)
    case .none: return passive.admit(epoch, at: now)
    }
  }

  /// Removes and returns the oldest held epoch that is released; nil if none is.
  public mutating func nextReleasedEpoch() -> Epoch? {
    guard status.hasReleasedEpoch else { return nil }
    switch commandProtocol {
    case .ubx:
      let epoch = ublox.nextReleasedEpoch()
      status = ublox.status
      return epoch
    case .sentences, .none: return nil
    }
  }
}
