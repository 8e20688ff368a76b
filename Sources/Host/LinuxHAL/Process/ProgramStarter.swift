import CLinux
import Glibc

/// Starts programs that run independently of this process.
public enum ProgramStarter {
  /// Starts a program in a new session, with working directory `/` and this process's standard error; other
  /// descriptors are not inherited. Starting it as another user requires root.
  ///
  /// - Parameters:
  ///   - arguments: The program's absolute path and its arguments.
  ///   - environment: Its complete environment, `NAME=value`; HOME, USER and PATH are added.
  ///   - user: User ID to run as.
  /// - Throws: ``SystemError`` if the program cannot be started. Its exit status is not reported.
  public static func start(
    _ arguments: [String], environment: [String], as user: UInt32
  ) throws(SystemError) {
    precondition(arguments.first?.hasPrefix("/") == true, "a program's path must be absolute")
    let result = unsafe withStrings(arguments) { argv in
      unsafe withStrings(environment) { unsafe clinux_start(argv, $0, user) }
    }
    _ = try SystemError.check(
      result, "starting '\(arguments[0])' as user \(user)")
  }

  /// Passes a null-terminated array of C strings.
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
