import Glibc
import Testing

/// Recordings that are no part of the package: `shared/data` beside the checkout, or the folder that the
/// environment variable `TORPOR_DATA` names.
public enum RecordedData {
  /// The folder; nil where it is absent.
  public static let folder: String? = {
    let path =
      unsafe getenv("TORPOR_DATA").map { unsafe String(cString: $0) }
      ?? "\(packageRoot)/../shared/data"
    return unsafe access(path, R_OK | X_OK) == 0 ? path : nil
  }()

  /// Whether the tests of recordings can run.
  public static var isPresent: Bool { folder != nil }
  /// Why they do not run.
  public static let missing: Comment = "no folder of recordings; set TORPOR_DATA to it"
}
