import Glibc

/// A failed system call: what was tried, and the error number.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What was tried, in a few words.
  public var action: String
  /// The error number (`errno`).
  public var code: Int32

  /// Creates an error.
  public init(_ action: String, code: Int32) {
    self.action = action
    self.code = code
  }

  /// What was tried and why it failed.
  public var description: String { "\(action): \(SystemError.reason(code))" }

  /// The C library's text for an error number.
  public static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// Returns the result of a `CLinux` function, or throws if it is an error.
  static func check(_ result: Int32, _ action: @autoclosure () -> String) throws(SystemError)
    -> Int32
  {
    if result < 0 { throw SystemError(action(), code: -result) }
    return result
  }
}
