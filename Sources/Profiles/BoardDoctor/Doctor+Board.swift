import BoardProfiles
import Glibc
import LinuxHAL
import LocationTypes

// The board itself: what it is, its battery, its disk, and whether the service runs already.

extension Doctor {
  mutating func examineBoard() {
    let places = ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"]
    facts.model = places.lazy.compactMap { [files] in files.text($0) }.first { !$0.isEmpty }
    let kernel = files.text("/proc/sys/kernel/osrelease") ?? "of unknown version"
    let boot = files.text("/proc/sys/kernel/random/boot_id") ?? ""
    guard boot.utf8.count == 36 else {
      return fail(
        "board",
        "\(facts.model ?? "a board"), Linux \(kernel), which does not tell one boot from the next",
        remedy: "mount /proc: the service needs /proc/sys/kernel/random/boot_id")
    }
    pass("board", "\(facts.model ?? "a board without a name"), Linux \(kernel)")
  }

  mutating func examineService() {
    guard let service = LineHolders.all(files).first(where: { $0.name == "torpord" }) else {
      return skip("service", "torpord does not run; so all can be looked at")
    }
    skip(
      "service", "\(service.text) runs: what it holds can only be seen from outside",
      hint: "sudo systemctl stop torpord, then look again; `torpor status` asks it itself")
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
        ? nil : "[battery] with gauge = \"\(gauges[0])\" lets promises go before it is empty"
      return gauges.isEmpty
        ? skip("battery", "no gauge is there, and the profile names none")
        : pass("battery", "the kernel has \(gauges.joined(separator: ", "))", hint: hint)
    }
    let gauge = BatteryGauge(
      name: name, lowCharge: UInt8(clamping: options.profile?.battery?.lowCharge ?? 0),
      folder: files.place(folder))
    guard let charge = gauge.charge else {
      let there = gauges.isEmpty ? "none" : gauges.joined(separator: ", ")
      return fail(
        "battery", "the gauge '\(name)' tells no charge; of gauges there is \(there)",
        remedy: gauges.isEmpty
          ? "load the driver of the gauge, or take `gauge` out of [battery]"
          : "gauge = \"\(gauges[0])\" in [battery]")
    }
    pass("battery", "\(name) says \(charge) %")
  }

  mutating func examineState() {
    let path = options.state
    // Where it is not there yet, the nearest folder above says what it would lie on.
    var place = path
    while !files.exists(place), let cut = place.lastIndex(of: "/"), cut > place.startIndex {
      place = String(place[..<cut])
    }
    if files.exists(place), !files.isFolder(place) {
      return fail(
        "state", "'\(place)' is a file, and no folder",
        remedy: "name a folder with --state, or move the file away")
    }
    var disk = statvfs()
    guard unsafe statvfs(files.place(place), &disk) == 0 else {
      return fail(
        "state", "'\(path)': \(SystemError.reason(errno))",
        remedy: "sudo install -d -m 700 \(path), or name another folder with --state")
    }
    if disk.f_flag & UInt(ST_RDONLY) != 0 {
      return fail(
        "state", "'\(path)' lies on a file system that is mounted read-only",
        remedy: "mount one that can be written there, or name another folder with --state")
    }
    let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    // A fix takes 64 bytes; what is beside the ring stays small.
    let needed = UInt64(options.profile?.cache.capacity ?? 8_192) * 64 + 4 << 20
    guard free >= needed else {
      return fail(
        "state", "'\(path)' has \(free >> 20) MiB left, and needs \(needed >> 20)",
        remedy: "make room, or a smaller capacity_fixes in [cache]")
    }
    if place == path, !files.isWritable(path) {
      return skip("state", "'\(path)' is there; only the service and root may look into it")
    }
    let soon = place == path ? "" : " is not there yet, which the service's unit sees to; the disk"
    pass("state", "'\(path)'\(soon) has \(free >> 20) MiB left")
  }
}
