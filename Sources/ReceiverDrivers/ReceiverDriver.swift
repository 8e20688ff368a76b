import GNSSProtocols
import LocationTypes

/// A driver of whichever family the profile names.
///
/// Use: `handle` each event; execute the effects (pin, then line speed, then write `outgoing`, which
/// the next `handle` clears); call `nextHeld()` until nil; look at `deadline`. An epoch is asked for
/// by `admit` after its message was handled.
public enum ReceiverDriver: Sendable {
  /// u-blox M10.
  case ubloxM10(UBloxM10Driver)
  /// Takes no commands.
  case passive(PassiveDriver)

  /// Creates the driver of the setup's family.
  public init(_ setup: ReceiverSetup) {
    switch setup.family {
    case .ubloxM10: self = .ubloxM10(UBloxM10Driver(setup))
    case .passive: self = .passive(PassiveDriver(setup))
    }
  }

  /// When it must be stepped with `.deadline`; nil when only events move it.
  public var deadline: Instant? {
    switch self {
    case .ubloxM10(let driver): driver.deadline
    case .passive(let driver): driver.deadline
    }
  }

  /// Bytes to write now; cleared by the next `handle`.
  public var outgoing: FrameBuffer {
    switch self {
    case .ubloxM10(let driver): driver.outgoing
    case .passive(let driver): driver.outgoing
    }
  }

  /// Whether there are bytes to write now.
  public var hasOutput: Bool {
    switch self {
    case .ubloxM10(let driver): driver.outgoing.count > 0
    case .passive: false
    }
  }

  /// Whether the receiver may hold fixes that have not been drained.
  public var buffersFixes: Bool {
    switch self {
    case .ubloxM10(let driver): driver.buffersFixes
    case .passive(let driver): driver.buffersFixes
    }
  }

  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
  public var isSettled: Bool {
    switch self {
    case .ubloxM10(let driver): driver.isSettled
    case .passive(let driver): driver.isSettled
    }
  }

  /// Whether the receiver's buffer is being emptied.
  public var isDraining: Bool {
    switch self {
    case .ubloxM10(let driver): driver.isDraining
    case .passive(let driver): driver.isDraining
    }
  }

  /// What has happened so far.
  public var counters: DriverCounters {
    switch self {
    case .ubloxM10(let driver): driver.counters
    case .passive(let driver): driver.counters
    }
  }

  /// Takes an event in and gives what is to be done; O(1).
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    switch self {
    case .ubloxM10(var driver):
      let effects = driver.handle(event, at: now)
      self = .ubloxM10(driver)
      return effects
    case .passive(var driver):
      let effects = driver.handle(event, at: now)
      self = .passive(driver)
      return effects
    }
  }

  /// What to do with an epoch that the decoder produced.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch self {
    case .ubloxM10(var driver):
      let admission = driver.admit(epoch, at: now)
      self = .ubloxM10(driver)
      return admission
    case .passive(var driver):
      let admission = driver.admit(epoch, at: now)
      self = .passive(driver)
      return admission
    }
  }

  /// The next epoch that was held and is free now, oldest first.
  public mutating func nextHeld() -> Epoch? {
    switch self {
    case .ubloxM10(var driver):
      let epoch = driver.nextHeld()
      self = .ubloxM10(driver)
      return epoch
    case .passive(var driver):
      let epoch = driver.nextHeld()
      self = .passive(driver)
      return epoch
    }
  }
}
