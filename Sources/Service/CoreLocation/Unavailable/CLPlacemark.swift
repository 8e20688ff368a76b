import Foundation

/// Names for a location.
///
/// A ``CLGeocoder`` never returns one, because the service has no maps; the type exists so that programs which handle
/// placemarks, and their tests, compile. Source: Apple's documentation of `CLPlacemark`. Left out: `postalAddress`.
open class CLPlacemark: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let position: CLLocation?

  /// The location.
  open var location: CLLocation? { position }
  /// The area of the placemark.
  open var region: CLRegion? { nil }
  /// Time zone of the location.
  open var timeZone: TimeZone? { nil }
  /// Name of the place.
  open var name: String? { nil }
  /// Street.
  open var thoroughfare: String? { nil }
  /// Number of the house, or another detail of the street.
  open var subThoroughfare: String? { nil }
  /// City.
  open var locality: String? { nil }
  /// Part of the city.
  open var subLocality: String? { nil }
  /// State or province.
  open var administrativeArea: String? { nil }
  /// Part of the state or province.
  open var subAdministrativeArea: String? { nil }
  /// Postal code.
  open var postalCode: String? { nil }
  /// Code of the country, ISO 3166-1.
  open var isoCountryCode: String? { nil }
  /// Country.
  open var country: String? { nil }
  /// Inland water.
  open var inlandWater: String? { nil }
  /// Ocean.
  open var ocean: String? { nil }
  /// Points of interest at the location.
  open var areasOfInterest: [String]? { nil }
  /// Address as a dictionary.
  @available(*, deprecated, message: "Use the properties")
  open var addressDictionary: [AnyHashable: Any]? { nil }

  /// Creates a placemark with the location of another one.
  public init(placemark: CLPlacemark) {
    position = placemark.location
    super.init()
  }

  /// Creates a placemark without values; for subclasses.
  public override init() {
    position = nil
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a placemark's location from an archive.
  public required init?(coder: NSCoder) {
    position = coder.decodeObject(of: CLLocation.self, forKey: "location")
    super.init()
  }

  /// Writes the placemark's location to an archive.
  open func encode(with coder: NSCoder) { coder.encode(position, forKey: "location") }

  /// Returns the placemark itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
