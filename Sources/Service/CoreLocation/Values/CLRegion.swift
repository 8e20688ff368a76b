import Foundation

/// An area that can be monitored; use ``CLCircularRegion`` or ``CLBeaconRegion``.
///
/// Two regions are equal if they have the same kind and identifier: a region that is monitored replaces one with the
/// same identifier (REG-1). Source: Apple's documentation of `CLRegion`.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
  private let name: String

  /// Identifier of the region within the program.
  open var identifier: String { name }
  /// Whether the delegate's `didEnterRegion` is requested (REG-9).
  open var notifyOnEntry = true
  /// Whether the delegate's `didExitRegion` is requested (REG-9).
  open var notifyOnExit = true

  /// Creates a region without an area and identifier; for subclasses.
  public override init() {
    name = ""
    super.init()
  }

  init(identifier: String) {
    name = identifier
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a region from an archive; nil if it has no identifier.
  public required init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "identifier") else { return nil }
    self.name = String(describing: name)
    super.init()
    notifyOnEntry = coder.decodeBool(forKey: "notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "notifyOnExit")
  }

  /// Writes the region to an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: name), forKey: "identifier")
    coder.encode(notifyOnEntry, forKey: "notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "notifyOnExit")
  }

  /// Returns a region with the same identifier and properties.
  open func copy(with zone: NSZone? = nil) -> Any {
    let region = CLRegion(identifier: identifier)
    region.copyNotificationProperties(from: self)
    return region
  }

  /// Copies the properties that can change.
  func copyNotificationProperties(from other: CLRegion) {
    notifyOnEntry = other.notifyOnEntry
    notifyOnExit = other.notifyOnExit
  }

  /// Whether `object` is a region of the same kind with the same identifier.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLRegion else { return false }
    return self === other || type(of: self) == type(of: other) && identifier == other.identifier
  }

  /// Hash of the identifier.
  open override var hash: Int { identifier.hashValue }

  /// Kind and identifier.
  open override var description: String { "\(type(of: self)) (identifier:'\(identifier)')" }
}
