import Testing

extension Tag {
  /// Starts processes: of this package's programs or of the system.
  @Tag public static var process: Self

  /// Waits in real time: for timers, threads or pseudo-terminals.
  @Tag public static var realTime: Self
}
