import Glibc
import LocationTypes

/// Which boot of the board this is, as the kernel tells one from the other (`boot_id`).
public struct BootIdentity: Equatable, Sendable {
  /// A number made of it, above 0; two boots have the same with a chance of 1 in 2⁶².
  public let number: Int64

  /// The boot of a number that was kept.
  init(number: Int64) { self.number = number }

  /// The boot of the text that the kernel names it by.
  public init(id: some Sequence<UInt8>) {
    var hash = FNV1a()
    for byte in id { hash.add(byte) }
    number = Int64(hash.value >> 2) + 1
  }

  /// This boot.
  ///
  /// - Throws: ``SystemError`` where the kernel does not tell, as without `/proc`.
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
