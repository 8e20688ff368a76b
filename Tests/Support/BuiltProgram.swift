import Glibc

/// The path of a program of this package, built with the tests that run.
///
/// - Parameter name: The name of an executable product or target, such as `torpor`.
public func builtProgram(_ name: String) -> String {
  if let bundle = unsafe realpath("/proc/self/exe", nil) {
    defer { unsafe free(bundle) }
    let beside = "\(parent(of: unsafe String(cString: bundle)))/\(name)"
    if unsafe access(beside, X_OK) == 0 { return beside }
  }
  // Some runners load the bundle into a program of the toolchain: look in the package instead.
  return "\(packageRoot)/.build/debug/\(name)"
}

/// The top folder of the package these tests were built from.
public let packageRoot = parent(of: parent(of: parent(of: #filePath)))

private func parent(of path: String) -> String {
  String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}
