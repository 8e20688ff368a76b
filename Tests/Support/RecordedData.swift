import Glibc
import Testing

/// Recordings outside the package: in `shared/data` next to the checkout, or in the folder that the
/// environment variable `TORPOR_DATA` names.
public enum RecordedData {
  /// The folder; nil if it does not exist.
  public static let folder: String? = {
    let path =
      unsafe getenv("TORPOR_DATA").map { unsafe String(cString: $0) }
      ?? "\(packageRoot)/../shared/data"
    return unsafe access(path, R_OK | X_OK) == 0 ? path : nil
  }()

  /// Whether the tests of recordings can run.
  public static var isPresent: Bool { folder != nil }
  /// Reason why these tests are skipped.
  public static let missing: Comment = "no folder of recordings; set TORPOR_DATA to it"
}
