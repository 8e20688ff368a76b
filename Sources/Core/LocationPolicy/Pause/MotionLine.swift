/// State of the motion sensor's GPIO line, if the board has one.
public enum MotionLine: UInt8, Equatable, Sendable {
  /// The board has no such line: motion is detected from fixes only.
  case absent = 0
  /// The sensor has detected no motion for its own time-out; the line may lag behind.
  case still = 1
  /// The sensor detects motion or did a moment ago. It may be a false alarm.
  case moving = 2
}
