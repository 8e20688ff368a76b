/// Configuration layers that CFG-VALSET writes: RAM, battery-backed RAM, flash.
///
/// No `OptionSet`, because its array literals need a heap: combine with ``union(_:)``.
@frozen public struct UBXLayers: Equatable, Sendable {
  /// The protocol's bit field.
  public var rawValue: UInt8

  /// Creates a set from the protocol's bit field.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Lost when the receiver loses power or goes into software standby.
  public static let ram = UBXLayers(rawValue: 1)
  /// Kept while the backup supply lasts.
  public static let batteryBacked = UBXLayers(rawValue: 2)
  /// Kept permanently, if the module has flash.
  public static let flash = UBXLayers(rawValue: 4)

  /// The layers of both.
  @inlinable public func union(_ other: UBXLayers) -> UBXLayers {
    UBXLayers(rawValue: rawValue | other.rawValue)
  }

  /// Whether the set contains all layers of `other`.
  @inlinable public func contains(_ other: UBXLayers) -> Bool {
    rawValue & other.rawValue == other.rawValue
  }
}

/// A configuration key of the receiver with its value.
@frozen public struct UBXConfigurationItem: Equatable, Sendable {
  /// Key identifier; bits 28 to 30 encode the size of the value.
  public var key: UInt32
  /// Value; signed ones in two's complement, R4 and R8 as bit patterns.
  public var value: UInt64

  /// Size of the value of a key, 1, 2, 4 or 8 bytes; nil for an invalid key.
  @inlinable public static func valueSize(of key: UInt32) -> Int? {
    switch key >> 28 & 7 {
    case 1, 2: 1
    case 3: 2
    case 4: 4
    case 5: 8
    case _: nil
    }
  }
}

/// Content of a CFG-VALSET: layers and up to 64 items, the protocol's limit.
public struct UBXConfiguration: Sendable {
  /// Maximum number of items in one message.
  public static let capacity = 64

  /// Layers to write.
  public var layers: UBXLayers
  private var keys: InlineArray<64, UInt32>
  private var values: InlineArray<64, UInt64>
  /// Number of items, 0 to ``capacity``.
  public private(set) var count: Int

  /// Creates a configuration without items.
  public init(layers: UBXLayers) {
    self.layers = layers
    keys = InlineArray(repeating: 0)
    values = InlineArray(repeating: 0)
    count = 0
  }

  /// Appends an item; the value is truncated to the size encoded in the key.
  ///
  /// - Precondition: ``count`` is below ``capacity``, and the key encodes a valid size.
  public mutating func set(_ key: UInt32, _ value: UInt64) {
    precondition(count < UBXConfiguration.capacity, "CFG-VALSET holds at most 64 items")
    guard let size = UBXConfigurationItem.valueSize(of: key) else {
      preconditionFailure("the key encodes no valid value size")
    }
    keys[count] = key
    values[count] = size == 8 ? value : value & (1 << UInt64(size * 8) - 1)
    count += 1
  }

  /// The item at `index`, which is below ``count``.
  public subscript(index: Int) -> UBXConfigurationItem {
    precondition(index < count, "past the last item")
    return UBXConfigurationItem(key: keys[index], value: values[index])
  }

  /// Value of the last item with that key; nil if none exists. O(items).
  public func value(of key: UInt32) -> UInt64? {
    var found: UInt64?
    for i in 0..<count where keys[i] == key { found = values[i] }
    return found
  }
}

extension UBXConfiguration: Equatable {
  /// Whether layers and items are equal, in the same order.
  public static func == (a: UBXConfiguration, b: UBXConfiguration) -> Bool {
    guard a.layers == b.layers, a.count == b.count else { return false }
    for i in 0..<a.count where a[i] != b[i] { return false }
    return true
  }
}

/// UBX-RXM-PMREQ: commands the receiver into software standby.
@frozen public struct UBXPowerRequest: Equatable, Sendable {
  /// Duration, ms; 0 means until a wake-up source triggers.
  public var duration_ms: UInt32
  /// Flag backup (bit 1).
  public var isBackup: Bool
  /// Flag force (bit 2): even if the receiver is connected by USB.
  public var isForced: Bool
  /// Wake-up sources: bit 3 UART RX, bit 5 EXTINT0, bit 6 EXTINT1, bit 7 SPI chip select.
  public var wakeupSources: UInt32
  /// Whether the request has the 8-byte form, without wake-up sources, instead of the 16-byte form.
  public var isShortForm = false

  /// Wakes by a byte on UART RX.
  public static let wakesByUART: UInt32 = 1 << 3
  /// Wakes by an edge on EXTINT0.
  public static let wakesByEXTINT0: UInt32 = 1 << 5

  /// Creates a request; the default is forced standby until a wake-up source triggers.
  @inlinable public init(
    duration_ms: UInt32 = 0, isBackup: Bool = true, isForced: Bool = true, wakeupSources: UInt32
  ) {
    self.duration_ms = duration_ms
    self.isBackup = isBackup
    self.isForced = isForced
    self.wakeupSources = wakeupSources
  }
}
