import BoardHardware
import Glibc
import LocationTypes
import TestSupport

@testable import LinuxHAL

/// A board's `/sys` and `/run` in a folder of plain files, with a simulated kernel that counts
/// wake-ups, refuses writes like a real one, and suspends for as long as a test specifies.
final class FakeKernel {
  let folder = TestFolder()
  /// Accepted writes, in order.
  private(set) var written: [String] = []
  /// Number of wake-ups.
  private(set) var wakeups = 0
  /// Wake-up count that was written back for the next suspend; nil if none was.
  private var armed: Int?
  /// Called while the board is suspended.
  var whileSuspended: () -> Void = {}
  /// Called when a file is written, before the kernel handles the write; by file name.
  var before: [String: () -> Void] = [:]
  /// Error number with which the kernel refuses a write, by file name; 0 for none.
  var refuses: [String: Int32] = [:]

  /// Files that accept a write and do not change.
  var ignoresWrites: Set<String> = []

  init(states: String = "freeze mem disk\n", depth: String? = "s2idle [deep]\n") {
    make("/sys/power/state", states)
    if let depth { make("/sys/power/mem_sleep", depth) }
    make("/sys/power/wakeup_count", "0\n")
    make("/sys/class/rtc/rtc0/since_epoch", "1000\n")
    make("/sys/class/rtc/rtc0/wakealarm", "")
  }

  /// Creates a file and its parent folders.
  func make(_ path: String, _ text: String) {
    var parent = ""
    for name in path.split(separator: "/").dropLast() {
      parent += "/\(name)"
      _ = unsafe mkdir(folder.path + parent, 0o755)
    }
    folder.write(Array(text.utf8), to: String(path.dropFirst()))
  }

  func remove(_ path: String) { _ = unsafe unlink(folder.path + path) }

  func text(_ path: String) -> String {
    String(decoding: folder.read(String(path.dropFirst())), as: UTF8.self)
  }

  /// Counts a wake-up event.
  func wake() {
    wakeups += 1
    make("/sys/power/wakeup_count", "\(wakeups)\n")
  }

  /// Number of suspends.
  var suspends: Int { written.count { $0 == "state=mem" || $0 == "state=freeze" } }

  var files: KernelFiles {
    KernelFiles(root: folder.path) { [self] path, text in
      write(text, to: String(path.dropFirst(folder.path.utf8.count)))
    }
  }

  private func write(_ text: String, to path: String) -> Int32 {
    let name = String(path.split(separator: "/").last ?? "")
    before[name]?()
    if let code = refuses[name], code != 0 { return code }
    if ignoresWrites.contains(name) { return 0 }
    switch path {
    case "/sys/power/wakeup_count":
      guard text == "\(wakeups)" else { return EINVAL }
      armed = wakeups
    case "/sys/power/state":
      if let armed, armed != wakeups { return EBUSY }
      armed = nil
      written.append("state=\(text)")
      whileSuspended()
      return 0
    case "/sys/class/rtc/rtc0/wakealarm":
      // A second alarm is refused; a cleared alarm reads as an empty file.
      if text != "0", !self.text(path).isEmpty { return EBUSY }
      make(path, text == "0" ? "" : text + "\n")
    default: make(path, text + "\n")
    }
    written.append("\(name)=\(text)")
    return 0
  }
}

extension BoardSuspender {
  /// A suspender with short times for tests.
  static func quick(_ kernel: FakeKernel, _ sources: WakeSources = [.bytes, .motion])
    -> BoardSuspender
  {
    var timing = Timing()
    timing.minimumAlarmDistance = .milliseconds(20)
    timing.initialRetryDelay = .milliseconds(20)
    timing.otherWakeTime = .milliseconds(30)
    timing.startupTime = .zero
    return BoardSuspender(sources, kernel.files, timing, usesTimer: false)
  }
}
