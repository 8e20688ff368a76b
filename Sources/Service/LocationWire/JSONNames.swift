import LocationPolicy
import LocationTypes

// Names in JSON of enumerations that other programs write too.

extension FixQuality {
  /// Name of the positioning method in JSON and tables.
  public var jsonName: String { wireWord.description }
}

extension ServiceLevel {
  /// Name of the service level in JSON and profiles.
  public var jsonName: String { wireWord.description }
}

extension BoardState {
  /// Name of the board's power state in JSON.
  public var jsonName: String { wireWord.description }
}

extension WakeReason {
  /// Name of the wake-up's reason in JSON.
  public var jsonName: String { wireWord.description }
}
