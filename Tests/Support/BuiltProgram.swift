import Glibc

/// The path of a program of this package, built together with the running tests.
///
/// - Parameter name: The name of an executable product or target, such as `torpor`.
public func builtProgram(_ name: String) -> String {
  if let bundle = unsafe realpath("/proc/self/exe", nil) {
    defer { unsafe free(bundle) }
    let sibling = "\(parent(of: unsafe String(cString: bundle)))/\(name)"
    if unsafe access(sibling, X_OK) == 0 { return sibling }
  }
  // Some runners load the test bundle into a program of the toolchain: use the package's folder.
  return "\(packageRoot)/.build/debug/\(name)"
}

/// The root folder of the package that contains these tests.
public let packageRoot = parent(of: parent(of: parent(of: #filePath)))

private func parent(of path: String) -> String {
  String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}
