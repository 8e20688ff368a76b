/// UBX-MON-VER: versions of the receiver's software and hardware.
///
/// Texts are ASCII, padded with zero bytes, as in the protocol. Of the extensions only the module name
/// and the protocol version are stored, because `BoardDoctor` uses no others.
public struct UBXVersion: Sendable {
  /// Software version, such as `ROM SPG 5.10 (7b202e)`.
  public var software: InlineArray<30, UInt8>
  /// Hardware version, such as `000A0000`.
  public var hardware: InlineArray<10, UInt8>
  /// Module, such as `MAX-M10S`, from the extension `MOD=`; all zero if not reported.
  public var module: InlineArray<16, UInt8>
  /// Protocol version × 100, such as 3410, from the extension `PROTVER=`.
  public var protocolVersion_e2: UInt16?

  /// Creates a version from texts, truncated to their maximum length.
  public init(
    software: StaticString, hardware: StaticString, module: StaticString = "",
    protocolVersion_e2: UInt16? = nil
  ) {
    self.init()
    for i in 0..<min(30, software.utf8CodeUnitCount) {
      unsafe self.software[i] = software.utf8Start[i]
    }
    for i in 0..<min(10, hardware.utf8CodeUnitCount) {
      unsafe self.hardware[i] = hardware.utf8Start[i]
    }
    for i in 0..<min(16, module.utf8CodeUnitCount) {
      unsafe self.module[i] = module.utf8Start[i]
    }
    self.protocolVersion_e2 = protocolVersion_e2
  }

  /// Creates an empty version.
  init() {
    software = InlineArray(repeating: 0)
    hardware = InlineArray(repeating: 0)
    module = InlineArray(repeating: 0)
    protocolVersion_e2 = nil
  }
}

extension UBXVersion: Equatable {
  /// Whether all texts and the protocol version are equal.
  public static func == (a: UBXVersion, b: UBXVersion) -> Bool {
    guard a.protocolVersion_e2 == b.protocolVersion_e2 else { return false }
    for i in 0..<30 where a.software[i] != b.software[i] { return false }
    for i in 0..<10 where a.hardware[i] != b.hardware[i] { return false }
    for i in 0..<16 where a.module[i] != b.module[i] { return false }
    return true
  }
}
