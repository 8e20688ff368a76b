import CLinux
import Glibc
import TextFormats

// chronyd's end of a reference clock, and the receiver's pulse per second, by the same system clock.

/// Opens a datagram socket at `path`, as chronyd does.
private func openReferenceClock(_ path: String) -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
  _ = unsafe unlink(path)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
  let result = unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  return result == 0 ? descriptor : -1
}

/// Sets the level of a line of `gpio-sim`.
private func pull(_ path: String, _ isUp: Bool) {
  let descriptor = unsafe open(path, O_WRONLY)
  let text = isUp ? "pull-up" : "pull-down"
  _ = unsafe write(descriptor, text, text.utf8.count)
  close(descriptor)
}

/// Generates a pulse on a line of `gpio-sim` at each whole second of UTC, which is the boot clock plus `utcAtBoot_us`,
/// and receives samples. Prints `clock OFFSET` once, the system clock minus the boot clock; then
/// `pulse BEFORE AFTER`, the times before and after the rising edge, and `sample TIME OFFSET`, in microseconds of the
/// system clock.
///
/// - Parameter line: `-` for no pulses.
func receiveClockSamples(_ path: String, line: String, utcAtBoot_us: Int64, seconds: Int) -> Int32 {
  let descriptor = openReferenceClock(path)
  guard descriptor >= 0 else { return EX_UNAVAILABLE }
  printLine("clock \(clinux_wall_us() - clinux_boot_us())")
  var second = (clinux_boot_us() + utcAtBoot_us) / 1_000_000
  for _ in 0..<seconds {
    second += 1
    receiveSamples(descriptor, until_us: second * 1_000_000 - utcAtBoot_us)
    guard line != "-" else { continue }
    let before_us = clinux_wall_us()
    pull(line, true)
    let after_us = clinux_wall_us()
    pull(line, false)
    printLine("pulse \(before_us) \(after_us)")
  }
  return 0
}

/// Prints samples until a time of the boot clock.
private func receiveSamples(_ descriptor: Int32, until_us: Int64) {
  var message = [UInt8](repeating: 0, count: 64)
  while true {
    let left_us = until_us - clinux_boot_us()
    if left_us <= 0 { return }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, Int32(left_us / 1_000)) > 0 else { continue }
    let count = unsafe recv(descriptor, &message, message.count, Int32(MSG_DONTWAIT))
    guard count == 40 else { continue }
    unsafe message.withUnsafeBytes {
      let time_us =
        unsafe $0.load(as: Int64.self) * 1_000_000 + $0.load(fromByteOffset: 8, as: Int64.self)
      let offset = unsafe $0.load(fromByteOffset: 16, as: Double.self)
      printLine("sample \(time_us) \(Int64((offset * 1e6).rounded()))")
    }
  }
}
