import GNSSProtocols

/// Configuration keys of the u-blox M10 that the simulated receiver supports (UBX-21035062).
enum ConfigurationKey {
  static let measurementPeriod: UInt32 = 0x3021_0001
  static let navigationRatio: UInt32 = 0x3021_0002
  static let lineSpeed: UInt32 = 0x4052_0001
  static let acceptsUBX: UInt32 = 0x1073_0001
  static let sendsUBX: UInt32 = 0x1074_0001
  static let sendsNMEA: UInt32 = 0x1074_0002
  static let navPVT: UInt32 = 0x2091_0007
  static let navSAT: UInt32 = 0x2091_0016
  static let navDOP: UInt32 = 0x2091_0039
  static let gga: UInt32 = 0x2091_00BB
  static let gll: UInt32 = 0x2091_00CA
  static let gsa: UInt32 = 0x2091_00C0
  static let gsv: UInt32 = 0x2091_00C5
  static let rmc: UInt32 = 0x2091_00AC
  static let vtg: UInt32 = 0x2091_00B1
  static let gst: UInt32 = 0x2091_00D4
  static let zda: UInt32 = 0x2091_00D9
  static let acknowledgesAiding: UInt32 = 0x1011_0025
  static let powerMode: UInt32 = 0x20D0_0001
  static let batchEnable: UInt32 = 0x1026_0013
  static let batchPinEnable: UInt32 = 0x1026_0014
  static let batchEntries: UInt32 = 0x3026_0015
  static let batchWatermark: UInt32 = 0x3026_0016
  static let batchPinActiveLow: UInt32 = 0x1026_0018
  static let batchPin: UInt32 = 0x2026_0019
  static let batchExtraPVT: UInt32 = 0x1026_001A
  static let batchExtraOdometer: UInt32 = 0x1026_001B
}

/// Configuration of the receiver: for u-blox the layers default, battery-backed RAM (BBR) and RAM, otherwise the
/// settings set by sentences; and the settings in effect that are derived from it.
///
/// Invariant: ``active`` is recomputed by commands, and by ``activate()`` when the receiver starts running; until then
/// the old settings stay in effect. It does not change when the receiver stops, because the line keeps its speed.
///
/// Owner: ``SimulatedReceiver``. Only commands, starts, a CASIC's standby and loss of power or configuration change it.
struct ReceiverConfiguration: Sendable {
  private struct Entry: Sendable {
    var key: UInt32
    var defaultValue: UInt64
    var batteryBacked: UInt64?
    var ram: UInt64

    /// Value in a layer; nil if it has none. The simulated receivers have no flash.
    func value(in layer: UBXPolledLayer) -> UInt64? {
      switch layer {
      case .ram: ram
      case .batteryBacked: batteryBacked
      case .flash: nil
      case .defaults: defaultValue
      }
    }
  }

  private let parameters: SimulatedReceiverParameters
  private var entries: [Entry] = []
  /// Settings of a receiver that is controlled by sentences.
  private(set) var sentenceSettings: SentenceSettings
  /// Settings in effect.
  private(set) var active: ActiveConfiguration

  /// Creates the default configuration.
  init(_ figures: SimulatedReceiverParameters) {
    parameters = figures
    sentenceSettings = SentenceSettings(figures)
    active = ActiveConfiguration(interval: figures.interval, speed: figures.defaultSpeed)
    add(ConfigurationKey.measurementPeriod, 1_000)
    add(ConfigurationKey.navigationRatio, 1)
    add(ConfigurationKey.lineSpeed, UInt64(figures.defaultSpeed))
    for key in [ConfigurationKey.acceptsUBX, ConfigurationKey.sendsUBX] { add(key, 1) }
    // Further input protocols: NMEA, RTCM.
    for key: UInt32 in [0x1073_0002, 0x1073_0004] { add(key, 1) }
    add(ConfigurationKey.sendsNMEA, 1)
    for key in [ConfigurationKey.navPVT, ConfigurationKey.navSAT, ConfigurationKey.navDOP] {
      add(key, 0)
    }
    for key in [
      ConfigurationKey.gga, ConfigurationKey.gll, ConfigurationKey.gsa, ConfigurationKey.gsv,
      ConfigurationKey.rmc, ConfigurationKey.vtg,
    ] {
      add(key, 1)
    }
    for key in [ConfigurationKey.gst, ConfigurationKey.zda] { add(key, 0) }
    // NAVSPG: dynamic model, fix mode. PM: periods, on time, flags, EXTINT. TXREADY is not simulated.
    for key: UInt32 in [
      0x2011_0021, 0x2011_0011, 0x40D0_0002, 0x40D0_0003, 0x30D0_0004, 0x30D0_0005,
      0x20D0_0006, 0x10D0_0007, 0x10D0_0008, 0x10D0_0009, 0x10D0_000A, 0x10D0_000B,
      0x10D0_000C, 0x10D0_000D, 0x10D0_000E, 0x40D0_000F,
    ] {
      add(key, 0)
    }
    // SIGNAL: enabled satellite systems.
    for key: UInt32 in [
      0x1031_001F, 0x1031_0001, 0x1031_0020, 0x1031_0005, 0x1031_0021, 0x1031_0007,
      0x1031_0022, 0x1031_000D, 0x1031_000F, 0x1031_0024, 0x1031_0012, 0x1031_0014,
      0x1031_0025, 0x1031_0018,
    ] {
      add(key, 1)
    }
    add(ConfigurationKey.powerMode, 0)
    add(ConfigurationKey.acknowledgesAiding, 0)
    if figures.batchCapacity != nil { addBatch() }
    activate()
  }

  /// Recomputes the settings in effect.
  mutating func activate() { active = ActiveConfiguration(parameters, self) }

  private mutating func addBatch() {
    for key in [
      ConfigurationKey.batchEnable, ConfigurationKey.batchPinEnable,
      ConfigurationKey.batchEntries, ConfigurationKey.batchWatermark,
      ConfigurationKey.batchPinActiveLow, ConfigurationKey.batchPin,
      ConfigurationKey.batchExtraPVT, ConfigurationKey.batchExtraOdometer,
    ] {
      add(key, 0)
    }
  }

  private mutating func add(_ key: UInt32, _ value: UInt64) {
    entries.append(Entry(key: key, defaultValue: value, batteryBacked: nil, ram: value))
  }

  private func index(of key: UInt32) -> Int? { entries.firstIndex { $0.key == key } }

  /// Returns the effective value (RAM layer); 0 for an unsupported key.
  func value(_ key: UInt32) -> UInt64 { index(of: key).map { entries[$0].ram } ?? 0 }

  /// Whether a key's effective value is not zero.
  func isOn(_ key: UInt32) -> Bool { value(key) != 0 }

  /// Returns the first key that is unsupported or whose value is invalid; nil if all items are valid.
  func firstRejected(_ items: UBXConfiguration) -> UInt32? {
    for i in 0..<items.count {
      let item = items[i]
      guard index(of: item.key) != nil else { return item.key }
      let isValid =
        switch item.key {
        case ConfigurationKey.measurementPeriod: (25...65_535).contains(item.value)
        case ConfigurationKey.navigationRatio: (1...127).contains(item.value)
        case ConfigurationKey.lineSpeed: BaudRate.index(of: UInt32(clamping: item.value)) != nil
        case ConfigurationKey.powerMode: item.value <= 2
        case _: item.key >> 28 != 1 || item.value <= 1
        }
      if !isValid { return item.key }
    }
    return nil
  }

  /// Returns the polled values; nil if a key is unsupported, or has no value in the layer.
  func values(of poll: UBXConfigurationPoll) -> UBXConfiguration? {
    var values = UBXConfiguration(layers: .ram)
    for i in 0..<poll.count {
      guard let slot = index(of: poll[i]), let value = entries[slot].value(in: poll.layer) else {
        return nil
      }
      values.set(poll[i], value)
    }
    return values
  }

  /// Writes items.
  ///
  /// - Precondition: ``firstRejected(_:)`` returned nil for them.
  mutating func write(_ items: UBXConfiguration) {
    for i in 0..<items.count {
      let item = items[i]
      guard let slot = index(of: item.key) else { continue }
      if items.layers.contains(.ram) { entries[slot].ram = item.value }
      if items.layers.contains(.batteryBacked) { entries[slot].batteryBacked = item.value }
    }
    activate()
  }

  // MARK: Batching

  /// Why the receiver rejects batching with these items; nil if it accepts them or batching is not enabled.
  func batchingRejection(_ items: UBXConfiguration) -> String? {
    guard let limit = parameters.batchCapacity else { return nil }
    func value(_ key: UInt32) -> UInt64 { items.value(of: key) ?? self.value(key) }
    guard value(ConfigurationKey.batchEnable) != 0 else { return nil }
    let entries = value(ConfigurationKey.batchEntries)
    let maximum = limit.entries(
      hasExtraPVT: value(ConfigurationKey.batchExtraPVT) != 0,
      hasOdometer: value(ConfigurationKey.batchExtraOdometer) != 0)
    guard entries >= 1, entries <= UInt64(maximum) else {
      return "a batch buffer of \(entries) epochs; the allowed range is 1 to \(maximum)"
    }
    let watermark = value(ConfigurationKey.batchWatermark)
    guard watermark <= entries else {
      return "a watermark of \(watermark), above the batch buffer of \(entries) epochs"
    }
    return nil
  }

  /// Whether items contain a key whose change clears the batch buffer.
  static func affectsBatching(_ items: UBXConfiguration) -> Bool {
    [
      ConfigurationKey.batchEnable, ConfigurationKey.batchEntries, ConfigurationKey.batchExtraPVT,
      ConfigurationKey.batchExtraOdometer,
    ].contains { items.value(of: $0) != nil }
  }

  // MARK: Layers

  /// Copies the RAM layer to battery-backed RAM (CFG-CFG save).
  mutating func save() {
    for i in entries.indices { entries[i].batteryBacked = entries[i].ram }
  }

  /// Loads the RAM layer from the layers below, as at a start.
  mutating func loadRAM() {
    for i in entries.indices {
      entries[i].ram = entries[i].batteryBacked ?? entries[i].defaultValue
    }
  }

  /// Clears battery-backed RAM, because the backup domain lost its power.
  mutating func clearBatteryBacked() {
    for i in entries.indices { entries[i].batteryBacked = nil }
  }

  // MARK: Sentence settings

  /// Changes the settings of a receiver that is controlled by sentences.
  mutating func updateSentenceSettings(_ edit: (inout SentenceSettings) -> Void) {
    edit(&sentenceSettings)
    activate()
  }

  /// Restores the sentence settings after a loss of RAM. They take effect at the next start.
  mutating func loseSentenceSettings() { sentenceSettings.loseRAM() }

  /// Restores the factory settings, including battery-backed RAM and flash. They take effect at the next start.
  mutating func restoreFactorySettings() {
    clearBatteryBacked()
    sentenceSettings.restoreFactorySettings()
  }
}

extension BatchCapacity {
  /// Number of epochs that fit, with optional parts of each.
  fileprivate func entries(hasExtraPVT: Bool, hasOdometer: Bool) -> Int {
    switch (hasExtraPVT, hasOdometer) {
    case (false, false): basic
    case (false, true): odometer
    case (true, false): extraPVT
    case (true, true): both
    }
  }
}
