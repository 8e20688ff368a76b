import Foundation

/// Floor of a building.
///
/// A location of Torpor has none, because no board has an indoor source (LOC-9); the type exists so that programs
/// which use it compile. Source: Apple's documentation of `CLFloor`.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let storedLevel: Int

  /// Floor relative to the ground floor, which is 0; negative below ground.
  open var level: Int { storedLevel }

  /// Creates the ground floor.
  public override init() {
    storedLevel = 0
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a floor from an archive.
  public required init?(coder: NSCoder) {
    storedLevel = coder.decodeInteger(forKey: "level")
    super.init()
  }

  /// Writes the floor to an archive.
  open func encode(with coder: NSCoder) { coder.encode(storedLevel, forKey: "level") }

  /// Returns the floor itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
