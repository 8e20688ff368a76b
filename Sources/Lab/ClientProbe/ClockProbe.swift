import Glibc

// chronyd's end of a reference clock, and the receiver's pulse per second, by the same system clock.

/// Microseconds of the system clock.
private func wall_us() -> Int64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

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

/// Generates a pulse on a line of `gpio-sim` at each whole second of the system clock, and receives samples. Prints
/// `pulse BEFORE AFTER`, the times before and after the rising edge, and `sample TIME OFFSET`, in microseconds.
func receiveClockSamples(_ path: String, line: String, seconds: Int) -> Int32 {
  let descriptor = openReferenceClock(path)
  guard descriptor >= 0 else { return EX_UNAVAILABLE }
  var message = [UInt8](repeating: 0, count: 64)
  for _ in 0..<seconds {
    let next_us = (wall_us() / 1_000_000 + 1) * 1_000_000
    while true {
      let left_us = next_us - wall_us()
      if left_us <= 0 { break }
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
    let before_us = wall_us()
    pull(line, true)
    let after_us = wall_us()
    pull(line, false)
    printLine("pulse \(before_us) \(after_us)")
  }
  return 0
}
