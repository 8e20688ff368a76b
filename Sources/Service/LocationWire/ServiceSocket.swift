/// The Unix socket of the service.
public enum ServiceSocket {
  /// Path at which the service listens, and at which programs connect, by default.
  public static let standardPath = "/run/torpor/torpor.sock"
}
