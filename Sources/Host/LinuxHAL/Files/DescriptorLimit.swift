import Glibc

/// Limit of open files of this process (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
  /// Raises the soft limit to `requested` as far as the hard limit allows; returns the resulting limit.
  @discardableResult
  public static func raise(to requested: Int) -> Int {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
    if limit.rlim_cur < rlim_t(requested) {
      limit.rlim_cur = min(rlim_t(requested), limit.rlim_max)
      _ = unsafe setrlimit(resource, &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }
}
