import Foundation
import Glibc
import TestSupport
import Testing

/// A version 2 control group that a test can freeze.
final class TestGroup {
  private let path: String

  /// Whether this user can create one on this machine; tests that need one are skipped otherwise.
  static let isPossible = TestGroup() != nil
  /// The reason for skipping these tests.
  static let missing: Comment = "no control group of version 2 that this user may make and freeze"

  /// Creates a control group; nil if that is not possible.
  init?() {
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
      let path = "\(mount)/torpor-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
      guard unsafe access("\(mount)/cgroup.procs", F_OK) == 0, unsafe mkdir(path, 0o755) == 0
      else { continue }
      if unsafe access("\(path)/cgroup.freeze", W_OK) == 0 {
        self.path = path
        return
      }
      _ = unsafe rmdir(path)
    }
    return nil
  }

  deinit { _ = unsafe rmdir(path) }

  private func write(_ text: String, to file: String) -> Bool {
    let descriptor = unsafe open("\(path)/\(file)", O_WRONLY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
  }

  /// Freezes or thaws the group, and returns when the kernel has done so.
  func freeze(_ isOn: Bool) {
    _ = write(isOn ? "1" : "0", to: "cgroup.freeze")
    for _ in 0..<1_000 {
      let descriptor = unsafe open("\(path)/cgroup.events", O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      close(descriptor)
      let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
      if text.contains(isOn ? "frozen 1" : "frozen 0") { return }
      usleep(1_000)
    }
  }

  /// Starts a process in the group that connects to the service and waits; the service must run for
  /// it to proceed.
  func child(connectingTo socket: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$1\" talk \"$2\" tracker", path,
      builtProgram("ClientProbe"), socket,
    ]
    process.standardInput = Pipe()
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Moves the process to the parent group and removes this group.
  func release(_ process: Process) {
    // The kernel reports changes that are 10 ms apart.
    usleep(20_000)
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    let descriptor = unsafe open("/\(parent)/cgroup.procs", O_WRONLY)
    let text = Array("\(process.processIdentifier)".utf8)
    _ = unsafe Glibc.write(descriptor, text, text.count)
    close(descriptor)
    _ = unsafe rmdir(path)
  }

  /// Kills the process, frozen or not.
  func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
