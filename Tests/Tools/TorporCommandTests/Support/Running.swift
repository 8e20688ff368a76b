import Glibc

/// A running command: a test can wait for its output, write to its input and send signals.
final class Running {
  private let process: pid_t
  private let output: Int32
  private let errorPath: String
  private var unread: [UInt8] = []
  private var isOver = false
  /// Descriptor of the command's standard input; -1 after `closeInput()`.
  private(set) var input: Int32

  /// Starts the command.
  init(_ arguments: [String], program: String = Command.path) {
    errorPath = "\(Command.directory())/err"
    var ends: [Int32] = [-1, -1]
    var inputEnds: [Int32] = [-1, -1]
    let errorPath = errorPath
    process = Command.starting.withLock { _ in
      unsafe pipe(&ends)
      unsafe pipe(&inputEnds)
      for end in ends + inputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var actions = unsafe posix_spawn_file_actions_t()
      unsafe posix_spawn_file_actions_init(&actions)
      unsafe posix_spawn_file_actions_adddup2(&actions, inputEnds[0], 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
      unsafe posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT, 0o644)
      defer { unsafe posix_spawn_file_actions_destroy(&actions) }
      return unsafe Command.spawn(program, arguments, &actions)
    }
    close(ends[1])
    close(inputEnds[0])
    output = ends[0]
    input = inputEnds[1]
  }

  deinit {
    if !isOver, process > 0 {
      kill(process, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
    }
    closeInput()
    close(output)
  }

  /// Closes its standard input.
  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Writes to its standard input.
  func send(_ text: String) { Running.write(text, to: input) }

  /// Number of the process.
  var identifier: pid_t { process }

  /// Sends it a signal.
  func signal(_ number: Int32) { kill(process, number) }

  /// The next line of standard output; nil if none is printed within `seconds`.
  func line(within seconds: Double = 10) -> String? {
    let end = Running.now + seconds
    while true {
      if let cut = unread.firstIndex(of: 0x0A) {
        let line = String(decoding: unread[..<cut], as: UTF8.self)
        unread.removeFirst(cut + 1)
        return line
      }
      guard wait(until: end), readAvailable() else { return nil }
    }
  }

  /// Waits up to `seconds` until standard error contains `text`; whether it does.
  func reports(_ text: String, within seconds: Double = 10) -> Bool {
    let end = Running.now + seconds
    while Running.now < end {
      if errors.contains(text) { return true }
      usleep(2_000)
    }
    return false
  }

  /// Standard error so far.
  var errors: String { Command.read(errorPath) ?? "" }

  /// Waits for the end: exit code, or the negated signal number, and the unread output.
  func finish() -> (status: Int32, output: String) {
    let end = Running.now + 10
    while wait(until: end), readAvailable() {}
    var status: Int32 = -1
    while unsafe waitpid(process, &status, WNOHANG) == 0 {
      // A process that does not end must not block the tests.
      if Running.now > end { kill(process, SIGKILL) }
      usleep(1_000)
    }
    isOver = true
    let remainder = String(decoding: unread, as: UTF8.self)
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F), remainder)
  }

  /// Writes text to a descriptor.
  static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }

  private func wait(until end: Double) -> Bool {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let remainder = max(0, end - Running.now)
    return unsafe poll(&waiting, 1, Int32(remainder * 1_000)) > 0
  }

  private func readAvailable() -> Bool {
    var block = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe block.withUnsafeMutableBytes {
      unsafe read(output, $0.baseAddress, $0.count)
    }
    if count > 0 { unread += block[..<count] }
    return count > 0
  }

  static var now: Double {
    var moment = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
    return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
  }
}
