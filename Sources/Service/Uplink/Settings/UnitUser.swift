import Glibc
import LocationClient

/// The user of the unit `torpor-uplink.service`, as which root checks the settings: root may read every file, the program
/// may not.
public enum UnitUser {
  /// Name of the user, which the package creates.
  public static let name = "torpor-uplink"

  /// Changes the user of this process, if it is root and the user exists. Returns why it failed; nil if it did not.
  public static func become() -> String? {
    guard geteuid() == 0, let entry = unsafe getpwnam(name) else { return nil }
    let (user, group) = unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
    guard unsafe initgroups(name, group) == 0, setgid(group) == 0, setuid(user) == 0 else {
      let reason = ClientError.reason(errno)
      return "cannot change to the user \(name): \(reason)"
    }
    return nil
  }
}
