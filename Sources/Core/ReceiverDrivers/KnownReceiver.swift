import LocationTypes

/// Power state of the receiver, as far as known.
enum KnownPower: UInt8, Sendable {
  case off, unknown, asleep, awake
}

/// Known state of a receiver that accepts commands, of any family.
///
/// Problem. The driver cannot read the receiver's state. It infers it from answers, from epochs and from silence, and it
/// must not assume more than they show: after a loss of supply the receiver has neither our configuration nor our baud
/// rate.
///
/// Invariants. An answer, or a wake-up from a standby in which the baud rate was kept, makes it responsive; only an
/// answer makes it configured. A receiver that stays awake after a standby command counts as responsive exactly if the
/// host uses the configured baud rate. ``streamSpeed`` is set only by a loss before which epochs arrived without an
/// answer (PWR-12).
///
/// | event | ends |
/// |---|---|
/// | silence while tracking | responsive, configured |
/// | confirmed standby, or power-off | responsive, configured |
/// | loss | responsive, configured |
/// | live output or a start notice that shows a lost configuration | configured |
/// | staying awake after a standby command | configured; responsive, if the baud rate differs |
///
/// Ownership. Part of ``ReceiverLink``; only the methods write the properties.
struct KnownReceiver: Sendable {
  private(set) var power: KnownPower
  /// Whether the receiver is assumed to answer at the line's baud rate.
  private(set) var isResponsive = false
  /// Whether our configuration was acknowledged or read back and, as far as known, the receiver still has it.
  private(set) var isConfigured = false
  /// Time at which the configuration was acknowledged or read back. Epochs from before are not accepted.
  private(set) var configuredAt = Instant.boot
  /// Baud rate at which epochs arrived since the last answer or loss; nil if none arrived.
  private var receivedSpeed: UInt32?
  /// Baud rate of a receiver that sends epochs but answers no command (PWR-12); nil otherwise. Set when the driver
  /// declares the receiver lost, until the receiver answers or is declared lost without having sent epochs.
  private(set) var streamSpeed: UInt32?

  init(power: KnownPower) { self.power = power }

  /// Records a power state in which the rest of the known state is unchanged.
  mutating func assumePower(_ power: KnownPower) { self.power = power }

  /// Records that the receiver answered at the line's baud rate.
  mutating func markResponsive() {
    receivedSpeed = nil
    streamSpeed = nil
    isResponsive = true
  }

  /// Records that the receiver is awake; `isResponsive`: and uses the line's baud rate.
  mutating func markAwake(isResponsive: Bool) {
    power = .awake
    self.isResponsive = isResponsive
  }

  /// Records that the receiver acknowledged our configuration, or that it was read back.
  mutating func markConfigured(at now: Instant) {
    isConfigured = true
    configuredAt = now
  }

  /// Records that the receiver may have lost our configuration.
  mutating func markUnconfigured() { isConfigured = false }

  /// Records silence: the receiver may have been reset.
  mutating func markSilent() {
    isResponsive = false
    isConfigured = false
  }

  /// Records an epoch without our configuration, received at this baud rate.
  ///
  /// A receiver that answers but rejects the configuration is not a streaming receiver.
  mutating func recordStream(at speed: UInt32?) {
    if !isResponsive { receivedSpeed = speed }
  }

  /// Records that the receiver is lost; `mayStream`: and streams if it has sent epochs.
  mutating func markLost(mayStream: Bool) {
    markSilent()
    power = .unknown
    streamSpeed = mayStream ? receivedSpeed : nil
    receivedSpeed = nil
  }
}
