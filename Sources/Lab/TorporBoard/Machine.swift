import Glibc

/// QEMU, and what goes in and out of it.
final class Machine {
  /// What a run is made of.
  struct Parts {
    /// Folder with `kernel/vmlinux` and `initramfs`.
    var built: String
    /// Folder of this run: sockets, disk, logs.
    var run: String
    /// Clients that can be connected at a time.
    static let clients = 2
  }

  let parts: Parts
  /// It may be suspended.
  let suspends: Bool
  let management: LinePort
  let agent: LinePort
  let lines: LinePort
  let clients: [LinePort]
  /// QEMU's.
  let process: pid_t
  private(set) var isRunning = true

  /// Starts it, with an empty disk. It waits for ``LinePort``s, so that nothing of them is lost.
  init(_ parts: Parts, serial: String, suspends: Bool) throws {
    self.parts = parts
    self.suspends = suspends
    try Machine.makeDisk(parts.run + "/disk")
    process = try spawn(
      Machine.arguments(parts, serial: serial, suspends: suspends), output: parts.run + "/qemu.log")
    func port(_ name: String) throws -> LinePort {
      try LinePort(path: "\(parts.run)/\(name)", within: 60)
    }
    management = try port("qmp")
    agent = try port("agent")
    lines = try port("lines")
    clients = try (0..<Parts.clients).map { try port("client\($0)") }
    management.write("{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n")
  }

  deinit { end() }

  /// Ends it at once.
  func end() {
    guard isRunning else { return }
    isRunning = false
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  /// As if its supply were cut and came back.
  func reset() { management.write("{\"execute\":\"system_reset\"}\n") }

  /// Switches it on again after it switched itself off.
  func switchOn() {
    reset()
    management.write("{\"execute\":\"cont\"}\n")
  }

  /// As if its power button were pressed while it sleeps.
  func wakeUp() { management.write("{\"execute\":\"system_wakeup\"}\n") }

  private static func makeDisk(_ path: String) throws {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, 16 << 20) == 0 else {
      throw Failure("'\(path)' cannot be made: errno \(errno)")
    }
    close(descriptor)
    let made = try spawn(["/sbin/mke2fs", "-q", "-F", "-t", "ext4", path], output: "/dev/null")
    var status: Int32 = 0
    guard unsafe waitpid(made, &status, 0) == made, status == 0 else {
      throw Failure("mke2fs made no file system of '\(path)'")
    }
  }

  private static func arguments(
    _ parts: Parts, serial: String, suspends: Bool
  ) -> [String] {
    // One that is unpacked starts 4 s sooner, and does not survive a suspend: on its end QEMU writes it
    // into the memory once more.
    let kernel = suspends ? "vmlinuz" : "vmlinux"
    var all = [
      // It ends with this program, whatever ends that.
      "/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/qemu-system-x86_64",
      // /dev/kvm may be there and not work; a machine of type pc suspends and powers off well.
      "-accel", "tcg", "-M", "pc", "-m", "256", "-nodefaults", "-display", "none", "-S",
      // Off, it is there still, with its real-time clock.
      "-no-shutdown",
      "-kernel", "\(parts.built)/kernel/\(kernel)", "-initrd", parts.built + "/initramfs",
      "-append",
      // Without `no_timer_check` the kernel counts timer interrupts for a tenth of a second, and panics where a
      // busy host delivers too few of them: "IO-APIC + timer doesn't work".
      // The rate of the emulated time stamp counter is measured while the kernel boots, which a busy host spoils by
      // some per cent; that of the HPET is known.
      "console=ttyS0,115200 quiet no_console_suspend no_timer_check clocksource=hpet mitigations=off "
        + "nokaslr random.trust_cpu=on",
      "-serial", "file:\(parts.run)/console.log",
      "-chardev", "serial,id=gnss,path=\(serial)", "-device", "isa-serial,chardev=gnss,wakeup=on",
      // What the guest has written to its disk is on it, whatever happens to QEMU.
      "-drive", "file=\(parts.run)/disk,format=raw,if=virtio,cache=writethrough",
      "-device", "virtio-serial,max_ports=8",
      "-chardev", "file,id=log,path=\(parts.run)/torpord.log",
      "-device", "virtserialport,chardev=log,name=log",
      "-qmp", "unix:\(parts.run)/qmp,server=on,wait=off",
    ]
    for name in ["agent", "lines"] + (0..<Parts.clients).map({ "client\($0)" }) {
      all += [
        "-chardev", "socket,id=\(name),path=\(parts.run)/\(name),server=on,wait=off",
        "-device", "virtserialport,chardev=\(name),name=\(name)",
      ]
    }
    return all
  }
}

/// Starts a program without input.
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
