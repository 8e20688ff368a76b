// UBX-CFG-VALGET: the host polls keys in one layer, and the receiver answers with their values. Layouts: u-blox F9 HPG
// 1.32 interface description, UBX-22008968, section 3.10.25; M10 SPG 5.10 (UBX-21035062) has the same message.

/// Layer that a CFG-VALGET reads. Raw values: the field `layer`, a number and not the bit field of ``UBXLayers``.
@frozen public enum UBXPolledLayer: UInt8, Sendable {
  /// The values in effect.
  case ram = 0
  /// Battery-backed RAM.
  case batteryBacked = 1
  /// Flash.
  case flash = 2
  /// The receiver's defaults.
  case defaults = 7
}

/// CFG-VALGET of a host: a layer and up to 64 keys, the protocol's limit.
public struct UBXConfigurationPoll: Sendable {
  /// Maximum number of keys in one message.
  public static let capacity = 64

  /// Layer to read.
  public let layer: UBXPolledLayer
  private var keys: InlineArray<64, UInt32>
  /// Number of keys, 0 to ``capacity``.
  public private(set) var count: Int

  /// Creates a poll without keys.
  public init(layer: UBXPolledLayer) {
    self.layer = layer
    keys = InlineArray(repeating: 0)
    count = 0
  }

  /// Creates a poll of the keys that `configuration` sets.
  public init(layer: UBXPolledLayer, keysOf configuration: UBXConfiguration) {
    self.init(layer: layer)
    for i in 0..<configuration.count { append(configuration[i].key) }
  }

  /// Appends a key.
  ///
  /// - Precondition: ``count`` is below ``capacity``.
  public mutating func append(_ key: UInt32) {
    precondition(count < UBXConfigurationPoll.capacity, "CFG-VALGET holds at most 64 keys")
    keys[count] = key
    count += 1
  }

  /// The key at `index`, which is below ``count``.
  public subscript(index: Int) -> UInt32 {
    precondition(index < count, "past the last key")
    return keys[index]
  }

  /// Reads a payload; nil if its version, layer or length is invalid, or if it skips keys.
  init?(_ p: Span<UInt8>) {
    guard p.count >= 8, (p.count - 4) % 4 == 0, p[0] == 0, p.u2(2) == 0,
      let layer = UBXPolledLayer(rawValue: p[1]),
      (p.count - 4) / 4 <= UBXConfigurationPoll.capacity
    else { return nil }
    self.init(layer: layer)
    var i = 4
    while i < p.count {
      append(p.u4(i))
      i += 4
    }
  }
}

extension UBXConfigurationPoll: Equatable {
  /// Whether layer and keys are equal, in the same order.
  public static func == (a: UBXConfigurationPoll, b: UBXConfigurationPoll) -> Bool {
    guard a.layer == b.layer, a.count == b.count else { return false }
    for i in 0..<a.count where a[i] != b[i] { return false }
    return true
  }
}

/// CFG-VALGET of a receiver: the values of up to ``capacity`` keys in one layer.
///
/// Stores as many pairs as a driver polls at once, and no value of 8 bytes: more would enlarge every ``GNSSMessage``.
public struct UBXConfigurationValues: Sendable {
  /// Maximum number of pairs. The decoder reports a longer answer as unknown.
  public static let capacity = 9

  private var keys = InlineArray<9, UInt32>(repeating: 0)
  private var values = InlineArray<9, UInt32>(repeating: 0)
  private var pairs: UInt8 = 0
  /// The protocol's number of the layer (``UBXPolledLayer``).
  public let layer: UInt8

  /// Result of reading a payload.
  enum Reading {
    case values(UBXConfigurationValues)
    /// Valid, but longer than ``capacity``, with a value of 8 bytes, or a continuation.
    case unsupported
    case malformed
  }

  /// Number of pairs, 0 to ``capacity``.
  public var count: Int { Int(pairs) }

  /// The pair at `index`, which is below ``count``.
  public subscript(index: Int) -> UBXConfigurationItem {
    precondition(index < count, "past the last pair")
    return UBXConfigurationItem(key: keys[index], value: UInt64(values[index]))
  }

  /// Whether the answer has all items of `configuration`, with the same values, in any order. O(items × ``capacity``).
  public func contains(_ configuration: UBXConfiguration) -> Bool {
    for i in 0..<configuration.count where !contains(configuration[i]) { return false }
    return true
  }

  private func contains(_ item: UBXConfigurationItem) -> Bool {
    for i in 0..<count where keys[i] == item.key { return UInt64(values[i]) == item.value }
    return false
  }

  private init(layer: UInt8) { self.layer = layer }

  /// Reads a payload.
  static func read(_ p: Span<UInt8>) -> Reading {
    guard p.count >= 4, p[0] == 1 else { return .malformed }
    var answer = UBXConfigurationValues(layer: p[1])
    var isSupported = p.u2(2) == 0
    var i = 4
    while i < p.count {
      guard p.count - i >= 4, let size = UBXConfigurationItem.valueSize(of: p.u4(i)),
        p.count - i >= 4 + size
      else { return .malformed }
      if size <= 4, answer.count < capacity {
        answer.append(p.u4(i), value(p, i + 4, size))
      } else {
        isSupported = false
      }
      i += 4 + size
    }
    return isSupported ? .values(answer) : .unsupported
  }

  private static func value(_ p: Span<UInt8>, _ start: Int, _ size: Int) -> UInt32 {
    var value: UInt32 = 0
    for j in 0..<size { value |= UInt32(p[start + j]) << UInt32(8 * j) }
    return value
  }

  private mutating func append(_ key: UInt32, _ value: UInt32) {
    keys[count] = key
    values[count] = value
    pairs += 1
  }
}

extension UBXConfigurationValues: Equatable {
  /// Whether layer and pairs are equal, in the same order.
  public static func == (a: UBXConfigurationValues, b: UBXConfigurationValues) -> Bool {
    guard a.layer == b.layer, a.count == b.count else { return false }
    for i in 0..<a.count where a[i] != b[i] { return false }
    return true
  }
}

extension FrameBuffer {
  /// Appends a CFG-VALGET of a host: 12 bytes and 4 for each key.
  public mutating func appendConfigurationPoll(_ poll: UBXConfigurationPoll) {
    let start = beginUBX(.cfgVALGET)
    append(0)
    append(poll.layer.rawValue)
    append(littleEndian: UInt16(0))
    for i in 0..<poll.count { append(littleEndian: poll[i]) }
    endUBX(start)
  }

  /// Appends the answer of a receiver: the items of `configuration`, as values in the layer of this number.
  public mutating func appendConfigurationValues(_ configuration: UBXConfiguration, layer: UInt8) {
    let start = beginUBX(.cfgVALGET)
    append(1)
    append(layer)
    append(littleEndian: UInt16(0))
    append(itemsOf: configuration)
    endUBX(start)
  }
}
