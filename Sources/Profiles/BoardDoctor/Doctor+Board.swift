import BoardProfiles
import Glibc
import LinuxHAL
import LocationTypes

// Checks of the board: model and kernel, running service, battery gauge, state folder.

extension Doctor {
  mutating func examineBoard() {
    let paths = ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"]
    facts.model = paths.lazy.compactMap { [files] in files.text($0) }.first { !$0.isEmpty }
    let kernel = files.text("/proc/sys/kernel/osrelease") ?? "of unknown version"
    let boot = files.text("/proc/sys/kernel/random/boot_id") ?? ""
    guard boot.utf8.count == 36 else {
      return fail(
        "board",
        "\(facts.model ?? "unnamed board"), Linux \(kernel), without a boot ID",
        suggestion: "mount /proc; the service needs /proc/sys/kernel/random/boot_id")
    }
    pass("board", "\(facts.model ?? "unnamed board"), Linux \(kernel)")
  }

  /// The running service.
  var service: LineHolders.Process? {
    LineHolders.allProcesses(files).first { $0.name == "torpord" }
  }

  mutating func examineService() {
    guard let service else {
      return skip("service", "torpord is not running, so everything can be checked")
    }
    skip(
      "service", "\(service.text) is running; the devices that it uses cannot be checked fully",
      hint: "run sudo systemctl stop torpord and check again, or query the service with "
        + "`torpor status`")
  }

  mutating func examineBattery() {
    let folder = "/sys/class/power_supply"
    let gauges = files.names(folder).filter { [files] in
      files.text("\(folder)/\($0)/type") == "Battery" && files.exists("\(folder)/\($0)/capacity")
    }
    facts.gauge = gauges.first
    if skipWithoutProfile("battery") { return }
    guard let name = options.profile?.battery?.gauge else {
      let hint =
        options.profile == nil || gauges.isEmpty
        ? nil : "[battery] with gauge = \"\(gauges[0])\" sheds services before the battery is empty"
      return gauges.isEmpty
        ? skip("battery", "there is no gauge, and the profile names none")
        : pass("battery", "the kernel has \(gauges.joined(separator: ", "))", hint: hint)
    }
    let gauge = BatteryGauge(
      name: name, lowCharge: UInt8(clamping: options.profile?.battery?.lowCharge ?? 0),
      folder: files.fullPath(folder))
    guard let charge = gauge.charge else {
      let found = gauges.isEmpty ? "none" : gauges.joined(separator: ", ")
      return fail(
        "battery", "the gauge '\(name)' reports no charge; gauges found: \(found)",
        suggestion: gauges.isEmpty
          ? "load the driver of the gauge, or remove `gauge` from [battery]"
          : "gauge = \"\(gauges[0])\" in [battery]")
    }
    pass("battery", "\(name) reports \(charge) %")
  }

  mutating func examineState() {
    let path = options.state
    // If the folder does not exist yet, check the file system of its nearest existing ancestor.
    var folder = path
    while !files.exists(folder), let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      folder = String(folder[..<slash])
    }
    if files.exists(folder), !files.isFolder(folder) {
      return fail(
        "state", "'\(folder)' is a file and not a folder",
        suggestion: "specify a folder with --state, or move the file away")
    }
    var disk = statvfs()
    guard unsafe statvfs(files.fullPath(folder), &disk) == 0 else {
      return fail(
        "state", "'\(path)': \(SystemError.reason(errno))",
        suggestion: "sudo install -d -m 700 \(path), or specify another folder with --state")
    }
    if disk.f_flag & UInt(ST_RDONLY) != 0 {
      return fail(
        "state", "'\(path)' is on a file system that is mounted read-only",
        suggestion: "mount the file system read-write, or specify another folder with --state")
    }
    let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    // A fix needs 64 bytes; 4 MiB suffice for the other files.
    let needed = UInt64(options.profile?.cache.capacity ?? 8_192) * 64 + 4 << 20
    guard free >= needed else {
      return fail(
        "state", "'\(path)' has \(free >> 20) MiB free and needs \(needed >> 20)",
        suggestion: "free disk space, or set a smaller capacity_fixes in [cache]")
    }
    if folder == path, !files.isWritable(path) {
      return skip("state", "'\(path)' exists; only the service and root may read it")
    }
    let note = folder == path ? "" : " does not exist yet; the service's unit creates it; the disk"
    pass("state", "'\(path)'\(note) has \(free >> 20) MiB free")
  }
}
