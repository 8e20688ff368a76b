import CLinux
import Glibc

/// Starts programs that go on without the one that started them.
public enum ProgramStarter {
  /// Starts a program in a session of its own, in `/`, with standard error as it is here and nothing
  /// else; another user's takes root.
  ///
  /// - Parameters:
  ///   - arguments: The program's absolute path and its arguments.
  ///   - environment: All of its environment, `NAME=value`; HOME, USER and PATH are added.
  ///   - user: Whose program it is to be.
  /// - Throws: ``SystemError`` where it could not be started at all; how it ends is not told.
  public static func start(
    _ arguments: [String], environment: [String], as user: UInt32
  ) throws(SystemError) {
    precondition(arguments.first?.hasPrefix("/") == true, "a program's path is absolute")
    let result = unsafe withStrings(arguments) { argv in
      unsafe withStrings(environment) { unsafe clinux_start(argv, $0, user) }
    }
    _ = try SystemError.check(
      result, "starting '\(arguments[0])' as user \(user)")
  }

  /// C strings with a null pointer behind the last.
  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) }
    defer { for i in unsafe copies.indices { unsafe free(copies[i]) } }
    unsafe copies.append(nil)
    return unsafe copies.withUnsafeBufferPointer { pointers in
      unsafe pointers.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
        unsafe body($0.baseAddress.unsafelyUnwrapped)
      }
    }
  }
}
