import Glibc
import Synchronization
import TestSupport

/// Runs the built command.
enum Command {
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  private static let folders = Mutex<[TestFolder]>([])
  private static let removal: Void = {
    _ = atexit { Command.folders.withLock { $0.removeAll() } }
  }()

  /// A new empty directory, removed when the process exits.
  static func directory() -> String {
    _ = removal
    let folder = TestFolder()
    folders.withLock { $0.append(folder) }
    return folder.path
  }

  /// Writes `bytes` to `path`.
  static func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(file) }
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
  }

  /// The content of the file at `path`; nil if it cannot be opened.
  static func read(_ path: String) -> String? {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe block.withUnsafeMutableBytes {
        unsafe Glibc.read(file, $0.baseAddress, $0.count)
      }
      if count <= 0 { break }
      bytes += block[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The path of the command.
  static let path = builtProgram("torpor")

  /// The permissions of `path`.
  static func permissions(of path: String) -> mode_t {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  /// Changes the permissions of `path`.
  static func setPermissions(of path: String, to mode: mode_t) {
    _ = unsafe chmod(path, mode)
  }

  /// Held while pipes are created for a process, so that no other child inherits them.
  static let starting = Mutex(())

  /// The environment of started programs: the tests' own without `TORPOR_` variables.
  private static let environment: [String] = {
    var variables: [String] = []
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let variable = unsafe String(cString: text)
      if !variable.hasPrefix("TORPOR_") { variables.append(variable) }
      unsafe entry += 1
    }
    return variables
  }()

  /// Starts `program` with default signal handling; 0 if that fails.
  static func spawn(
    _ program: String, _ arguments: [String], _ actions: inout posix_spawn_file_actions_t
  ) -> pid_t {
    // A shell makes its background jobs, and so tests that it starts, ignore SIGINT.
    var attributes = posix_spawnattr_t()
    var defaultSignals = sigset_t()
    unsafe sigemptyset(&defaultSignals)
    for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&defaultSignals, number) }
    unsafe posix_spawnattr_init(&attributes)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaultSignals)
    // Threads of the test runner block signals, and children inherit the mask.
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    let variables = unsafe environment.map { unsafe strdup($0) }
    var process: pid_t = 0
    let failure = unsafe posix_spawn(
      &process, program, &actions, &attributes, words + [nil], variables + [nil])
    unsafe (words + variables).forEach { unsafe free($0) }
    unsafe posix_spawnattr_destroy(&attributes)
    return failure == 0 ? process : 0
  }

  /// Runs the command, or another program, to its end.
  ///
  /// - Parameters:
  ///   - outputPath: File for standard output; nil for a temporary one.
  ///   - closesOutput: Whether standard output is a pipe whose read end is closed.
  static func run(
    _ arguments: [String], input: [UInt8] = [], outputPath: String? = nil,
    closesOutput: Bool = false, program: String = path
  ) -> Result {
    let folder = directory()
    let paths = ["in", "out", "err"].map { "\(folder)/\($0)" }
    write(input, to: paths[0])
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_addopen(&actions, 0, paths[0], O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(
      &actions, 1, outputPath ?? paths[1], O_WRONLY | O_CREAT, 0o644)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, paths[2], O_WRONLY | O_CREAT, 0o644)
    var pipeEnds: [Int32] = [-1, -1]
    defer { if closesOutput { close(pipeEnds[1]) } }
    let process = starting.withLock { _ in
      if closesOutput {
        unsafe pipe(&pipeEnds)
        close(pipeEnds[0])
        _ = fcntl(pipeEnds[1], F_SETFD, FD_CLOEXEC)
        unsafe posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], 1)
      }
      return unsafe spawn(program, arguments, &actions)
    }
    var status: Int32 = -1
    if process > 0 { unsafe waitpid(process, &status, 0) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    let result = Result(
      status: status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F),
      output: read(paths[1]) ?? "", errors: read(paths[2]) ?? "")
    for path in paths { unsafe unlink(path) }
    unsafe rmdir(folder)
    return result
  }
}
