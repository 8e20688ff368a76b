import CLinux
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Signals, readiness and log", .tags(.realTime)) struct ProcessTests {
  // MARK: Signals

  @Test("each signal ends a wait once and is reported as the service's request")
  func signals() throws {
    var before = sigset_t()
    _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &before)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let events = try EventWait()
    var signals = try SignalWatch()
    try events.add(signals.descriptor, as: .firstFree, for: .readable)
    #expect(!events.wait(until: .boot))
    let cases = [(SIGHUP, SignalWatch.Request.reload), (SIGTERM, .stop), (SIGINT, .stop)]
    for (number, request) in cases {
      // To this thread only: threads of other tests do not block the signal.
      #expect(raise(number) == 0)
      #expect(events.wait(until: soon(1_000)))
      #expect(signals.next() == request)
      #expect(signals.next() == nil)
    }
    #expect(!events.wait(until: .boot))
  }

  // MARK: Readiness

  /// The notification socket of a service manager.
  private final class Manager {
    let descriptor: Int32

    init(_ name: String) throws {
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let isAbstract = name.hasPrefix("@")
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
        unsafe path.copyBytes(from: name.utf8)
        if isAbstract { unsafe path[0] = 0 }
      }
      let length = 2 + name.utf8.count + (isAbstract ? 0 : 1)
      let result = unsafe withUnsafePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, socklen_t(length))
        }
      }
      try #require(result == 0)
    }

    deinit { close(descriptor) }

    func next() -> String? {
      var bytes = [UInt8](repeating: 0, count: 1_000)
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
  }

  @Test("the manager is notified at a path and at an abstract address")
  func notifier() throws {
    let folder = TestFolder()
    for name in [folder.file("notify"), "@torpor-test-\(getpid())"] {
      let manager = try Manager(name)
      let notifier = ServiceNotifier(address: name)
      #expect(notifier.isConnected == true)
      notifier.ready()
      notifier.status("3 clients\nreceiver in standby")
      notifier.reloading()
      notifier.watchdog()
      notifier.stopping()
      #expect(manager.next() == "READY=1")
      #expect(manager.next() == "STATUS=3 clients receiver in standby")
      let reloading = manager.next() ?? ""
      #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
      #expect(Int64(reloading.dropFirst("RELOADING=1\nMONOTONIC_USEC=".count)) != nil)
      #expect(manager.next() == "WATCHDOG=1")
      #expect(manager.next() == "STOPPING=1")
      #expect(manager.next() == nil)
    }
  }

  @Test("without a reachable manager, notifications do nothing")
  func noManager() {
    for name in [nil, "", "@", "relative", "vsock:2:1234", "/nowhere/at/all"] as [String?] {
      let notifier = ServiceNotifier(address: name, watchdogPeriod: .seconds(1))
      #expect(notifier.isConnected == false && notifier.watchdogPeriod == nil)
      notifier.ready()
    }
  }

  @Test("the watchdog is active only for the process that it names")
  func watchdog() {
    func period(_ microseconds: String?, _ process: String?) -> Interval? {
      ServiceNotifier.watchdog(microseconds: microseconds, process: process, this: 42)
    }
    #expect(period("30000000", "42") == .seconds(30) && period("30000000", nil) == .seconds(30))
    #expect(period("30000000", "43") == nil && period(nil, "42") == nil)
    #expect(period("0", nil) == nil && period("soon", nil) == nil && period("-1", nil) == nil)
  }

  // MARK: Sockets

  @Test("an accepted socket is non-blocking and has the peer's credentials")
  func peer() throws {
    let folder = TestFolder()
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { for descriptor in [server, client] { close(descriptor) } }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
      unsafe path.copyBytes(from: folder.file("socket").utf8)
    }
    unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        #expect(unsafe bind(server, $0, size) == 0 && listen(server, 1) == 0)
        #expect(unsafe connect(client, $0, size) == 0)
      }
    }
    let accepted = clinux_accept(server)
    try #require(accepted >= 0)
    defer { close(accepted) }
    #expect(fcntl(accepted, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(accepted, F_GETFD) & FD_CLOEXEC != 0)
    var peer = clinux_peer()
    #expect(unsafe clinux_peer_of(accepted, &peer) == 0)
    #expect(peer.pid == getpid() && peer.uid == getuid() && peer.gid == getgid())
    #expect(unsafe clinux_peer_of(STDIN_FILENO, &peer) < 0)
    #expect(clinux_accept(-1) == -EBADF)
  }

  // MARK: Log

  /// The output of a log on a pipe. If `isJournal`, its device and inode identify the journal.
  private func logged(isJournal: Bool, _ body: (SystemLog) -> Void) throws -> String {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { for descriptor in ends { close(descriptor) } }
    var status = stat()
    _ = unsafe fstat(ends[1], &status)
    let stream = isJournal ? "\(status.st_dev):\(status.st_ino)" : "1:1"
    body(SystemLog(ends[1], journalStream: stream))
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    var bytes = [UInt8](repeating: 0, count: 10_000)
    let count = unsafe read(ends[0], &bytes, bytes.count)
    return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
  }

  @Test("lines have a priority prefix in the journal and none elsewhere")
  func priorities() throws {
    let journal = try logged(isJournal: true) { log in
      for priority in SystemLog.Priority.allCases { log.write(priority, "text") }
      log.write(.error, "one\ntwo\n")
    }
    #expect(journal == "<2>text\n<3>text\n<4>text\n<5>text\n<6>text\n<3>one\n<3>    two\n")
    let plain = try logged(isJournal: false) { $0.write(.error, "text") }
    #expect(plain == "text\n")
  }

  @Test("a message below the threshold is not formatted")
  func threshold() throws {
    func never() -> String {
      Issue.record("was formatted")
      return ""
    }
    let text = try logged(isJournal: true) { log in
      var log = log
      log.threshold = .warning
      log.write(.notice, never())
      log.write(.warning, "text")
    }
    #expect(text == "<4>text\n")
  }
}
