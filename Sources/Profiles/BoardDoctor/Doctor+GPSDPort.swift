// The TCP port of gpsd's protocol: which program listens on it. Programs written for gpsd reach the service only if
// that is `torpor-gpsd`, or the service manager for it.

extension Doctor {
  /// The port in the kernel's lists, hexadecimal.
  private static let port = "0B83"
  /// The state LISTEN in the kernel's lists.
  private static let listening = "0A"

  /// Reports who listens on port 2947. Makes no statement if no program does.
  mutating func examineGPSDPort() {
    let sockets = gpsdSockets()
    guard !sockets.isEmpty else { return }
    let holders = LineHolders.processes(opening: sockets, files)
    // The service manager holds the socket of a unit before its program runs.
    guard let holder = holders.first(where: { $0.processID != 1 }) ?? holders.first else {
      return skip(
        "gpsd port", "a program listens on port 2947 that this user cannot identify",
        hint: "run it as root")
    }
    switch (holder.name, hasGPSDSocket) {
    case ("torpor-gpsd", _), ("systemd", false):
      pass("gpsd port", "\(holder.text) listens on port 2947")
    case ("systemd", true):
      let gpsd = LineHolders.Process(processID: holder.processID, name: "gpsd")
      conflict("\(holder.text) listens on port 2947 for gpsd.socket", gpsd)
    default: conflict("\(holder.text) listens on port 2947", holder)
    }
  }

  private mutating func conflict(_ found: String, _ holder: LineHolders.Process) {
    skip(
      "gpsd port", "\(found), so programs written for gpsd do not reach torpord",
      hint:
        "run \(holder.stopCommand(device: "")), then sudo systemctl enable --now torpor-gpsd.socket"
    )
  }

  /// Whether the unit gpsd.socket is active, which also has a local socket; torpor-gpsd.socket has none.
  private var hasGPSDSocket: Bool {
    let lines = (files.text("/proc/net/unix") ?? "").split(separator: "\n")
    return lines.contains { $0.hasSuffix("/run/gpsd.sock") }
  }

  /// The listening sockets, as links in `/proc/PID/fd`: `socket:[INODE]`.
  private func gpsdSockets() -> Set<String> {
    var sockets: Set<String> = []
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
      let text = files.text(path) ?? ""
      for line in text.split(separator: "\n").dropFirst() {
        let fields = line.split(separator: " ")
        guard fields.count > 9, fields[1].hasSuffix(":\(Doctor.port)"),
          fields[3] == Doctor.listening
        else { continue }
        sockets.insert("socket:[\(fields[9])]")
      }
    }
    return sockets
  }
}
