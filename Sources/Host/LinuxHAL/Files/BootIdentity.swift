import Glibc
import LocationTypes

/// Identity of one boot of the board, from the kernel's `boot_id`.
public struct BootIdentity: Equatable, Sendable {
  /// Hash of `boot_id`, above 0; two boots have the same one with a probability of 1 in 2⁶².
  public let number: Int64

  /// Creates the identity of a stored number.
  init(number: Int64) { self.number = number }

  /// Creates the identity from the text of `boot_id`.
  public init(id: some Sequence<UInt8>) {
    var hash = FNV1a()
    for byte in id { hash.add(byte) }
    number = Int64(hash.value >> 2) + 1
  }

  /// Reads the identity of the current boot.
  ///
  /// - Throws: ``SystemError`` if the kernel does not provide it, as without `/proc`.
  public static func current() throws(SystemError) -> BootIdentity {
    let path = "/proc/sys/kernel/random/boot_id"
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("opening '\(path)'", code: errno) }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 36)
    let count = unsafe text.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 36) }
    guard count == 36 else { throw SystemError("reading '\(path)'", code: count < 0 ? errno : EIO) }
    return BootIdentity(id: text)
  }
}
