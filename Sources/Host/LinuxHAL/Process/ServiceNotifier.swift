import CLinux
import Glibc
import LocationTypes

/// Tells the service manager how the service fares, by the protocol of sd_notify(3).
///
/// Does nothing where no manager asks (`NOTIFY_SOCKET` is unset). One system call for each message;
/// a manager that does not listen is not waited for.
public struct ServiceNotifier: ~Copyable {
  /// How often ``watchdog()`` must be called at least; nil where nobody waits for it.
  ///
  /// It costs a wake each time. Half of it is a good rhythm.
  public let watchdogPeriod: Interval?
  /// Negative where nobody asks.
  private let descriptor: Int32

  /// Looks in the environment for a manager.
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
  ///   - address: A path, or a name of the abstract kind that begins with `@`; nil for none.
  ///   - watchdogPeriod: How often it wants to hear that the service lives.
  public init(address: String?, watchdogPeriod: Interval? = nil) {
    var opened: Int32 = -1
    if let address {
      opened = unsafe address.withCString { text in
        unsafe clinux_datagram_connect(text, address.utf8.count)
      }
    }
    descriptor = max(-1, opened)
    self.watchdogPeriod = opened < 0 ? nil : watchdogPeriod
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether anybody is told.
  public var isListenedTo: Bool { descriptor >= 0 }

  /// The service does its work.
  public func ready() { send("READY=1") }
  /// What it does now, in one line, for `systemctl status`.
  public func status(_ text: String) {
    send("STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
  }
  /// It reads its profile anew; ``ready()`` follows.
  public func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(clinux_monotonic_us())") }
  /// It is about to end.
  public func stopping() { send("STOPPING=1") }
  /// It lives.
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

  /// What the watchdog's variables mean for a process.
  static func watchdog(microseconds: String?, process: String?, this: Int32) -> Interval? {
    guard let microseconds, let period = Int64(microseconds), period > 0 else { return nil }
    if let process, Int32(process) != this { return nil }
    return Interval(microseconds: period)
  }
}
