import Glibc
import LocationTypes
import TestSupport

@testable import LinuxHAL

/// A board's `/sys` and `/run` in a folder of plain files, with a kernel behind it that counts wake-ups,
/// refuses as a real one does, and is suspended for as long as a test says.
final class FakeKernel {
  let folder = TestFolder()
  /// What was written, in order.
  private(set) var written: [String] = []
  /// Wake-ups so far.
  private(set) var wakeups = 0
  /// What of them the next suspend allows for.
  private var armed: Int?
  /// Happens while the board is suspended.
  var whileSuspended: () -> Void = {}
  /// Happens when a file is written, before the kernel looks at it.
  var before: [String: () -> Void] = [:]
  /// With what error number the kernel refuses a file; 0 for none.
  var refuses: [String: Int32] = [:]

  /// Files that take what is written and stay as they are.
  var swallows: Set<String> = []

  init(states: String = "freeze mem disk\n", depth: String? = "s2idle [deep]\n") {
    make("/sys/power/state", states)
    if let depth { make("/sys/power/mem_sleep", depth) }
    make("/sys/power/wakeup_count", "0\n")
    make("/sys/class/rtc/rtc0/since_epoch", "1000\n")
    make("/sys/class/rtc/rtc0/wakealarm", "")
  }

  /// Puts a file there, with the folders above it.
  func make(_ path: String, _ text: String) {
    var made = ""
    for name in path.split(separator: "/").dropLast() {
      made += "/\(name)"
      _ = unsafe mkdir(folder.path + made, 0o755)
    }
    folder.write(Array(text.utf8), to: String(path.dropFirst()))
  }

  func remove(_ path: String) { _ = unsafe unlink(folder.path + path) }

  func text(_ path: String) -> String {
    String(decoding: folder.read(String(path.dropFirst())), as: UTF8.self)
  }

  /// Something that wakes the board has happened.
  func wake() {
    wakeups += 1
    make("/sys/power/wakeup_count", "\(wakeups)\n")
  }

  /// How often the board was suspended.
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
    if swallows.contains(name) { return 0 }
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
      // A second alarm is refused, and a cleared one reads as nothing.
      if text != "0", !self.text(path).isEmpty { return EBUSY }
      make(path, text == "0" ? "" : text + "\n")
    default: make(path, text + "\n")
    }
    written.append("\(name)=\(text)")
    return 0
  }
}

extension BoardSuspender {
  /// One with the times of a test.
  static func quick(_ kernel: FakeKernel, _ sources: WakeSources = [.bytes, .motion])
    -> BoardSuspender
  {
    var pace = Timing()
    pace.minimumAlarmDistance = .milliseconds(20)
    pace.initialRetryDelay = .milliseconds(20)
    pace.otherWakeTime = .milliseconds(30)
    pace.startupTime = .zero
    return BoardSuspender(sources, kernel.files, pace, usesTimer: false)
  }
}
