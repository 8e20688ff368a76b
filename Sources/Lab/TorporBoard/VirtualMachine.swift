import Glibc

/// A QEMU process and its sockets.
final class VirtualMachine {
  /// Folders of a run.
  struct Folders {
    /// Folder with `kernel/vmlinux` and `initramfs`.
    var built: String
    /// Folder of this run: sockets, disk, logs.
    var run: String
    /// Number of clients that can be connected at the same time.
    static let clients = 2
  }

  let folders: Folders
  /// Whether the machine can be suspended.
  let canSuspend: Bool
  let management: LinePort
  let agent: LinePort
  let lines: LinePort
  let clients: [LinePort]
  /// Process id of QEMU.
  let process: pid_t
  private(set) var isRunning = true

  /// Starts QEMU with an empty disk. The machine runs when all ``LinePort``s are connected, so that no output is lost.
  init(_ folders: Folders, serial: String, suspends: Bool) throws {
    self.folders = folders
    self.canSuspend = suspends
    try VirtualMachine.makeDisk(folders.run + "/disk")
    process = try spawn(
      VirtualMachine.arguments(folders, serial: serial, suspends: suspends),
      output: folders.run + "/qemu.log")
    func port(_ name: String) throws -> LinePort {
      try LinePort(path: "\(folders.run)/\(name)", within: 60)
    }
    management = try port("qmp")
    agent = try port("agent")
    lines = try port("lines")
    clients = try (0..<Folders.clients).map { try port("client\($0)") }
    management.write("{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n")
  }

  deinit { end() }

  /// Kills QEMU.
  func end() {
    guard isRunning else { return }
    isRunning = false
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  /// Resets the machine, as if its supply were interrupted.
  func reset() { management.write("{\"execute\":\"system_reset\"}\n") }

  /// Powers the machine on after it has powered itself off.
  func powerOn() {
    reset()
    management.write("{\"execute\":\"cont\"}\n")
  }

  /// Wakes the suspended machine, as its power button does.
  func wakeUp() { management.write("{\"execute\":\"system_wakeup\"}\n") }

  private static func makeDisk(_ path: String) throws {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, 16 << 20) == 0 else {
      throw Failure("'\(path)' cannot be created: errno \(errno)")
    }
    close(descriptor)
    let process = try spawn(["/sbin/mke2fs", "-q", "-F", "-t", "ext4", path], output: "/dev/null")
    var status: Int32 = 0
    guard unsafe waitpid(process, &status, 0) == process, status == 0 else {
      throw Failure("mke2fs cannot create a file system in '\(path)'")
    }
  }

  private static func arguments(
    _ folders: Folders, serial: String, suspends: Bool
  ) -> [String] {
    // The uncompressed kernel boots 4 s faster, but does not survive a suspend: QEMU writes it into memory
    // again on resume.
    let kernel = suspends ? "vmlinuz" : "vmlinux"
    var arguments = [
      // QEMU ends with this program, however this program ends.
      "/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/qemu-system-x86_64",
      // /dev/kvm may exist without working. Machine type pc supports suspend and power-off.
      "-accel", "tcg", "-M", "pc", "-m", "256", "-nodefaults", "-display", "none", "-S",
      // After a power-off QEMU continues, with its real-time clock.
      "-no-shutdown",
      "-kernel", "\(folders.built)/kernel/\(kernel)", "-initrd", folders.built + "/initramfs",
      "-append",
      // Without `no_timer_check` the kernel counts timer interrupts for a tenth of a second, and panics where a
      // busy host delivers too few of them: "IO-APIC + timer doesn't work".
      // The kernel measures the rate of the emulated time stamp counter at boot, which is wrong by some per cent on a
      // busy host; the rate of the HPET is known.
      "console=ttyS0,115200 quiet no_console_suspend no_timer_check clocksource=hpet mitigations=off "
        + "nokaslr random.trust_cpu=on",
      "-serial", "file:\(folders.run)/console.log",
      "-chardev", "serial,id=gnss,path=\(serial)", "-device", "isa-serial,chardev=gnss,wakeup=on",
      // Data that the guest has written to its disk is kept, whatever happens to QEMU.
      "-drive", "file=\(folders.run)/disk,format=raw,if=virtio,cache=writethrough",
      "-device", "virtio-serial,max_ports=8",
      "-chardev", "file,id=log,path=\(folders.run)/torpord.log",
      "-device", "virtserialport,chardev=log,name=log",
      "-qmp", "unix:\(folders.run)/qmp,server=on,wait=off",
    ]
    for name in ["agent", "lines"] + (0..<Folders.clients).map({ "client\($0)" }) {
      arguments += [
        "-chardev", "socket,id=\(name),path=\(folders.run)/\(name),server=on,wait=off",
        "-device", "virtserialport,chardev=\(name),name=\(name)",
      ]
    }
    return arguments
  }
}

/// Starts a program without standard input.
private func spawn(_ arguments: [String], output: String) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  unsafe posix_spawn_file_actions_addopen(
    &actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
  unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
  var words = unsafe arguments.map { unsafe strdup($0) }
  unsafe words.append(nil)
  defer { unsafe words.forEach { unsafe free($0) } }
  var process: pid_t = 0
  let code = unsafe posix_spawn(&process, arguments[0], &actions, nil, &words, environ)
  guard code == 0 else { throw Failure("'\(arguments[0])' does not start: errno \(code)") }
  return process
}
