import CLinux
import Glibc
import LocationTypes

/// Reports the state of the service to the service manager, by the protocol of sd_notify(3).
///
/// Does nothing without a manager (`NOTIFY_SOCKET` unset). One system call for each message; sending never blocks.
public struct ServiceNotifier: ~Copyable {
  /// Maximum time between calls of ``watchdog()``; nil if the watchdog is off.
  ///
  /// Each call costs a wake. Half of this period is a good interval.
  public let watchdogPeriod: Interval?
  /// Negative without a manager.
  private let descriptor: Int32

  /// Connects to the manager named in the environment, if any.
  public init() {
    self.init(
      address: ServiceNotifier.variable("NOTIFY_SOCKET"),
      watchdogPeriod: ServiceNotifier.watchdog(
        microseconds: ServiceNotifier.variable("WATCHDOG_USEC"),
        process: ServiceNotifier.variable("WATCHDOG_PID"), this: getpid()))
  }

  /// Connects to a manager.
  ///
  /// - Parameters:
  ///   - address: A path, or an abstract socket name that starts with `@`; nil for none.
  ///   - watchdogPeriod: The manager's watchdog timeout.
  public init(address: String?, watchdogPeriod: Interval? = nil) {
    var opened: Int32 = -1
    if let address {
      opened = unsafe clinux_datagram_connect(address, address.utf8.count)
    }
    descriptor = max(-1, opened)
    self.watchdogPeriod = opened < 0 ? nil : watchdogPeriod
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether messages are sent to a manager.
  public var isConnected: Bool { descriptor >= 0 }

  /// Reports that the service has started.
  public func ready() { send("READY=1") }
  /// Reports the current activity in one line, for `systemctl status`.
  public func status(_ text: String) {
    send("STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
  }
  /// Reports that the profile is being read again; ``ready()`` follows.
  public func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(clinux_monotonic_us())") }
  /// Reports that the service is about to end.
  public func stopping() { send("STOPPING=1") }
  /// Resets the watchdog.
  public func watchdog() { send("WATCHDOG=1") }

  private func send(_ text: String) {
    guard descriptor >= 0 else { return }
    var text = text
    _ = text.withUTF8 { bytes in
      unsafe Glibc.send(
        descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Watchdog period from the environment's values; nil if they are not for this process.
  static func watchdog(microseconds: String?, process: String?, this: Int32) -> Interval? {
    guard let microseconds, let period = Int64(microseconds), period > 0 else { return nil }
    if let process, Int32(process) != this { return nil }
    return Interval(microseconds: period)
  }
}
