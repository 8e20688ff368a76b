import Glibc
import LinuxHAL
import LocationTypes

// Accepting connections (RES-1, RES-3): admits peers within their users' quotas, and closes other connections for them.

extension LocationServer {
  /// Accepts pending connections, at most ``ConnectionTable/acceptsPerWait``.
  mutating func acceptAll() {
    permissions.checkSubordinates(at: now)
    for _ in 0..<ConnectionTable.acceptsPerWait {
      let descriptor = connections.listener.accept()
      guard descriptor >= 0 else {
        switch -descriptor {
        case EMFILE:
          connections.noteShortage(at: now)
          if let index = connections.heaviest(for: nil, fallsBackToAny: true, permissions) {
            close(index)
            continue
          }
          pauseAccepting(for: EMFILE)
        case ENFILE, ENOBUFS, ENOMEM: pauseAccepting(for: -descriptor)
        default: break
        }
        return
      }
      guard let peer = connections.listener.peer(descriptor), allows(peer) else {
        Glibc.close(descriptor)
        continue
      }
      connections.admit(descriptor, peer, permissions, at: now)
    }
  }

  /// Whether a peer may connect. May close another connection for it.
  private mutating func allows(_ peer: Peer) -> Bool {
    switch connections.admission(of: peer, permissions, at: now) {
    case .granted: break
    case .displacing(let index): close(index)
    case .refused: return false
    }
    return true
  }

  private mutating func pauseAccepting(for code: Int32) {
    guard connections.pauseAccepting(at: now) else { return }
    logLine(
      of: nil, .warning,
      "no connection can be accepted (\(SystemError.reason(code))); raise the limit of open files with LimitNOFILE"
    )
  }
}
