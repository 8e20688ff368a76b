/// What a motion sensor's line last said, where the board has one.
public enum MotionLine: UInt8, Equatable, Sendable {
  /// The board has no such line: only fixes tell of motion.
  case absent = 0
  /// The sensor has seen no motion for its own time-out; it may be a moment behind.
  case still = 1
  /// The sensor sees motion, or has seen some a moment ago. It may be a false alarm.
  case moving = 2
}
